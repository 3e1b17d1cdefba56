//! Credits: the balance is compared in one step and changed in another.

use async_trait::async_trait;
use interlock_sync::store::{Applied, Change, Content};

use super::Plain;
use crate::{
    answer::{Account, Moved},
    arguments::{ChangeBalance, SpendCredits, TransferCredits},
    audit::Call,
    refusal::Refusal,
    rows::{ACCOUNT, key, missing, number},
    twin::{Answer, Credits},
};

pub(super) struct Naive(pub(super) Plain);

#[async_trait]
impl Credits for Naive {
    async fn transfer(&self, call: &Call, wish: &TransferCredits) -> Answer<Moved> {
        let (from, to, amount) = (wish.from_user_id.as_str(), wish.to_user_id.as_str(), wish.amount.get());
        if from == to {
            return Err(Refusal::SameAccount { id: from.to_owned() });
        }
        let available = self.account(from).await?.balance;
        let balance = self.account(to).await?.balance;
        if available < amount {
            return Err(Refusal::TooFew { id: from.to_owned(), available });
        }
        fits(to, balance, amount)?;
        self.0.gap.think().await;
        let payer = self
            .0
            .change(call, Change::Add { key: key(ACCOUNT, from)?, delta: -amount, floor: None })
            .await?;
        // A crash here, or a client that goes, loses the money.
        self.0.gap.think().await;
        let payee =
            self.0.change(call, Change::Add { key: key(ACCOUNT, to)?, delta: amount, floor: None }).await?;
        Ok(Moved {
            from_user_id: from.to_owned(),
            to_user_id: to.to_owned(),
            amount,
            from_balance: balance_of(&payer),
            to_balance: balance_of(&payee),
        })
    }

    async fn spend(&self, call: &Call, wish: &SpendCredits) -> Answer<Account> {
        self.take(call, wish.user_id.as_str(), wish.amount.get()).await
    }

    async fn debit(&self, call: &Call, wish: &ChangeBalance) -> Answer<Account> {
        self.take(call, wish.user_id.as_str(), wish.amount.get()).await
    }

    async fn credit(&self, call: &Call, wish: &ChangeBalance) -> Answer<Account> {
        let (user, amount) = (wish.user_id.as_str(), wish.amount.get());
        let balance = fits(user, self.account(user).await?.balance, amount)?;
        self.0.gap.think().await;
        self.set(call, user, balance).await
    }

    async fn account(&self, user: &str) -> Answer<Account> {
        let record = self.0.get(&key(ACCOUNT, user)?).await?.ok_or_else(|| missing(ACCOUNT, user))?;
        Ok(Account { user_id: user.to_owned(), balance: number(&record)?, version: record.version.0 })
    }
}

impl Naive {
    async fn take(&self, call: &Call, user: &str, amount: i64) -> Answer<Account> {
        let available = self.account(user).await?.balance;
        if available < amount {
            return Err(Refusal::TooFew { id: user.to_owned(), available });
        }
        self.0.gap.think().await;
        self.set(call, user, available - amount).await
    }

    /// Writes what was computed from a balance that may have changed since.
    async fn set(&self, call: &Call, user: &str, balance: i64) -> Answer<Account> {
        let applied = self.0.put(call, key(ACCOUNT, user)?, Content::Number(balance)).await?;
        let version = applied.changed.first().and_then(|changed| changed.to);
        Ok(Account { user_id: user.to_owned(), balance, version: version.map_or(0, |version| version.0) })
    }
}

fn fits(user: &str, balance: i64, amount: i64) -> Answer<i64> {
    let sum = balance.checked_add(amount);
    sum.ok_or_else(|| Refusal::TooMany { kind: ACCOUNT.to_owned(), id: user.to_owned() })
}

fn balance_of(applied: &Applied) -> i64 {
    applied.changed.first().and_then(|changed| changed.number).unwrap_or_default()
}
