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

/// Why an update has not surely taken effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotUpdated<R> {
    /// The function would not have it.
    #[error("{0}")]
    Declined(R),
    /// Someone was faster, every time; this is what is there now.
    #[error("others have changed it each time it was tried")]
    Conflict {
        /// What it holds.
        current: Option<Record>,
    },
    /// An answer was lost, and asking again did not settle it.
    #[error("nobody can say yet whether the operation {op} took effect; asking for it by its id tells later")]
    InDoubt {
        /// Which operation.
        op: OpId,
    },
}

impl<R> Updated<R> {
    /// As a result, for `?`: what was written, or `None` if the function left it as it is.
    ///
    /// # Errors
    ///
    /// When the function would not have it, when someone was faster every time, and when nobody can say.
    pub fn into_result(self) -> Result<Option<Applied>, NotUpdated<R>> {
        match self {
            Self::Applied(applied) => Ok(Some(applied)),
            Self::Kept => Ok(None),
            Self::Declined(reason) => Err(NotUpdated::Declined(reason)),
            Self::Conflict { current } => Err(NotUpdated::Conflict { current }),
            Self::InDoubt { op } => Err(NotUpdated::InDoubt { op }),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_that_did_not_happen_is_an_error_with_words() {
        fn passed_on(updated: Updated<String>) -> Result<Option<Applied>, Box<dyn std::error::Error>> {
            Ok(updated.into_result()?)
        }
        assert_eq!(passed_on(Updated::Kept).unwrap(), None);
        let words = |updated| passed_on(updated).unwrap_err().to_string();
        assert_eq!(words(Updated::Declined("too early".into())), "too early");
        assert!(words(Updated::Conflict { current: None }).contains("each time"));
        assert!(words(Updated::InDoubt { op: OpId(7) }).contains("nobody can say"));
    }
}
