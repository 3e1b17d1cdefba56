//! Limits: the count is read, compared, and then raised.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use interlock_sync::store::{Change, Content, Expect, Mutation, OpId};
use serde::{Deserialize, Serialize};

use super::Plain;
use crate::{
    refusal::Refusal,
    rows::{content, key, row},
    twin::{Admitted, Answer, Limits},
};

pub(super) struct Naive {
    plain: Plain,
    rate: u32,
    in_flight: u32,
    /// Never forgotten, as such maps are.
    under_way: Mutex<HashMap<String, Arc<AtomicU32>>>,
}

/// A fixed window: which minute, and how many calls in it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Window {
    minute: u64,
    count: u32,
}

/// One call under way.
struct UnderWay(Arc<AtomicU32>);

impl Naive {
    pub(super) fn new(plain: Plain, rate: u32, in_flight: u32) -> Self {
        Self { plain, rate, in_flight, under_way: Mutex::default() }
    }

    async fn count(&self, caller: &str) -> Answer<()> {
        let key = key("naive-rate", caller)?;
        let now = self.plain.store.now().await?.0;
        let (minute, into) = (now / 60_000_000, now % 60_000_000);
        let seen = self.plain.get(&key).await?;
        let seen: Option<Window> = seen.as_ref().map(row).transpose()?;
        let count = seen.filter(|window| window.minute == minute).map_or(0, |window| window.count);
        if count >= self.rate {
            let after = std::time::Duration::from_micros(60_000_000 - into);
            return Err(Refusal::TooOften { caller: caller.to_owned(), after });
        }
        self.plain.gap.think().await;
        let content: Content = content(&Window { minute, count: count.saturating_add(1) })?;
        // A count is no mutation that anybody would look for in the audit log.
        let put = Mutation::new(OpId::fresh(), Change::Put { key, expect: Expect::Any, content });
        self.plain.store.mutate(&put).await?;
        Ok(())
    }
}

#[async_trait]
impl Limits for Naive {
    async fn admit(&self, caller: &str) -> Answer<Admitted> {
        self.count(caller).await?;
        let under_way = {
            let mut map = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            map.entry(caller.to_owned()).or_default().clone()
        };
        let in_use = under_way.load(Ordering::SeqCst);
        if in_use >= self.in_flight {
            return Err(Refusal::TooManyAtOnce { caller: caller.to_owned(), in_use, limit: self.in_flight });
        }
        self.plain.gap.think().await;
        under_way.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(UnderWay(under_way)))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
