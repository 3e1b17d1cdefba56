//! Several keys at once, in one order for everybody.

use std::{
    fmt,
    hash::Hash,
    ops::Deref,
    pin::Pin,
    task::{Context, Poll, ready},
    vec,
};

use super::{acquire::Acquire, entry::Mode, guard::Guard, keyed::KeyedLock};

/// The holds of several keys, given back together.
#[must_use = "the keys are given back at once unless the guards are kept"]
pub struct Guards<K, L: Deref<Target = KeyedLock<K>>>(Vec<Guard<K, L>>);

impl<K, L: Deref<Target = KeyedLock<K>>> Guards<K, L> {
    /// How many keys they are; one that was named twice counts once.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no key was wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The future of [`Guards`]: takes one key after the other, in their order.
///
/// # Cancel safety
///
/// Dropping it gives back the keys that it had, and its place in the queue of the next.
#[must_use = "a future does nothing unless it is awaited"]
pub struct AcquireAll<K, L: Deref<Target = KeyedLock<K>>> {
    /// Gone when the guards are handed out.
    lock: Option<L>,
    next: Option<Acquire<K, L>>,
    keys: vec::IntoIter<(K, Mode)>,
    guards: Vec<Guard<K, L>>,
}

impl<K: Ord, L: Deref<Target = KeyedLock<K>>> AcquireAll<K, L> {
    pub(super) fn new(lock: L, keys: impl IntoIterator<Item = (K, Mode)>) -> Self {
        let keys = in_order(keys);
        Self { lock: Some(lock), next: None, guards: Vec::with_capacity(keys.len()), keys: keys.into_iter() }
    }
}

/// Nothing in it refers to itself.
impl<K, L: Deref<Target = KeyedLock<K>>> Unpin for AcquireAll<K, L> {}

impl<K: Eq + Hash, L: Deref<Target = KeyedLock<K>> + Clone> Future for AcquireAll<K, L> {
    type Output = Guards<K, L>;

    /// # Panics
    ///
    /// When it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(lock) = &this.lock else { panic!("polled again after it was ready") };
        loop {
            if let Some(next) = &mut this.next {
                let guard = ready!(Pin::new(next).poll(context));
                this.guards.push(guard);
            }
            let Some((key, mode)) = this.keys.next() else { break };
            this.next = Some(Acquire::new(lock.clone(), key, mode));
        }
        (this.next, this.lock) = (None, None);
        Poll::Ready(Guards(std::mem::take(&mut this.guards)))
    }
}

impl<K, L: Deref<Target = KeyedLock<K>>> fmt::Debug for AcquireAll<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcquireAll")
            .field("have", &self.guards.len())
            .field("want", &self.keys.len())
            .finish_non_exhaustive()
    }
}

impl<K, L: Deref<Target = KeyedLock<K>>> fmt::Debug for Guards<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guards").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// The keys in their order, each once; of two modes the stricter.
fn in_order<K: Ord>(keys: impl IntoIterator<Item = (K, Mode)>) -> Vec<(K, Mode)> {
    let mut keys: Vec<(K, Mode)> = keys.into_iter().collect();
    keys.sort_unstable_by(|(one, how), (other, otherwise)| one.cmp(other).then(otherwise.cmp(how)));
    keys.dedup_by(|(later, _), (earlier, _)| later == earlier);
    keys
}
