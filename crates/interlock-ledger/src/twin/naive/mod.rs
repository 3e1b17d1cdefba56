//! The twin that breaks: each tool with the gap that such a tool usually has.
//!
//! | topic | gap |
//! |---|---|
//! | credits | reads the balance, compares, then changes it in another step; a transfer is two changes |
//! | orders | a lock without a fence, a charge without a key, and back to pending when the answer is lost |
//! | reports | looks whether it exists, then writes; reads, changes and writes in place |
//! | documents | compares the version, then writes by id |
//! | files | compares the owner, then deletes by id |
//! | usage | reads, adds, writes |
//! | limits | reads the count, compares, then counts |
//!
//! Nothing is wrong with any of them when one call runs at a time. In the gap a call thinks: for as long as it was told to, or just
//! long enough for another to have its turn, which any await on a network would be.

mod credits;
mod documents;
mod files;
mod limits;
mod orders;
mod reports;
mod usage;

use std::{sync::Arc, time::Duration};

use interlock_sync::{
    adapt::{Policy, Warden},
    store::{Applied, Change, Content, Expect, Key, Mutation, OpId, Outcome, Record, Store},
};

use super::{Answer, MakeError, Parts, Twin};
use crate::{
    audit::{Audit, Call, Line},
    refusal::Refusal,
};

/// Makes the naive twin.
///
/// # Errors
///
/// When the folder cannot be used.
pub fn make(parts: &Parts) -> Result<Twin, MakeError> {
    let plain = Plain {
        store: parts.store.clone(),
        audit: Audit::new(parts.store.clone(), parts.log.clone()),
        gap: Gap(parts.think),
    };
    let limits = limits::Naive::new(plain.clone(), parts.rate, parts.in_flight.get());
    Ok(Twin {
        credits: Arc::new(credits::Naive(plain.clone())),
        orders: Arc::new(orders::Naive { plain: plain.clone(), payments: parts.payments.clone() }),
        reports: Arc::new(reports::Naive::new(plain.clone(), &parts.files)?),
        documents: Arc::new(documents::Naive(plain.clone())),
        files: Arc::new(files::Naive(plain.clone())),
        usage: Arc::new(usage::Naive(plain)),
        // It lets everything through, as long as its gate is open.
        warden: Warden::new(Policy::builder().build()?),
        limits: Some(Arc::new(limits)),
    })
}

/// The time between a check and the act that relies on it.
#[derive(Clone, Copy)]
struct Gap(Duration);

impl Gap {
    async fn think(self) {
        if self.0.is_zero() {
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(self.0).await;
        }
    }
}

/// A store as one uses it who has never thought about it: read, write, write.
#[derive(Clone)]
struct Plain {
    store: Arc<dyn Store>,
    audit: Audit,
    gap: Gap,
}

impl Plain {
    async fn get(&self, key: &Key) -> Answer<Option<Record>> {
        Ok(self.store.get(key).await?)
    }

    /// Writes over whatever is there.
    async fn put(&self, call: &Call, key: Key, content: Content) -> Answer<Applied> {
        self.change(call, Change::Put { key, expect: Expect::Any, content }).await
    }

    async fn change(&self, call: &Call, change: Change) -> Answer<Applied> {
        let mutation = Mutation::new(OpId::fresh(), change);
        let sent = self.store.mutate(&mutation).await;
        let outcome = sent
            .map_err(|error| if error.is_in_doubt() { Refusal::in_doubt(mutation.op) } else { error.into() });
        match outcome? {
            Outcome::Applied(applied) => {
                let line = Line::intended(call, mutation.op, mutation.change.keys());
                self.audit.conclude(&line.applied(&applied)).await;
                Ok(applied)
            }
            Outcome::Refused(refusal) => Err(Refusal::by_store(refusal)),
        }
    }
}
