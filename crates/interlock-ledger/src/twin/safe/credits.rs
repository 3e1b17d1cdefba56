//! Credits: the store tests and changes in one step, and moves between two accounts in one step.

use async_trait::async_trait;
use interlock_sync::store::{Applied, Change};

use crate::{
    answer::{Account, Moved},
    arguments::{ChangeBalance, SpendCredits, TransferCredits},
    audit::Call,
    book::Book,
    refusal::Refusal,
    rows::{ACCOUNT, key, missing, number},
    twin::{Answer, Credits},
};

pub(super) struct Safe {
    pub(super) book: Book,
}

#[async_trait]
impl Credits for Safe {
    async fn transfer(&self, call: &Call, wish: &TransferCredits) -> Answer<Moved> {
        let (from, to, amount) = (wish.from_user_id.as_str(), wish.to_user_id.as_str(), wish.amount.get());
        if from == to {
            return Err(Refusal::SameAccount { id: from.to_owned() });
        }
        let change = Change::Transfer { from: key(ACCOUNT, from)?, to: key(ACCOUNT, to)?, amount, floor: 0 };
        let applied = self.book.apply(call, change, None).await?;
        let [payer, payee] = applied.changed.as_slice() else {
            return Err(Refusal::internal("a transfer changed other than two accounts"));
        };
        Ok(Moved {
            from_user_id: from.to_owned(),
            to_user_id: to.to_owned(),
            amount,
            from_balance: payer.number.unwrap_or_default(),
            to_balance: payee.number.unwrap_or_default(),
        })
    }

    async fn spend(&self, call: &Call, wish: &SpendCredits) -> Answer<Account> {
        self.add(call, wish.user_id.as_str(), -wish.amount.get(), Some(wish.reason.as_str())).await
    }

    async fn debit(&self, call: &Call, wish: &ChangeBalance) -> Answer<Account> {
        self.add(call, wish.user_id.as_str(), -wish.amount.get(), None).await
    }

    async fn credit(&self, call: &Call, wish: &ChangeBalance) -> Answer<Account> {
        self.add(call, wish.user_id.as_str(), wish.amount.get(), None).await
    }

    async fn account(&self, user: &str) -> Answer<Account> {
        let record = self.book.get(&key(ACCOUNT, user)?).await?.ok_or_else(|| missing(ACCOUNT, user))?;
        Ok(Account { user_id: user.to_owned(), balance: number(&record)?, version: record.version.0 })
    }
}

impl Safe {
    /// Adds, and refuses what would leave less than nothing: the test and the change are one step of the store.
    async fn add(&self, call: &Call, user: &str, delta: i64, reason: Option<&str>) -> Answer<Account> {
        let change = Change::Add { key: key(ACCOUNT, user)?, delta, floor: Some(0) };
        account(user, &self.book.apply(call, change, reason).await?)
    }
}

fn account(user: &str, applied: &Applied) -> Answer<Account> {
    let changed = applied.changed.first().ok_or_else(|| Refusal::internal("a change changed nothing"))?;
    Ok(Account {
        user_id: user.to_owned(),
        balance: changed.number.unwrap_or_default(),
        version: changed.to.map_or(0, |version| version.0),
    })
}
