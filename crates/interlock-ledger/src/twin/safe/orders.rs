//! Orders: charged once, whatever is lost on the way.
//!
//! Three things keep it so. A lease lets one call at a time work on an order, and its fence lets no late one write. The charge is an
//! effect with an idempotency record, marked as dispatched before the provider is asked. And the key that the provider sees derives from
//! the order, so that asking again, for whatever reason, is the same charge. An order whose charge may have gone through is in doubt and
//! never pending again.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use interlock_sync::{
    idempotency::{EffectContext, Failure, Idempotency, Ran},
    lease::{Lease, Leases},
    retry::{Again, Retry, retry},
    store::{self, Change, Ending, Expect, Fence, Fingerprint, Key, Version},
};

use crate::{
    answer::{Order, Status},
    arguments::ProcessOrder,
    audit::Call,
    book::{Book, Done},
    payments::{Charge, ChargeError, Charged, Payments},
    refusal::Refusal,
    rows::{Doubt, ORDER, OrderRow, content, key, missing, row},
    twin::{Answer, Orders},
};

pub(super) struct Safe {
    book: Book,
    payments: Payments,
    leases: Leases,
    once: Idempotency,
}

/// How long a call waits for another one that works on the same order.
const PATIENCE: Duration = Duration::from_secs(20);

/// How an attempt ends that never reached the provider. No reason of a provider begins like this.
const NOT_SENT: &[u8] = b"\0not sent";

impl Safe {
    pub(super) fn new(book: Book, payments: Payments) -> Self {
        Self {
            leases: Leases::new(book.store.clone(), Duration::from_secs(10)),
            once: Idempotency::new(book.store.clone())
                .purpose("charge")
                .keep(Duration::from_secs(30 * 24 * 60 * 60)),
            book,
            payments,
        }
    }

    async fn load(&self, id: &str) -> Answer<(OrderRow, Version)> {
        let record = self.book.get(&key(ORDER, id)?).await?.ok_or_else(|| missing(ORDER, id))?;
        Ok((row(&record)?, record.version))
    }
}

#[async_trait]
impl Orders for Safe {
    async fn process(&self, call: &Call, wish: &ProcessOrder) -> Answer<Order> {
        let id = wish.order_id.as_str();
        owned(id, wish, &self.load(id).await?.0)?;
        let lease = match self.leases.acquire(&key("order-lease", id)?, PATIENCE).await? {
            Ok(lease) => lease,
            Err(busy) => {
                return Err(Refusal::Busy { kind: ORDER, id: id.to_owned(), after: busy.retry_after });
            }
        };
        let answer = self.process_under(call, wish, &lease).await;
        // If this fails the lease runs out by itself.
        let _ = lease.release().await;
        answer
    }

    async fn order(&self, id: &str) -> Answer<Order> {
        Ok(order(id, self.load(id).await?.0))
    }
}

/// What became of the charge.
enum Paid {
    Yes { charge: String },
    Declined { reason: String },
    NotSent,
    InDoubt { fence: Fence },
    OtherPayment,
    Busy(Duration),
}

impl Safe {
    async fn process_under(&self, call: &Call, wish: &ProcessOrder, lease: &Lease) -> Answer<Order> {
        let id = wish.order_id.as_str();
        let (mut row, version) = self.load(id).await?;
        owned(id, wish, &row)?;
        if row.status == Status::Completed {
            return Ok(order(id, row));
        }
        // An order in doubt stays so until it is known how it ended; the others are being processed from here on.
        let (before, mut version) = (row.status, version);
        if before != Status::InDoubt {
            row.status = Status::Processing;
            version = self.put(call, lease, id, &row, version).await?;
        }
        let paid = self.pay(wish, &row).await?;
        (row.status, row.charge) = match &paid {
            Paid::Yes { charge } => (Status::Completed, Some(charge.clone())),
            Paid::Declined { .. } => (Status::Declined, None),
            Paid::InDoubt { .. } => (Status::InDoubt, None),
            // This call has done nothing.
            Paid::NotSent | Paid::OtherPayment => (before, row.charge),
            // Another one has, or is about to.
            Paid::Busy(_) => (row.status, row.charge),
        };
        row.doubt = match &paid {
            Paid::InDoubt { fence } => {
                Some(Doubt { fence: fence.0, payment_method: wish.payment_method_id.to_string() })
            }
            Paid::OtherPayment | Paid::Busy(_) => row.doubt,
            Paid::Yes { .. } | Paid::Declined { .. } | Paid::NotSent => None,
        };
        let kept = self.put(call, lease, id, &row, version).await;
        let id = id.to_owned();
        if kept.is_err() && matches!(paid, Paid::Yes { .. } | Paid::InDoubt { .. }) {
            // What became of the charge is kept with its key, and the next call finds it there.
            return Err(Refusal::ChargeInDoubt { id });
        }
        kept?;
        match paid {
            Paid::Yes { .. } => Ok(order(&id, row)),
            Paid::Declined { reason } => Err(Refusal::Declined { id, reason }),
            Paid::NotSent => Err(Refusal::NoProvider { id }),
            Paid::InDoubt { .. } => Err(Refusal::ChargeInDoubt { id }),
            Paid::OtherPayment => Err(Refusal::OtherPayment { id }),
            Paid::Busy(after) => Err(Refusal::Busy { kind: ORDER, id, after }),
        }
    }

