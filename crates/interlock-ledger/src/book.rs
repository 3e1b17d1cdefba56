//! How the safe twin changes records: every change has an id, is announced in the audit log, settled, and concluded there.

use std::sync::Arc;

use interlock_sync::{
    lease::Lease,
    record::{Records, Settled},
    retry::{Dice, Retry},
    store::{self, Applied, Change, Content, Expect, Key, Mutation, OpId, Record, Store},
};

use crate::{
    Log,
    audit::{Audit, Call, Line},
    refusal::Refusal,
};

/// The records, and the log of what is done to them.
#[derive(Clone)]
pub(crate) struct Book {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) records: Records,
    pub(crate) audit: Audit,
}

/// What an [update](Book::update) makes of a record.
pub(crate) enum Edit {
    Put(Content),
    Delete,
}

/// What a change came to.
pub(crate) enum Done {
    Applied(Applied),
    Refused(store::Refusal),
}

impl Book {
    pub(crate) fn new(store: Arc<dyn Store>, log: Log) -> Self {
        Self { records: Records::new(store.clone()), audit: Audit::new(store.clone(), log), store }
    }

    /// The record, if it is there.
    pub(crate) async fn get(&self, key: &Key) -> Result<Option<Record>, Refusal> {
        Ok(self.records.get(key).await?)
    }

    /// Makes a change and says whether the store would have it.
    pub(crate) async fn change(
        &self,
        call: &Call,
        change: Change,
        note: Option<&str>,
    ) -> Result<Done, Refusal> {
        self.settle(call, Mutation::new(OpId::fresh(), change), note).await
    }

    /// The same, only while a lease is held.
    pub(crate) async fn change_under(
        &self,
        call: &Call,
        lease: &Lease,
        change: Change,
    ) -> Result<Done, Refusal> {
        self.settle(call, lease.guard(Mutation::new(OpId::fresh(), change)), None).await
    }

    /// Makes a change whose refusals need no words but the store's own.
    pub(crate) async fn apply(
        &self,
        call: &Call,
        change: Change,
        note: Option<&str>,
    ) -> Result<Applied, Refusal> {
        match self.change(call, change, note).await? {
            Done::Applied(applied) => Ok(applied),
            Done::Refused(refusal) => Err(Refusal::by_store(refusal)),
        }
    }

    /// Changes a record from what it holds, over exactly what was read; reads again if somebody was faster. The function judges what is there
    /// each time, so its judgement and the write are one step.
    pub(crate) async fn update(
        &self,
        call: &Call,
        key: &Key,
        edit: impl Fn(Option<&Record>) -> Result<Edit, Refusal>,
    ) -> Result<Applied, Refusal> {
        let mut delays = Retry::times(16).delays(Dice::fresh());
        let mut record = self.get(key).await?;
        loop {
            let wanted = edit(record.as_ref())?;
            let expect = record.as_ref().map_or(Expect::Absent, |record| Expect::Version(record.version));
            let change = match wanted {
                Edit::Put(content) => Change::Put { key: key.clone(), expect, content },
                Edit::Delete => Change::Delete { key: key.clone(), expect },
            };
            match self.change(call, change, None).await? {
                Done::Applied(applied) => return Ok(applied),
                Done::Refused(store::Refusal::Conflict { current, .. }) => record = current,
                Done::Refused(refusal) => return Err(Refusal::by_store(refusal)),
            }
            let Some(pause) = delays.next() else {
                return Err(Refusal::Unavailable { reason: format!("`{key}` changes too fast") });
            };
            tokio::time::sleep(pause).await;
        }
    }

    async fn settle(&self, call: &Call, mutation: Mutation, note: Option<&str>) -> Result<Done, Refusal> {
        let mut line = Line::intended(call, mutation.op, mutation.change.keys());
        line.note = note.map(str::to_owned);
        self.audit.intend(&line).await?;
        match self.records.settle(&mutation).await? {
            Settled::Applied(applied) => {
                self.audit.conclude(&line.applied(&applied)).await;
                Ok(Done::Applied(applied))
            }
            Settled::Refused(refusal) => {
                self.audit.conclude(&line.refused()).await;
                Ok(Done::Refused(refusal))
            }
            Settled::InDoubt { op } => Err(Refusal::in_doubt(op)),
        }
    }
}
