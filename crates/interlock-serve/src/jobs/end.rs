//! The end of an audit: once, whoever else believes to have it.

use interlock_sync::store::{Expect, Key, OpId};

use super::{
    Claim, Done, JobError, Jobs, Report,
    claim::{TRIES, Wrote},
    digest,
    entry::encode,
    key, newest_first,
    read::report_key,
};

/// What became of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It is the end.
    Once,
    /// Another had ended it before.
    Before,
    /// Another works on it: this worker was taken for dead.
    Lost,
}

impl Claim {
    /// Whether so many workers began and did not come back that this one should not try.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.tries > TRIES
    }

    /// Waits until another may take the audit over.
    pub async fn lost(&self) {
        self.lease.lost().await;
    }
}

impl Jobs {
    /// Ends an audit.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked; then the lease runs out, and another tries.
    pub async fn end(&self, claim: Claim, done: &Done, report: Report) -> Result<Ended, JobError> {
        for (form, bytes) in report {
            if self.under(&claim, &report_key(claim.id, form)?, bytes, Expect::Any).await? == Wrote::Fenced {
                return Ok(Ended::Lost);
            }
        }
        self.under(&claim, &key("age", claim.id)?, Vec::new(), Expect::Any).await?;
        let (history, end) = (history_key(&done.asked.target, claim.id)?, newest_first("done", claim.id)?);
        if self.under(&claim, &history, encode(done), Expect::Any).await? == Wrote::Fenced {
            return Ok(Ended::Lost);
        }
        let ended = match self.under(&claim, &end, encode(done), Expect::Absent).await? {
            Wrote::Fenced => return Ok(Ended::Lost),
            Wrote::There => Ended::Before,
            Wrote::Stands => Ended::Once,
        };
        self.tidy(claim.id, Some(&claim.asked)).await?;
        claim.lease.release().await?;
        Ok(ended)
    }
}

pub(super) fn history_key(target: &str, id: OpId) -> Result<Key, JobError> {
    Ok(newest_first(&format!("history:{}", digest(target)), id)?)
}