    /// Charges, unless that has been done. What was left in doubt is settled by asking again under the key that the provider knows.
    async fn pay(&self, wish: &ProcessOrder, row: &OrderRow) -> Answer<Paid> {
        let id = wish.order_id.as_str();
        let charged = key("charge", id)?;
        // Whoever left it in doubt has said so, and nobody has to wait until its attempt counts as vanished.
        if let Some(doubt) = &row.doubt {
            if doubt.payment_method != wish.payment_method_id.as_str() {
                return Ok(Paid::OtherPayment);
            }
            return self.settle(id, &charged, row.amount, Fence(doubt.fence)).await;
        }
        let amount = row.amount.to_string();
        let request = Fingerprint::of_parts([id, &row.user, &amount, wish.payment_method_id.as_str()]);
        let is_ours = AtomicBool::new(false);
        let effect = async |context: EffectContext| {
            is_ours.store(true, Ordering::Relaxed);
            match self.charge(id, row.amount, context.provider_key()).await {
                Ok(charge) => Ok(charge.into_bytes()),
                Err(ChargeError::NotSent(_)) => Err(Failure::Retryable(NOT_SENT.into())),
                Err(ChargeError::Declined(reason)) => Err(Failure::Final(reason.into_bytes())),
                Err(ChargeError::Unknown(_)) => Err(Failure::Unknown),
            }
        };
        Ok(match self.once.run(&charged, request, effect).await? {
            Ran::Done { ending, .. } | Ran::Replayed(ending) => paid(ending),
            Ran::Mismatch => Paid::OtherPayment,
            Ran::Running { retry_after } => Paid::Busy(retry_after.unwrap_or(PATIENCE)),
            // The provider has just been asked; to ask it at once again is no use.
            Ran::InDoubt { fence } if is_ours.load(Ordering::Relaxed) => Paid::InDoubt { fence },
            Ran::InDoubt { fence } => self.settle(id, &charged, row.amount, fence).await?,
        })
    }

    async fn settle(&self, id: &str, charged: &Key, amount: i64, fence: Fence) -> Answer<Paid> {
        let ending = match self.charge(id, amount, &self.once.provider_key(charged)).await {
            Ok(charge) => Ending::Completed(charge.into_bytes()),
            Err(ChargeError::Declined(reason)) => Ending::Failed(reason.into_bytes()),
            // Not reached now says nothing about the time before.
            Err(ChargeError::NotSent(_) | ChargeError::Unknown(_)) => return Ok(Paid::InDoubt { fence }),
        };
        // If this is not kept, the next call asks the provider again, and is told the same charge.
        let _ = self.once.settle(charged, fence, &ending).await;
        Ok(paid(ending))
    }

    /// Asks the provider, and asks again while its answer is lost: under the same key that is one charge.
    async fn charge(&self, order: &str, amount: i64, key: &str) -> Result<String, ChargeError> {
        let charge = Charge { order_id: order.to_owned(), amount, idempotency_key: Some(key.to_owned()) };
        let (mut in_doubt, tries) = (false, Retry::times(3));
        let is_lost = |charged: &Result<Charged, ChargeError>| {
            in_doubt |= matches!(charged, Err(ChargeError::Unknown(_)));
            Again::from(matches!(charged, Err(ChargeError::Unknown(_) | ChargeError::NotSent(_))))
        };
        let charged = retry(&tries, || self.payments.charge(&charge), is_lost).await;
        match charged {
            Err(ChargeError::NotSent(reason)) if in_doubt => Err(ChargeError::Unknown(reason)),
            charged => charged.map(|charged| charged.charge_id),
        }
    }

    /// Writes the order over the version that was read, while the lease is held.
    async fn put(
        &self,
        call: &Call,
        lease: &Lease,
        id: &str,
        row: &OrderRow,
        over: Version,
    ) -> Answer<Version> {
        let change =
            Change::Put { key: key(ORDER, id)?, expect: Expect::Version(over), content: content(row)? };
        match self.book.change_under(call, lease, change).await? {
            Done::Applied(applied) => {
                let version = applied.changed.first().and_then(|changed| changed.to);
                version.ok_or_else(|| Refusal::internal("an order was written and has no version"))
            }
            // Somebody else works on it now and finds what became of the charge where it is kept.
            Done::Refused(store::Refusal::Fenced { .. } | store::Refusal::Conflict { .. }) => {
                Err(Refusal::Busy { kind: ORDER, id: id.to_owned(), after: Duration::from_secs(1) })
            }
            Done::Refused(refusal) => Err(Refusal::by_store(refusal)),
        }
    }
}

fn paid(ending: Ending) -> Paid {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match ending {
        Ending::Completed(charge) => Paid::Yes { charge: text(charge) },
        Ending::Failed(reason) if reason == NOT_SENT => Paid::NotSent,
        Ending::Failed(reason) => Paid::Declined { reason: text(reason) },
    }
}

fn owned(id: &str, wish: &ProcessOrder, row: &OrderRow) -> Answer<()> {
    if row.user == wish.user_id.as_str() {
        return Ok(());
    }
    Err(Refusal::NotYours { kind: ORDER, id: id.to_owned(), caller: wish.user_id.to_string() })
}

fn order(id: &str, row: OrderRow) -> Order {
    let OrderRow { user, amount, status, charge, .. } = row;
    Order { order_id: id.to_owned(), user_id: user, amount, status, charge_id: charge }
}
