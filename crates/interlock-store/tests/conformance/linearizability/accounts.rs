//! Two accounts and transfers between them, in both directions.

use interlock_sync::store::{Change, Content, Outcome, Refusal};
use stateright::semantics::SequentialSpec;

use super::{HISTORIES, STEPS, choice, judge, name};
use crate::{Shared, put, send};

#[derive(Debug, Clone)]
struct Accounts([i64; 2]);

#[derive(Debug, Clone)]
enum AccountsOp {
    Move { from: usize, amount: i64 },
    Look(usize),
}

#[derive(Debug, Clone, PartialEq)]
enum AccountsRet {
    Moved { from: i64, to: i64 },
    Short(i64),
    Is(i64),
}

impl SequentialSpec for Accounts {
    type Op = AccountsOp;
    type Ret = AccountsRet;

    fn invoke(&mut self, op: &AccountsOp) -> AccountsRet {
        match *op {
            AccountsOp::Look(account) => AccountsRet::Is(self.0[account]),
            AccountsOp::Move { from, amount } if self.0[from] < amount => AccountsRet::Short(self.0[from]),
            AccountsOp::Move { from, amount } => {
                self.0[from] -= amount;
                self.0[1 - from] += amount;
                AccountsRet::Moved { from: self.0[from], to: self.0[1 - from] }
            }
        }
    }
}

pub(crate) async fn transfers_are_linearizable(store: Shared) {
    for run in 0..HISTORIES {
        put(&store, name("left", run).as_str(), Content::Number(5)).await;
        put(&store, name("right", run).as_str(), Content::Number(5)).await;
    }
    judge(Accounts([5, 5]), |run, client, history| {
        let store = store.clone();
        async move {
            let accounts = [name("left", run), name("right", run)];
            for step in 0..STEPS {
                let from = choice(run, client, step, 2) as usize;
                let op = match choice(run, step, client, 4) {
                    0 => AccountsOp::Look(from),
                    amount => AccountsOp::Move { from, amount: amount as i64 * 2 },
                };
                let asked = op.clone();
                let answer = async {
                    let (from, amount) = match asked {
                        AccountsOp::Move { from, amount } => (from, amount),
                        AccountsOp::Look(account) => {
                            return match store.get(&accounts[account]).await.unwrap().unwrap().content {
                                Content::Number(number) => AccountsRet::Is(number),
                                other => panic!("{other:?}"),
                            };
                        }
                    };
                    let [from, to] = [from, 1 - from].map(|account| accounts[account].clone());
                    match send(&store, Change::Transfer { from, to, amount, floor: 0 }).await {
                        Outcome::Applied(applied) => {
                            let number = |index: usize| applied.changed[index].number.unwrap();
                            AccountsRet::Moved { from: number(0), to: number(1) }
                        }
                        Outcome::Refused(Refusal::Short { available, .. }) => AccountsRet::Short(available),
                        Outcome::Refused(refusal) => panic!("{refusal:?}"),
                    }
                };
                history.step(client, op, answer).await;
            }
        }
    })
    .await;
}
