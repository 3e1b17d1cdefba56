//! Calls as a gateway has them admitted: one that changes a thing, one that reads it, and one that must not act on what it has not seen. Of
//! each it is noted when it was surely held, seen or changed, and effects happen in the world outside.

use std::time::Duration;

use interlock_sync::{
    clock::{Clock, SystemClock},
    store::{Admission, Admitted, Ending, Fence, Key, OnceKey, OpId, Places, Settlement, Wish},
};

use crate::{
    client::{Client, happen, request_of},
    dice::Dice,
    key,
    limited::{PERMITS, TTL, Timed},
    process::Failpoint,
};

/// So many things are read and changed.
const THINGS: u64 = 2;

/// How long what happened is remembered: longer than any run.
const KEEP: Duration = Duration::from_secs(3600);

/// How long a place in line stands unless it is asked for again, and how often that is.
const PATIENCE: Duration = Duration::from_millis(200);
const ASKS: u32 = 40;

/// What a call wants with a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Change,
    Read,
    /// To act on it, if it has not changed since this reader read it.
    Act,
}

impl Client {
    /// Has a call admitted, does what it is for, and settles it.
    pub(crate) async fn call(&self, dice: &mut Dice, task: u64, round: u64) {
        let want = [Want::Change, Want::Read, Want::Act][usize::try_from(dice.below(3)).unwrap()];
        let thing = format!("thing-{}", dice.below(THINGS));
        let effect = format!("call-{}", dice.below(round + 5));
        let reader = format!("reader-{}-{task}", self.orders.id);
        let mut wish = admission(want, &thing, &reader, &effect);
        if want == Want::Change {
            self.journal.note(&format!("calls {effect}"));
        }
        let begun = SystemClock.now().0;
        let (sent, answered, fence) = match self.admitted(&mut wish).await {
            Some(Timed { sent, answered, answer: Admitted::Granted { fence } }) => (sent, answered, fence),
            Some(Timed { answer: Admitted::Ended(stored), .. }) => {
                assert_eq!(stored.ending, Ending::Completed(effect.clone().into_bytes()));
                return self.journal.note(&format!("called {effect}"));
            }
            Some(Timed { answer: Admitted::Mismatch | Admitted::TooOften { .. }, .. }) => {
                panic!("{effect} is nobody else's, and no rate holds for it")
            }
            // It may have been let in and not know it, but not any more.
            None if want == Want::Read => {
                return self.journal.note(&format!("saw {thing} {reader} {begun} {}", SystemClock.now().0));
            }
            // In doubt, stale, or it has waited for long enough.
            _ => return,
        };
        let lock = if want == Want::Read { "shared" } else { "alone" };
        let held = [format!("{lock}-{thing}"), format!("place-{thing}")];
        let call = wish.call;
        for name in &held {
            self.journal.note(&format!("held {name} {call} {sent} {answered}"));
        }
        match want {
            Want::Read => self.journal.note(&format!("saw {thing} {reader} {sent} {answered}")),
            Want::Act => self.journal.note(&format!("acted {thing} {reader} {sent}")),
            Want::Change => {
                self.pass(Failpoint::BeforeEffect);
                happen(&self.orders.effects(), &effect);
                self.pass(Failpoint::AfterEffect);
            }
        }
        let settlement = settlement(&wish, Some(fence), &effect);
        if dice.below(3) == 0 {
            tokio::time::sleep(Duration::from_millis(dice.below(200))).await;
            let prolonged = self.ask(|| self.store.prolong(&settlement, TTL)).await;
            if let Some(Timed { sent, answer: true, .. }) = prolonged {
                held.iter().for_each(|name| self.journal.note(&format!("kept {name} {call} {sent}")));
            }
        }
        let now = SystemClock.now().0;
        held.iter().for_each(|name| self.journal.note(&format!("back {name} {call} {now}")));
        let settled = self.ask(|| self.store.settle(&settlement)).await;
        if let (Want::Change, Some(Timed { answered, .. })) = (want, settled) {
            // It may have taken effect at the first asking.
            self.journal.note(&format!("changed {thing} {now} {answered}"));
        }
    }

    /// Asks until it is decided, and leaves the line if that takes too long.
    async fn admitted(&self, wish: &mut Admission) -> Option<Timed<Admitted>> {
        for _ in 0..ASKS {
            let asked = self.ask(|| self.store.admit(wish)).await?;
            if !matches!(asked.answer, Admitted::Waits { .. }) {
                return Some(asked);
            }
            wish.is_again = true;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let leaving = settlement(wish, None, "");
        self.ask(|| self.store.settle(&leaving)).await;
        None
    }
}

/// What a call asks for: the thing, one of few places, and to be done once if it changes something.
fn admission(want: Want, thing: &str, reader: &str, effect: &str) -> Admission {
    let of = |is: bool| -> Vec<Key> { if is { vec![key(thing)] } else { Vec::new() } };
    Admission {
        call: OpId::fresh(),
        charges: Vec::new(),
        places: vec![Places { key: key(thing), limit: PERMITS }],
        locks: vec![Wish { key: key(thing), is_shared: want == Want::Read }],
        once: (want == Want::Change).then(|| done_once(effect)),
        reader: (want != Want::Change).then(|| key(reader)),
        observes: of(want == Want::Read),
        requires_fresh: of(want == Want::Act),
        ttl: TTL,
        remember: KEEP,
        is_again: false,
        patience: PATIENCE,
    }
}

/// An effect by its key, as a client and the judge must agree on it.
pub(crate) fn done_once(effect: &str) -> OnceKey {
    OnceKey { key: key(effect), fingerprint: request_of(effect), keep: KEEP }
}

/// How a call ends: well, or if it has no fence, before it began.
pub(crate) fn settlement(wish: &Admission, fence: Option<Fence>, effect: &str) -> Settlement {
    let ending = fence.map(|_| Ending::Completed(effect.as_bytes().to_vec()));
    let changes = match (&wish.once, fence) {
        (Some(_), Some(_)) => wish.locks.iter().map(|lock| lock.key.clone()).collect(),
        _ => Vec::new(),
    };
    Settlement {
        call: wish.call,
        fence,
        places: wish.places.iter().map(|place| place.key.clone()).collect(),
        locks: wish.locks.iter().map(|lock| lock.key.clone()).collect(),
        once: wish.once.as_ref().map(|once| (once.key.clone(), ending, KEEP)),
        reader: wish.reader.clone(),
        changes,
        is_success: true,
        remember: KEEP,
    }
}
