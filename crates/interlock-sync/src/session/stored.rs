//! Counters in a store, for sessions that several processes serve.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::store::{
    Change, Changed, Content, Expect, Fingerprint, InvalidKey, Key, Mutation, OpId, Outcome, Refusal, Store,
    StoreError, Version,
};

/// A number for each session, in a store, under a common beginning of their keys.
///
/// # How it stays bounded
///
/// A counter is there until it is forgotten: [`forget`](Self::forget) when a session ends, and [`forget_idle`](Self::forget_idle), called now
/// and then, for sessions that never say goodbye. A store has no capacity that could be counted in the same step, so limit how many
/// new sessions may come.
///
/// # Examples
///
/// ```
/// # use std::sync::Arc;
/// use interlock_sync::{
///     memory::MemoryStore,
///     session::{StoredAdded, StoredCounters},
///     store::OpId,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), interlock_sync::session::SessionError> {
/// let calls = StoredCounters::new(Arc::new(MemoryStore::default()), "calls:");
/// let op = OpId::fresh();
/// assert_eq!(calls.add("session-1", 5, op).await?, StoredAdded::Now(5));
/// assert_eq!(calls.add("session-1", 5, op).await?, StoredAdded::Now(5), "sent again, counted once");
/// # Ok(())
/// # }
/// ```
pub struct StoredCounters {
    store: Arc<dyn Store>,
    prefix: String,
    /// The greatest version at the last look for idle ones.
    seen: Mutex<Option<Version>>,
}

/// What became of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredAdded {
    /// The counter stood here after it.
    Now(i64),
    /// It would not fit a number of 64 bits, and nothing was added.
    Overflow,
}

/// Why a counter could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The session's name is no key of a store.
    #[error("name a counter: {0}")]
    Name(#[from] InvalidKey),
    /// There is something else under its key.
    #[error("count in {0}, which is no counter")]
    NotACounter(Key),
    /// It was made and removed by others again and again. Nothing was added.
    #[error("count in {0}, which comes and goes too fast")]
    Unsteady(Key),
    /// The id was used for something else, which was done. Nothing was added.
    #[error("count under the id {0}, which was used for something else; a new operation needs a new id")]
    Reused(OpId),
    /// The store could not be asked, or its answer was lost. Ask again with the same id.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How often a counter may come and go while we want to add to it.
const ROUNDS: usize = 16;

/// How many counters are looked at in one step.
const PAGE: usize = 256;

impl StoredCounters {
    /// The counters whose keys begin so. Nothing else may be stored under that beginning.
    pub fn new(store: Arc<dyn Store>, prefix: impl Into<String>) -> Self {
        Self { store, prefix: prefix.into(), seen: Mutex::default() }
    }

    /// Adds to a session's counter, which begins at nought.
    ///
    /// # Errors
    ///
    /// When the store could not be asked, or the name is no key. If it is in doubt whether it was added, ask again with the same id.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave it added or not. Asking again with the same id adds once, and says where the counter stood.
    pub async fn add(&self, session: &str, delta: i64, op: OpId) -> Result<StoredAdded, SessionError> {
        let key = self.key(session)?;
        let meaning = Fingerprint::of_parts([b"count", key.as_str().as_bytes(), &delta.to_le_bytes()]);
        let part = |change| Mutation::new(op, change).meaning(meaning);
        let add = part(Change::Add { key: key.clone(), delta, floor: None });
        let content = Content::Number(delta);
        let begin = part(Change::Put { key: key.clone(), expect: Expect::Absent, content });
        // Both carry the same id, and the store applies one id once: whichever came through, the other is answered with it.
        for _ in 0..ROUNDS {
            for mutation in [&add, &begin] {
                match self.store.mutate(mutation).await? {
                    Outcome::Applied(applied) => return stands_at(key, applied.changed),
                    Outcome::Refused(Refusal::Overflow { .. }) => return Ok(StoredAdded::Overflow),
                    Outcome::Refused(Refusal::Missing { .. } | Refusal::Conflict { .. }) => {}
                    Outcome::Refused(Refusal::Mismatch { op }) => return Err(SessionError::Reused(op)),
                    Outcome::Refused(_) => return Err(SessionError::NotACounter(key)),
                }
            }
        }
        Err(SessionError::Unsteady(key))
    }

    /// Where a session's counter stands, if it has one.
    ///
    /// # Errors
    ///
    /// When the store could not be asked, or the name is no key.
    pub async fn get(&self, session: &str) -> Result<Option<i64>, SessionError> {
        let key = self.key(session)?;
        match self.store.get(&key).await?.map(|record| record.content) {
            None => Ok(None),
            Some(Content::Number(number)) => Ok(Some(number)),
            Some(Content::Bytes(_)) => Err(SessionError::NotACounter(key)),
        }
    }

    /// Ends a session; `false` if it had no counter.
    ///
    /// # Errors
    ///
    /// When the store could not be asked, or the name is no key.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave it forgotten or not. Asking again is harmless.
    pub async fn forget(&self, session: &str) -> Result<bool, SessionError> {
        Ok(self.delete(self.key(session)?, Expect::Present).await?)
    }

    /// Forgets the sessions that nobody, in whatever process, has added to since this was last called here, and says how many they
    /// were. The first call forgets none.
    ///
    /// # Errors
    ///
    /// When the store could not be asked. What was forgotten until then is forgotten.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the rest for the next time.
    pub async fn forget_idle(&self) -> Result<usize, SessionError> {
        // Versions only rise in a store, so the greatest that was there parts what has changed since from what has not.
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut greatest, mut forgotten, mut after) = (seen, 0, None);
        loop {
            let page = self.store.list(&self.prefix, after.as_ref(), PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            for (key, record) in page {
                greatest = greatest.max(Some(record.version));
                // Conditional on the version: who adds meanwhile keeps the counter.
                if Some(record.version) <= seen && self.delete(key, Expect::Version(record.version)).await? {
                    forgotten += 1;
                }
            }
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = greatest;
        Ok(forgotten)
    }

    async fn delete(&self, key: Key, expect: Expect) -> Result<bool, StoreError> {
        let delete = Mutation::new(OpId::fresh(), Change::Delete { key, expect });
        Ok(matches!(self.store.mutate(&delete).await?, Outcome::Applied(_)))
    }

    fn key(&self, session: &str) -> Result<Key, InvalidKey> {
        Key::new(format!("{}{session}", self.prefix))
    }
}

fn stands_at(key: Key, changed: Vec<Changed>) -> Result<StoredAdded, SessionError> {
    let number = changed.into_iter().find_map(|changed| changed.number);
    number.map(StoredAdded::Now).ok_or(SessionError::NotACounter(key))
}

impl fmt::Debug for StoredCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredCounters").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
