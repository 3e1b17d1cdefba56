//! Taking an audit: the oldest that nobody works on.

use interlock_sync::{
    lease::Lease,
    record::Settled,
    store::{Change, Content, Expect, Key, Mutation, OpId},
};

use super::{
    Asked, Form, JobError, Jobs, Progress,
    entry::{decode, encode},
    key, newest_first, place,
    read::{bytes, id_of, report_key},
};

/// So many entries of the queue are looked at for one that is free.
const LOOKED_AT: usize = 64;

/// So many old audits are forgotten at a time.
const SWEPT: usize = 100;

/// After so many workers that did not come back an audit has failed: it may be what ends them.
pub(super) const TRIES: u32 = 3;

/// An audit that this worker has, as long as its lease is renewed.
#[derive(Debug)]
pub struct Claim {
    /// Which.
    pub id: OpId,
    /// What was asked.
    pub asked: Asked,
    /// How many workers began, this one included.
    pub tries: u32,
    pub(super) lease: Lease,
}

/// What becomes of a write under a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrote {
    /// It stands.
    Stands,
    /// Something was there already.
    There,
    /// The lease is another's.
    Fenced,
}

impl Jobs {
    /// Takes the oldest audit that nobody works on, if there is one.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn claim(&self) -> Result<Option<Claim>, JobError> {
        let mut after: Option<Key> = None;
        loop {
            let page = self.store.list("queue:", after.as_ref(), LOOKED_AT).await?;
            let Some((last, _)) = page.last() else { return Ok(None) };
            after = Some(last.clone());
            let is_last_page = page.len() < LOOKED_AT;
            for (entry, record) in page {
                let Some(id) = id_of(&entry) else { continue };
                let Ok(lease) = self.leases.try_acquire(&key("lease", id)?).await? else { continue };
                // Whoever had the lease before may have ended it and gone, before or after the entry was listed.
                if self.done(id).await?.is_some() {
                    let asked = decode(&bytes(record), "queue").ok();
                    self.tidy(id, asked.as_ref()).await?;
                    continue;
                }
                let Some(asked) = self.bytes(&entry).await? else { continue };
                let asked: Asked = decode(&asked, "queue")?;
                let before = self.bytes(&key("try", id)?).await?;
                let before: u32 = before.map_or(Ok(0), |bytes| decode(&bytes, "try"))?;
                let claim = Claim { id, asked, tries: before.saturating_add(1), lease };
                if self.under(&claim, &key("try", id)?, encode(&claim.tries), Expect::Any).await?
                    == Wrote::Stands
                {
                    self.store
                        .renew_permit(
                            &place(&claim.asked.caller)?,
                            &id,
                            std::time::Duration::from_secs(60 * 60),
                        )
                        .await
                        .ok();
                    return Ok(Some(claim));
                }
            }
            if is_last_page {
                return Ok(None);
            }
        }
    }

    /// Says what is being done. Nobody depends on it, so that it failed is no matter.
    pub async fn progress(&self, claim: &Claim, progress: &Progress) {
        if let Ok(key) = key("progress", claim.id) {
            let _ = self.under(claim, &key, encode(progress), Expect::Any).await;
        }
    }

    /// The archive that came with an audit.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn upload(&self, claim: &Claim) -> Result<Option<Vec<u8>>, JobError> {
        self.bytes(&key("upload", claim.id)?).await
    }

    /// Writes while the lease is held, and only then.
    pub(super) async fn under(
        &self,
        claim: &Claim,
        key: &Key,
        content: Vec<u8>,
        expect: Expect,
    ) -> Result<Wrote, JobError> {
        let change = Change::Put { key: key.clone(), expect, content: Content::Bytes(content) };
        let mutation = claim.lease.guard(Mutation::new(OpId::fresh(), change));
        match self.records.settle(&mutation).await? {
            Settled::Applied(_) => Ok(Wrote::Stands),
            Settled::Refused(interlock_sync::store::Refusal::Fenced { .. }) => Ok(Wrote::Fenced),
            Settled::Refused(_) => Ok(Wrote::There),
            Settled::InDoubt { .. } => Err(JobError::InDoubt),
        }
    }

    /// Takes away what an audit that has ended needs no more.
    pub(super) async fn tidy(&self, id: OpId, asked: Option<&Asked>) -> Result<(), JobError> {
        for kind in ["upload", "progress", "try", "queue"] {
            self.remove(&key(kind, id)?).await?;
        }
        if let Some(asked) = asked {
            self.store.release_permit(&place(&asked.caller)?, &id).await?;
        }
        Ok(())
    }

    /// Forgets audits that are older than is kept, some of them at a time; how many those were.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    pub async fn forget(&self, now: u64) -> Result<usize, JobError> {
        let mut forgotten = 0;
        let oldest = now.saturating_sub(u64::try_from(self.keep.as_millis()).unwrap_or(u64::MAX));
        let mut ids: Vec<OpId> = Vec::new();
        let is_old = |id: &OpId| id.0 >> 80 < u128::from(oldest);
        for (key, _) in self.store.list("age:", None, SWEPT).await? {
            ids.extend(id_of(&key).filter(is_old));
        }
        // An archive whose audit was never queued: whoever asked died in between.
        for (upload, _) in self.store.list("upload:", None, SWEPT).await? {
            if let Some(id) = id_of(&upload).filter(is_old)
                && self.bytes(&key("queue", id)?).await?.is_none()
            {
                self.remove(&upload).await?;
            }
        }
        for id in ids {
            if let Some(done) = self.done(id).await? {
                self.remove(&super::end::history_key(&done.asked.target, id)?).await?;
                self.remove(&newest_first("done", id)?).await?;
                forgotten += 1;
            }
            for form in Form::ALL {
                self.remove(&report_key(id, form)?).await?;
            }
            self.remove(&key("age", id)?).await?;
        }
        Ok(forgotten)
    }
}
