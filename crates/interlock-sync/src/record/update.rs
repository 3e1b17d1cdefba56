//! Read, compute, write over what was read; and again, if someone was faster.

use super::{Records, Settled};
use crate::{
    retry::{Dice, Retry},
    store::{Applied, Change, Content, Expect, Key, OpId, Record, Refusal, StoreError},
};

/// What an update makes of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Writes this.
    Put(Content),
    /// Removes it.
    Delete,
    /// Leaves it as it is.
    Keep,
}

/// What became of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Updated<R> {
    /// It was written, over exactly what the function was given last.
    Applied(Applied),
    /// The function left it as it is.
    Kept,
    /// The function would not have it.
    Declined(R),
    /// Someone was faster, every time; this is what is there now.
    Conflict {
        /// What it holds.
        current: Option<Record>,
    },
    /// An answer was lost, and asking again did not settle it.
    InDoubt {
        /// Which operation.
        op: OpId,
    },
}

/// How one try came out.
enum Tried<R> {
    Ended(Updated<R>),
    Lost(Option<Record>),
}

impl Records {
    /// Updates a record from what it holds.
    ///
    /// The function is given the record as it is, and called again with what is there then when someone else has written meanwhile, as
    /// often as `retries` allows, with pauses that grow and are drawn at random: those who lose together do not come back together. So
    /// it must compute from what it is given each time, not from what it was given first, and must have no effect of its own.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then nothing has changed.
    ///
    /// # Cancel safety
    ///
    /// A dropped future leaves the record written once or not at all.
    pub async fn update<R>(
        &self,
        key: &Key,
        retries: &Retry,
        mut edit: impl FnMut(Option<&Record>) -> Result<Edit, R>,
    ) -> Result<Updated<R>, StoreError> {
        let mut delays = retries.delays(Dice::fresh());
        loop {
            let record = self.get(key).await?;
            let wanted = edit(record.as_ref());
            let current = match self.try_update(key, record, wanted).await? {
                Tried::Ended(updated) => return Ok(updated),
                Tried::Lost(current) => current,
            };
            let Some(pause) = delays.next() else { return Ok(Updated::Conflict { current }) };
            tokio::time::sleep(pause).await;
        }
    }

    async fn try_update<R>(
        &self,
        key: &Key,
        record: Option<Record>,
        wanted: Result<Edit, R>,
    ) -> Result<Tried<R>, StoreError> {
        let expect = record.as_ref().map_or(Expect::Absent, |record| Expect::Version(record.version));
        let change = match wanted {
            Err(reason) => return Ok(Tried::Ended(Updated::Declined(reason))),
            Ok(Edit::Keep) => return Ok(Tried::Ended(Updated::Kept)),
            // There is nothing to delete, and nothing was deleted.
            Ok(Edit::Delete) if record.is_none() => return Ok(Tried::Ended(Updated::Kept)),
            Ok(Edit::Delete) => Change::Delete { key: key.clone(), expect },
            Ok(Edit::Put(content)) => Change::Put { key: key.clone(), expect, content },
        };
        Ok(match self.change(change).await? {
            Settled::Applied(applied) => Tried::Ended(Updated::Applied(applied)),
            Settled::InDoubt { op } => Tried::Ended(Updated::InDoubt { op }),
            Settled::Refused(Refusal::Conflict { current, .. }) => Tried::Lost(current),
            Settled::Refused(_) => Tried::Lost(record),
        })
    }
}
