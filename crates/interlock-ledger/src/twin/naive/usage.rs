//! Usage: read, add, write.

use async_trait::async_trait;
use interlock_sync::store::Content;

use super::Plain;
use crate::{
    answer,
    audit::Call,
    refusal::Refusal,
    rows::{USAGE, key, number},
    twin::{Answer, Usage},
};

pub(super) struct Naive(pub(super) Plain);

#[async_trait]
impl Usage for Naive {
    async fn increment(&self, call: &Call, amount: i64) -> Answer<answer::Usage> {
        let caller = call.caller.as_str();
        let used = self.usage(call).await?.used;
        let too_many = || Refusal::TooMany { kind: USAGE.to_owned(), id: caller.to_owned() };
        let used = used.checked_add(amount).ok_or_else(too_many)?;
        self.0.gap.think().await;
        self.0.put(call, key(USAGE, caller)?, Content::Number(used)).await?;
        Ok(answer::Usage { caller: caller.to_owned(), used })
    }

    async fn usage(&self, call: &Call) -> Answer<answer::Usage> {
        let record = self.0.get(&key(USAGE, call.caller.as_str())?).await?;
        let used = record.as_ref().map(number).transpose()?.unwrap_or(0);
        Ok(answer::Usage { caller: call.caller.to_string(), used })
    }
}
