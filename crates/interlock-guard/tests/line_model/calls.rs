//! Calls that go by the line as the desk's do, and a store that says yes or no.

use std::{
    collections::BTreeSet,
    pin::{Pin, pin},
    sync::{Arc, LazyLock},
    task::{Context, Poll},
};

use shuttle::{
    future::yield_now,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::line::{Lines, Room, Turn};

const ROOM: Room = Room { in_line: 100, in_all: 400 };

/// Who calls.
static CALLERS: LazyLock<[Arc<str>; 2]> = LazyLock::new(|| ["alice".into(), "bob".into()]);

/// What is done wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// It asks, comes to stand, and does not ask again: what was given back in between is not noticed.
    StandsAfterTheLastQuestion,
    /// Those in line are told before there is anything to have.
    TellsBeforeItGivesBack,
    /// Who gives up stays in line.
    ForgetsToLeave,
}

/// How a call fared.
pub(crate) enum Fate {
    Ran,
    GivenUp,
    Closed,
}

pub(crate) struct Desk {
    pub(crate) lines: Lines<usize>,
    held: Mutex<BTreeSet<usize>>,
    ran: Mutex<Vec<u64>>,
    next: AtomicU64,
    flaw: Flaw,
}

/// Keys that a call has; dropping it gives them back.
pub(crate) struct Held<'a> {
    desk: &'a Desk,
    keys: Vec<usize>,
}

impl Desk {
    pub(crate) fn new(flaw: Flaw) -> Self {
        let next = AtomicU64::new(0);
        Self { lines: Lines::default(), held: Mutex::default(), ran: Mutex::default(), next, flaw }
    }

    /// Takes keys that nobody has.
    pub(crate) fn hold(&self, keys: &[usize]) -> Held<'_> {
        self.ask(keys).unwrap_or_else(|_| panic!("nobody has them"))
    }

    pub(crate) fn ran(&self) -> Vec<u64> {
        self.ran.lock().unwrap().clone()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.lines.is_empty() && self.held.lock().unwrap().is_empty()
    }

    /// All keys at one moment, or those that are not free.
    fn ask(&self, keys: &[usize]) -> Result<Held<'_>, Vec<usize>> {
        let mut held = self.held.lock().unwrap();
        let busy: Vec<usize> = keys.iter().copied().filter(|key| held.contains(key)).collect();
        if !busy.is_empty() {
            return Err(busy);
        }
        held.extend(keys);
        Ok(Held { desk: self, keys: keys.to_vec() })
    }

    /// A call from its coming to its end. One without patience gives up after so many looks.
    pub(crate) async fn call(&self, caller: usize, keys: Vec<usize>, mut patience: Option<usize>) -> Fate {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let mut waits_for = self.lines.busy(&keys);
        if waits_for.is_empty() {
            match self.ask(&keys) {
                Ok(held) => return self.run(number, held).await,
                Err(busy) => waits_for = busy,
            }
        }
        let caller = CALLERS.get(caller).unwrap();
        let standing = self.lines.stand(number, caller, waits_for, ROOM).unwrap();
        if self.flaw == Flaw::StandsAfterTheLastQuestion {
            let _ = poll_once(&mut pin!(standing.turn())).await;
        }
        loop {
            match patient(standing.turn(), &mut patience).await {
                None if self.flaw == Flaw::ForgetsToLeave => {
                    std::mem::forget(standing);
                    return Fate::GivenUp;
                }
                None => return Fate::GivenUp,
                Some(Turn::Closed) => return Fate::Closed,
                Some(Turn::Passed) => {}
                Some(Turn::Ask) => match self.ask(&keys) {
                    Ok(held) => {
                        drop(standing);
                        return self.run(number, held).await;
                    }
                    Err(busy) => standing.move_to(&busy),
                },
            }
        }
    }

    async fn run(&self, number: u64, held: Held<'_>) -> Fate {
        self.ran.lock().unwrap().push(number);
        yield_now().await;
        drop(held);
        Fate::Ran
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.desk.flaw == Flaw::TellsBeforeItGivesBack {
            self.desk.lines.settled(&self.keys);
        }
        let mut held = self.desk.held.lock().unwrap();
        for key in &self.keys {
            assert!(held.remove(key), "somebody else gave it back");
        }
        drop(held);
        if self.desk.flaw != Flaw::TellsBeforeItGivesBack {
            self.desk.lines.settled(&self.keys);
        }
    }
}

/// Looks at a future once.
pub(crate) async fn poll_once<F: Future>(future: &mut Pin<&mut F>) -> Option<F::Output> {
    std::future::poll_fn(|context: &mut Context<'_>| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Waits for a future, or looks at it as often as there is patience for; `None` when that is at its end.
async fn patient<F: Future>(future: F, patience: &mut Option<usize>) -> Option<F::Output> {
    let mut future = pin!(future);
    let Some(left) = patience else { return Some(future.await) };
    while *left > 0 {
        *left -= 1;
        if let Some(output) = poll_once(&mut future).await {
            return Some(output);
        }
        yield_now().await;
    }
    None
}
