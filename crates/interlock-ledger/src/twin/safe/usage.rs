//! Usage: a counter in the store, which the store itself adds to.

use async_trait::async_trait;
use interlock_sync::{
    session::{SessionError, StoredAdded, StoredCounters},
    store::OpId,
};

use crate::{
    answer,
    audit::{Call, Line},
    book::Book,
    refusal::Refusal,
    rows::{USAGE, key},
    twin::{Answer, Usage},
};

pub(super) struct Safe {
    book: Book,
    counters: StoredCounters,
}

impl Safe {
    pub(super) fn new(book: Book) -> Self {
        Self { counters: StoredCounters::new(book.store.clone(), format!("{USAGE}:")), book }
    }
}

#[async_trait]
impl Usage for Safe {
    async fn increment(&self, call: &Call, amount: i64) -> Answer<answer::Usage> {
        let (caller, op) = (call.caller.as_str(), OpId::fresh());
        let counted = key(USAGE, caller)?;
        let line = Line::intended(call, op, std::iter::once(&counted));
        self.book.audit.intend(&line).await?;
        match self.counters.add(caller, amount, op).await {
            Ok(StoredAdded::Now(used)) => {
                if let Ok(Some(applied)) = self.book.store.applied(&op).await {
                    self.book.audit.conclude(&line.applied(&applied)).await;
                }
                Ok(answer::Usage { caller: caller.to_owned(), used })
            }
            Ok(StoredAdded::Overflow) => {
                self.book.audit.conclude(&line.refused()).await;
                Err(Refusal::TooMany { kind: USAGE.to_owned(), id: caller.to_owned() })
            }
            Err(SessionError::Store(error)) if error.is_in_doubt() => Err(Refusal::in_doubt(op)),
            Err(error) => Err(failed(error)),
        }
    }

    async fn usage(&self, call: &Call) -> Answer<answer::Usage> {
        let used = self.counters.get(call.caller.as_str()).await.map_err(failed)?;
        Ok(answer::Usage { caller: call.caller.to_string(), used: used.unwrap_or(0) })
    }
}

fn failed(error: SessionError) -> Refusal {
    match error {
        SessionError::Store(error) => error.into(),
        error => Refusal::internal(error),
    }
}
