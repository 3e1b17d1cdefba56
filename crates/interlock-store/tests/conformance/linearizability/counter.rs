//! A counter with a floor.

use interlock_sync::store::{Change, Content, Outcome, Refusal};
use stateright::semantics::SequentialSpec;

use super::{HISTORIES, STEPS, choice, judge, name};
use crate::{Shared, put, send};

#[derive(Debug, Clone)]
pub(super) struct Counter(pub(super) i64);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CounterRet {
    Is(i64),
    Short(i64),
}

impl SequentialSpec for Counter {
    type Op = i64;
    type Ret = CounterRet;

    fn invoke(&mut self, delta: &i64) -> CounterRet {
        if self.0 + delta < 0 && *delta < 0 {
            return CounterRet::Short(self.0);
        }
        self.0 += delta;
        CounterRet::Is(self.0)
    }
}

pub(crate) async fn counters_are_linearizable(store: Shared) {
    for run in 0..HISTORIES {
        put(&store, name("counter", run).as_str(), Content::Number(3)).await;
    }
    judge(Counter(3), |run, client, history| {
        let store = store.clone();
        async move {
            for step in 0..STEPS {
                let delta = choice(run, client, step, 7) as i64 - 4;
                let change = Change::Add { key: name("counter", run), delta, floor: Some(0) };
                let answer = async {
                    match send(&store, change).await {
                        Outcome::Applied(applied) => CounterRet::Is(applied.changed[0].number.unwrap()),
                        Outcome::Refused(Refusal::Short { available, .. }) => CounterRet::Short(available),
                        Outcome::Refused(refusal) => panic!("{refusal:?}"),
                    }
                };
                history.step(client, delta, answer).await;
            }
        }
    })
    .await;
}
