//! Two locks that can be shared, with a place each for two, and nobody who waits.

use std::{collections::BTreeMap, time::Duration};

use interlock_sync::store::{Admission, Admitted, Fence, OpId, Places, Settlement, Wish};
use stateright::semantics::SequentialSpec;

use super::{LONG, STEPS, choice, judge, name};
use crate::Shared;

/// Which of the two keys, and whether it is shared; at least one.
type Wanted = [Option<bool>; 2];

#[derive(Debug, Clone, Default)]
struct Door {
    inside: BTreeMap<u128, (Fence, Wanted)>,
    last: [Option<Fence>; 2],
}

#[derive(Debug, Clone)]
enum DoorOp {
    Enter(u128, Wanted),
    Leave(u128, Fence),
}

#[derive(Debug, Clone, PartialEq)]
enum DoorRet {
    Granted(Fence),
    Waits,
    Left(bool),
}

impl Door {
    fn has_room(&self, wanted: Wanted) -> bool {
        let conflict = |held: &Wanted| {
            held.iter().zip(wanted).any(|pair| matches!(pair, (Some(a), Some(b)) if !(*a && b)))
        };
        self.inside.len() < 2 && !self.inside.values().any(|(_, held)| conflict(held))
    }
}

impl SequentialSpec for Door {
    type Op = DoorOp;
    type Ret = DoorRet;

    fn invoke(&mut self, _: &DoorOp) -> DoorRet {
        unreachable!("every operation of these histories has returned")
    }

    fn is_valid_step(&mut self, op: &DoorOp, ret: &DoorRet) -> bool {
        match (op, ret) {
            (DoorOp::Enter(call, wanted), DoorRet::Granted(fence)) => {
                let mut right = self.has_room(*wanted);
                for (last, _) in self.last.iter_mut().zip(wanted).filter(|(_, wish)| wish.is_some()) {
                    right &= last.is_none_or(|last| *fence > last);
                    *last = Some(*fence);
                }
                self.inside.insert(*call, (*fence, *wanted));
                right
            }
            (DoorOp::Enter(_, wanted), DoorRet::Waits) => !self.has_room(*wanted),
            (DoorOp::Leave(call, fence), DoorRet::Left(done)) => {
                let was_inside = self.inside.get(call).is_some_and(|(held, _)| held == fence);
                self.inside.remove(call);
                *done == was_inside
            }
            _ => false,
        }
    }
}

fn admission(run: u64, call: OpId, wanted: Wanted) -> Admission {
    let keys = [name("door-a", run), name("door-b", run)];
    let wish = |(key, wish): (_, Option<bool>)| wish.map(|is_shared| Wish { key, is_shared });
    Admission {
        call,
        charges: vec![],
        places: vec![Places { key: name("room", run), limit: 2 }],
        locks: keys.into_iter().zip(wanted).filter_map(wish).collect(),
        once: None,
        reader: None,
        observes: vec![],
        requires_fresh: vec![],
        ttl: LONG,
        remember: LONG,
        is_again: false,
        patience: Duration::ZERO,
    }
}

fn settlement(admission: &Admission, fence: Fence) -> Settlement {
    Settlement {
        call: admission.call,
        fence: Some(fence),
        places: admission.places.iter().map(|places| places.key.clone()).collect(),
        locks: admission.locks.iter().map(|wish| wish.key.clone()).collect(),
        once: None,
        reader: None,
        changes: vec![],
        is_success: true,
        remember: LONG,
    }
}

pub(crate) async fn admissions_are_linearizable(store: Shared) {
    judge(Door::default(), |run, client, history| {
        let store = store.clone();
        async move {
            let mut own: Option<(Admission, Fence)> = None;
            for step in 0..STEPS {
                if let Some((admission, fence)) = own.take() {
                    let op = DoorOp::Leave(admission.call.0, fence);
                    let settlement = settlement(&admission, fence);
                    let answer = async { DoorRet::Left(store.settle(&settlement).await.unwrap()) };
                    history.step(client, op, answer).await;
                    continue;
                }
                let wish = |of| [Some(false), Some(true), None][usize::try_from(of).unwrap()];
                let wanted =
                    match [wish(choice(run, client, step, 3)), wish(choice(run + 7, client, step, 3))] {
                        [None, None] => [Some(true), None],
                        some => some,
                    };
                let admission = admission(run, OpId::fresh(), wanted);
                let answer = async {
                    match store.admit(&admission).await.unwrap() {
                        Admitted::Granted { fence } => DoorRet::Granted(fence),
                        Admitted::Waits { .. } => DoorRet::Waits,
                        other => panic!("{other:?}"),
                    }
                };
                let op = DoorOp::Enter(admission.call.0, wanted);
                if let DoorRet::Granted(fence) = history.step(client, op, answer).await {
                    own = Some((admission, fence));
                }
            }
        }
    })
    .await;
}
