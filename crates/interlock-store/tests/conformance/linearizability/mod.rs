//! Histories of concurrent clients, judged by a checker: is there one order of all operations, respecting who finished before whom
//! began, in which a simple sequential object gives the very same answers?
//!
//! The sequential objects below are written anew, in a few lines each, and share nothing with the stores.

mod accounts;
mod admission;
mod counter;
mod effect;
mod lock;
mod register;

use std::{
    fmt::Debug,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

pub(crate) use self::{
    accounts::transfers_are_linearizable, admission::admissions_are_linearizable,
    counter::counters_are_linearizable, effect::attempts_are_linearizable, lock::leases_are_linearizable,
    register::registers_are_linearizable,
};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use crate::key;

const CLIENTS: usize = 4;
const STEPS: usize = 5;
const HISTORIES: u64 = 25;
const LONG: Duration = Duration::from_secs(600);

/// Writes down who began and ended what, in the order in which it happened.
struct History<S: SequentialSpec>(Mutex<LinearizabilityTester<usize, S>>);

impl<S> History<S>
where
    S: SequentialSpec + Clone,
    S::Op: Clone + Debug,
    S::Ret: Clone + Debug,
{
    async fn step(&self, client: usize, op: S::Op, answer: impl Future<Output = S::Ret>) -> S::Ret {
        self.0.lock().unwrap().on_invoke(client, op).unwrap();
        let answer = answer.await;
        self.0.lock().unwrap().on_return(client, answer.clone()).unwrap();
        answer
    }
}

/// Runs clients at once on one object, many times over, and judges each history.
async fn judge<S, C, F>(start: S, client: C)
where
    S: SequentialSpec + Clone + Debug + Send + 'static,
    S::Op: Clone + Debug + Send,
    S::Ret: Clone + Debug + Send,
    C: Fn(u64, usize, Arc<History<S>>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    for run in 0..HISTORIES {
        let history = Arc::new(History(Mutex::new(LinearizabilityTester::new(start.clone()))));
        let clients: Vec<_> =
            (0..CLIENTS).map(|number| tokio::spawn(client(run, number, Arc::clone(&history)))).collect();
        for client in clients {
            client.await.unwrap();
        }
        let tester = history.0.lock().unwrap();
        assert_eq!(tester.len(), CLIENTS * STEPS, "every step was recorded");
        assert!(tester.is_consistent(), "no order explains these answers:\n{tester:#?}");
    }
}

/// What a client does next, different from run to run and the same from test run to test run.
fn choice(run: u64, client: usize, step: usize, of: u64) -> u64 {
    let mixed = (run * 1_009 + client as u64 * 101 + step as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 33) % of
}

fn name(kind: &str, run: u64) -> interlock_sync::store::Key {
    key(&format!("{kind}-{run}"))
}

/// The judge can say no: a counter that reads, then writes, is found out.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_counter_that_reads_and_then_writes_is_not_linearizable() {
    let racy = Arc::new(Mutex::new(3_i64));
    let judged = tokio::spawn(judge(counter::Counter(3), move |_, client, history| {
        let racy = Arc::clone(&racy);
        async move {
            for _ in 0..STEPS {
                let answer = async {
                    let read = *racy.lock().unwrap();
                    tokio::task::yield_now().await;
                    *racy.lock().unwrap() = read + 1;
                    counter::CounterRet::Is(read + 1)
                };
                history.step(client, 1, answer).await;
            }
        }
    }));
    assert!(judged.await.is_err());
}
