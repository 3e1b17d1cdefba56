//! The cell: a value, and a queue for those who would make it.

use std::convert::Infallible;

use crate::{lock::KeyedLock, prim::OnceLock};

/// A value that is made by the first who succeeds.
///
/// # Guarantees
///
/// - At most one makes it at a time; the others wait their turn, and find it made.
/// - The first success is kept for good. A failure is given to the caller who made the attempt, and the next in the queue tries.
/// - An attempt that is cancelled or panics counts as not made.
///
/// # Examples
///
/// ```
/// use interlock_sync::once::Once;
///
/// static CONNECTION: Once<String> = Once::new();
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let refused: Result<&String, &str> = CONNECTION.get_or_try_init(|| async { Err("not up yet") }).await;
/// assert_eq!(refused, Err("not up yet"));
/// assert_eq!(CONNECTION.get_or_init(|| async { "connected".to_owned() }).await, "connected");
/// assert_eq!(CONNECTION.get_or_init(|| async { unreachable!("it is made") }).await, "connected");
/// # }
/// ```
#[derive(Debug)]
pub struct Once<V> {
    value: OnceLock<V>,
    /// Made when it is first needed, so that a cell can be a `static`.
    turn: OnceLock<KeyedLock<()>>,
}

impl<V> Once<V> {
    /// Nothing is made yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { value: OnceLock::new(), turn: OnceLock::new() }
    }

    /// The value, if it is made.
    #[must_use]
    pub fn get(&self) -> Option<&V> {
        self.value.get()
    }

    /// The value, if it is made.
    #[must_use]
    pub fn into_inner(self) -> Option<V> {
        self.value.into_inner()
    }

    /// The value, made now if nobody has yet.
    ///
    /// # Errors
    ///
    /// When it was this caller's turn and its attempt failed. Nothing is kept of that.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the attempt, and the next who waits makes its own.
    pub async fn get_or_try_init<E, F, Fut>(&self, init: F) -> Result<&V, E>
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<V, E>>,
    {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let _turn = self.turn.get_or_init(|| KeyedLock::with_shards(1)).lock(()).await;
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let value = init().await?;
        Ok(self.value.get_or_init(|| value))
    }

    /// The value, made now if nobody has yet, by something that cannot fail.
    ///
    /// # Cancel safety
    ///
    /// As [`get_or_try_init`](Self::get_or_try_init).
    pub async fn get_or_init<F, Fut>(&self, init: F) -> &V
    where
        F: FnOnce() -> Fut,
        Fut: Future<Output = V>,
    {
        let init = || async { Ok::<V, Infallible>(init().await) };
        match self.get_or_try_init(init).await {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }
}

impl<V> Default for Once<V> {
    fn default() -> Self {
        Self::new()
    }
}
