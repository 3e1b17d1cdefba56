//! Orders: a lock of ten seconds that nobody renews and no write checks, a charge that the provider cannot recognise, and back to pending
//! when its answer is lost. This is published as the safe way.

use std::time::Duration;

use async_trait::async_trait;
use interlock_sync::store::{LeaseAnswer, LeaseRequest, OpId};

use super::Plain;
use crate::{
    answer::{Order, Status},
    arguments::ProcessOrder,
    audit::Call,
    payments::{Charge, Payments},
    refusal::Refusal,
    rows::{ORDER, OrderRow, content, key, missing, row},
    twin::{Answer, Orders},
};

pub(super) struct Naive {
    pub(super) plain: Plain,
    pub(super) payments: Payments,
}

#[async_trait]
impl Orders for Naive {
    async fn process(&self, call: &Call, wish: &ProcessOrder) -> Answer<Order> {
        let id = wish.order_id.as_str();
        let lock = key("order-lock", id)?;
        let request = LeaseRequest { key: lock.clone(), owner: OpId::fresh(), ttl: Duration::from_secs(10) };
        let fence = match self.plain.store.acquire_lease(&request).await? {
            LeaseAnswer::Granted { fence } => fence,
            LeaseAnswer::Held { retry_after, .. } => {
                return Err(Refusal::Busy { kind: ORDER, id: id.to_owned(), after: retry_after });
            }
        };
        let answer = self.process_locked(call, wish).await;
        let _ = self.plain.store.release_lease(&lock, fence).await;
        answer
    }

    async fn order(&self, id: &str) -> Answer<Order> {
        Ok(order(id, self.load(id).await?))
    }
}

impl Naive {
    async fn process_locked(&self, call: &Call, wish: &ProcessOrder) -> Answer<Order> {
        let id = wish.order_id.as_str();
        let mut row = self.load(id).await?;
        if row.user != wish.user_id.as_str() {
            return Err(Refusal::NotYours {
                kind: ORDER,
                id: id.to_owned(),
                caller: wish.user_id.to_string(),
            });
        }
        if row.status == Status::Completed {
            return Ok(order(id, row));
        }
        self.plain.gap.think().await;
        row.status = Status::Processing;
        self.plain.put(call, key(ORDER, id)?, content(&row)?).await?;
        let charge = Charge { order_id: id.to_owned(), amount: row.amount, idempotency_key: None };
        match self.payments.charge(&charge).await {
            Ok(charged) => {
                (row.status, row.charge) = (Status::Completed, Some(charged.charge_id));
                self.plain.put(call, key(ORDER, id)?, content(&row)?).await?;
                Ok(order(id, row))
            }
            Err(error) => {
                // The charge may have gone through; the next call will charge again.
                row.status = Status::Pending;
                self.plain.put(call, key(ORDER, id)?, content(&row)?).await?;
                Err(Refusal::PaymentFailed { id: id.to_owned(), reason: error.to_string() })
            }
        }
    }

    async fn load(&self, id: &str) -> Answer<OrderRow> {
        row(&self.plain.get(&key(ORDER, id)?).await?.ok_or_else(|| missing(ORDER, id))?)
    }
}

fn order(id: &str, row: OrderRow) -> Order {
    let OrderRow { user, amount, status, charge, .. } = row;
    Order { order_id: id.to_owned(), user_id: user, amount, status, charge_id: charge }
}
