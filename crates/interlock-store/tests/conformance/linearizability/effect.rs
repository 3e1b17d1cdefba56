//! One effect per key.

use interlock_sync::store::{Attempt, Begun, Ending, Fence, Fingerprint, OpId, Stored};
use stateright::semantics::SequentialSpec;

use super::{LONG, STEPS, judge, name};
use crate::Shared;

#[derive(Debug, Clone, Default)]
struct Effect {
    at_it: Option<Fence>,
    dispatched: bool,
    ended: Option<u8>,
}

#[derive(Debug, Clone)]
enum EffectOp {
    Begin,
    Dispatch(Fence),
    Finish(Fence, u8),
}

#[derive(Debug, Clone, PartialEq)]
enum EffectRet {
    Reserved(Fence),
    Running,
    Ended(u8),
    Done(bool),
}

impl SequentialSpec for Effect {
    type Op = EffectOp;
    type Ret = EffectRet;

    fn invoke(&mut self, _: &EffectOp) -> EffectRet {
        unreachable!("every operation of these histories has returned")
    }

    fn is_valid_step(&mut self, op: &EffectOp, ret: &EffectRet) -> bool {
        match (op, ret) {
            (EffectOp::Begin, EffectRet::Reserved(fence)) => self.at_it.replace(*fence).is_none(),
            (EffectOp::Begin, EffectRet::Running) => self.at_it.is_some() && self.ended.is_none(),
            (EffectOp::Begin, EffectRet::Ended(answer)) => self.ended == Some(*answer),
            (EffectOp::Dispatch(fence), EffectRet::Done(done)) => {
                let may = self.at_it == Some(*fence) && self.ended.is_none();
                self.dispatched |= may;
                *done == may
            }
            (EffectOp::Finish(fence, answer), EffectRet::Done(done)) => {
                let may = self.at_it == Some(*fence) && self.ended.is_none_or(|stored| stored == *answer);
                if may {
                    self.ended = Some(*answer);
                }
                *done == may
            }
            _ => false,
        }
    }
}

pub(crate) async fn attempts_are_linearizable(store: Shared) {
    judge(Effect::default(), |run, client, history| {
        let store = store.clone();
        async move {
            let at = name("effect", run);
            let (mut own, mut dispatched) = (None, false);
            for step in 0..STEPS {
                let op = match own {
                    None => EffectOp::Begin,
                    Some(fence) if !dispatched => EffectOp::Dispatch(fence),
                    Some(fence) => EffectOp::Finish(fence, (client + step / 4) as u8),
                };
                let asked = op.clone();
                let answer = async {
                    match asked {
                        EffectOp::Dispatch(fence) => {
                            EffectRet::Done(store.dispatch(&at, fence, LONG).await.unwrap())
                        }
                        EffectOp::Finish(fence, answer) => {
                            let ending = Ending::Completed(vec![answer]);
                            EffectRet::Done(store.finish(&at, fence, &ending, LONG).await.unwrap())
                        }
                        EffectOp::Begin => {
                            let (fingerprint, owner) = (Fingerprint([7; 32]), OpId::fresh());
                            let attempt =
                                Attempt { key: at.clone(), fingerprint, owner, ttl: LONG, keep: LONG };
                            match store.begin(&attempt).await.unwrap() {
                                Begun::Reserved { fence } => EffectRet::Reserved(fence),
                                Begun::Running { .. } => EffectRet::Running,
                                Begun::Ended(Stored { ending: Ending::Completed(answer) }) => {
                                    EffectRet::Ended(answer[0])
                                }
                                other => panic!("{other:?}"),
                            }
                        }
                    }
                };
                match history.step(client, op.clone(), answer).await {
                    EffectRet::Reserved(fence) => own = Some(fence),
                    EffectRet::Done(done) => dispatched |= done && matches!(op, EffectOp::Dispatch(_)),
                    EffectRet::Running | EffectRet::Ended(_) => {}
                }
            }
        }
    })
    .await;
}
