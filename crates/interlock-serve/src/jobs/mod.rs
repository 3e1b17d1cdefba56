//! Audits in a store: asked for, claimed, ended once.
//!
//! | key | what | written by |
//! |---|---|---|
//! | `queue:ID` | what was asked; there as long as somebody has to work on it | whoever asks, once |
//! | `lease:ID` | who works on it, with a fence | workers |
//! | `try:ID` | how often somebody began | workers, under the lease |
//! | `progress:ID` | what is being done | the worker, under the lease |
//! | `report:ID:FORM` | the report, compressed | the worker, under the lease |
//! | `history:TARGET:ID` | the score, newest first | the worker, under the lease |
//! | `done:ID` | what came of it | the worker, under the lease, only if it is not there: *the* end |
//! | `age:ID` | that it has ended, oldest first, for what is forgotten | the worker, under the lease |
//! | `upload:ID` | the archive that came with it | whoever asks |
//!
//! The order is what makes a crash harmless. Asking is one write. An end is one conditional write under the fence of the lease, after
//! everything that it speaks of and before the entry of the queue goes: a worker that dies in between leaves an entry whose end is there,
//! which the next one only tidies up. A worker that was taken for dead and is not is refused by the store. Keys of what is shown newest
//! first have the id turned around, because a store lists in order.

mod claim;
mod end;
mod entry;
mod read;

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use interlock_sync::{
    lease::Leases,
    record::Records,
    store::{InvalidKey, Key, OpId, PermitAnswer, PermitRequest, Store, StoreError},
};
use sha2::{Digest, Sha256};

pub(crate) use self::entry::compress;
pub use self::{
    claim::Claim,
    end::Ended,
    entry::{Asked, Done, Form, Progress, Report, State},
    read::{Point, parse_id},
};

/// Past audits are kept so long unless told otherwise.
const KEEP: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The audits of one store.
#[derive(Debug, Clone)]
pub struct Jobs {
    store: Arc<dyn Store>,
    records: Records,
    leases: Leases,
    /// How many audits of one caller may be asked for and not ended.
    in_flight: NonZeroU32,
    keep: Duration,
}

/// Why the store was of no use.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The store could not be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nobody can say yet whether it was written.
    #[error("the answer of the store was lost")]
    InDoubt,
    /// Something that no key can hold.
    #[error(transparent)]
    Key(#[from] InvalidKey),
    /// What is stored is not what this version wrote.
    #[error("`{0}` in the store is not understood")]
    Foreign(String),
}

/// What became of a wish for an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// It waits for a worker.
    Queued(OpId),
    /// The caller has too many under way.
    Full {
        /// How many that is.
        in_use: u32,
    },
}

impl Jobs {
    /// The audits of a store. A worker that has not said for `lease` that it is alive is taken for dead.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, lease: Duration, in_flight: NonZeroU32) -> Self {
        Self {
            records: Records::new(store.clone()),
            leases: Leases::new(store.clone(), lease),
            store,
            in_flight,
            keep: KEEP,
        }
    }

    /// The same, keeping past audits for so long.
    #[must_use]
    pub fn keeping(self, keep: Duration) -> Self {
        Self { keep, ..self }
    }

    /// The store, for those who keep other things in it.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Asks for an audit, unless the caller has too many under way.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn submit(&self, asked: &Asked, upload: Option<Vec<u8>>) -> Result<Submitted, JobError> {
        let id = OpId::fresh();
        let request = PermitRequest {
            key: place(&asked.caller)?,
            holder: id,
            limit: self.in_flight.get(),
            // Given back when the audit ends; this is for audits that no worker ever takes.
            ttl: Duration::from_secs(60 * 60),
        };
        if let PermitAnswer::Full { in_use, .. } = self.store.acquire_permit(&request).await? {
            return Ok(Submitted::Full { in_use });
        }
        if let Some(upload) = upload {
            self.put(&key("upload", id)?, upload).await?;
        }
        self.put(&key("queue", id)?, entry::encode(asked)).await?;
        Ok(Submitted::Queued(id))
    }
}

/// Whose audits are counted together.
fn place(caller: &str) -> Result<Key, InvalidKey> {
    Key::new(format!("caller:{}", digest(caller)))
}

fn key(kind: &str, id: OpId) -> Result<Key, InvalidKey> {
    Key::new(format!("{kind}:{id}"))
}

/// A key that comes the earlier the later its id was made.
fn newest_first(kind: &str, id: OpId) -> Result<Key, InvalidKey> {
    key(kind, OpId(!id.0))
}

/// The short name of a target in keys and addresses.
#[must_use]
pub fn digest(text: &str) -> String {
    let bytes = Sha256::digest(text.as_bytes());
    bytes.iter().take(12).fold(String::new(), |out, byte| format!("{out}{byte:02x}"))
}

#[cfg(test)]
mod tests;
