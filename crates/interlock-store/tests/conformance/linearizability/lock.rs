//! A lock that nobody lets run out.

use interlock_sync::store::{Fence, LeaseAnswer, LeaseRequest, OpId};
use stateright::semantics::SequentialSpec;

use super::{LONG, STEPS, choice, judge, name};
use crate::Shared;

#[derive(Debug, Clone, Default)]
struct Lock {
    holder: Option<Fence>,
    last: Option<Fence>,
}

#[derive(Debug, Clone)]
enum LockOp {
    Take,
    GiveBack(Fence),
}

#[derive(Debug, Clone, PartialEq)]
enum LockRet {
    Granted(Fence),
    Held(Fence),
    GivenBack(bool),
}

impl SequentialSpec for Lock {
    type Op = LockOp;
    type Ret = LockRet;

    fn invoke(&mut self, _: &LockOp) -> LockRet {
        unreachable!("every operation of these histories has returned")
    }

    /// Fences are the store's to choose, as long as each is greater than the last.
    fn is_valid_step(&mut self, op: &LockOp, ret: &LockRet) -> bool {
        match (op, ret) {
            (LockOp::Take, LockRet::Granted(fence)) => {
                let right = self.holder.is_none() && self.last.is_none_or(|last| *fence > last);
                (self.holder, self.last) = (Some(*fence), Some(*fence));
                right
            }
            (LockOp::Take, LockRet::Held(fence)) => self.holder == Some(*fence),
            (LockOp::GiveBack(fence), LockRet::GivenBack(done)) => {
                let right = *done == (self.holder == Some(*fence));
                self.holder = self.holder.filter(|holder| holder != fence);
                right
            }
            _ => false,
        }
    }
}

pub(crate) async fn leases_are_linearizable(store: Shared) {
    judge(Lock::default(), |run, client, history| {
        let store = store.clone();
        async move {
            let at = name("lock", run);
            let mut own = None;
            for step in 0..STEPS {
                let op = match own {
                    Some(fence) if choice(run, client, step, 3) > 0 => LockOp::GiveBack(fence),
                    _ => LockOp::Take,
                };
                let asked = op.clone();
                let answer = async {
                    match asked {
                        LockOp::GiveBack(fence) => {
                            LockRet::GivenBack(store.release_lease(&at, fence).await.unwrap())
                        }
                        LockOp::Take => {
                            let request = LeaseRequest { key: at.clone(), owner: OpId::fresh(), ttl: LONG };
                            match store.acquire_lease(&request).await.unwrap() {
                                LeaseAnswer::Granted { fence } => LockRet::Granted(fence),
                                LeaseAnswer::Held { fence, .. } => LockRet::Held(fence),
                            }
                        }
                    }
                };
                if let LockRet::Granted(fence) = history.step(client, op, answer).await {
                    own = Some(fence);
                }
            }
        }
    })
    .await;
}
