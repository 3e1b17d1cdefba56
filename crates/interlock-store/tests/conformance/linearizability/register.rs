//! A register: read, write, create, compare-and-swap, delete.

use interlock_sync::store::{Change, Content, Expect, Outcome, Record, Refusal, Version};
use stateright::semantics::SequentialSpec;

use super::{STEPS, choice, judge, name};
use crate::{Shared, send};

#[derive(Debug, Clone, Default)]
struct Register {
    now: Option<(Version, Content)>,
    newest: Option<Version>,
}

#[derive(Debug, Clone)]
enum RegisterOp {
    Get,
    Put(Expect, Content),
    Delete,
}

#[derive(Debug, Clone, PartialEq)]
enum RegisterRet {
    Holds(Option<(Version, Content)>),
    Made(Option<Version>, Version),
    Deleted(Version),
}

fn pair(record: Option<Record>) -> Option<(Version, Content)> {
    record.map(|record| (record.version, record.content))
}

impl SequentialSpec for Register {
    type Op = RegisterOp;
    type Ret = RegisterRet;

    fn invoke(&mut self, _: &RegisterOp) -> RegisterRet {
        unreachable!("every operation of these histories has returned")
    }

    /// Versions are the store's to choose, as long as each is new.
    fn is_valid_step(&mut self, op: &RegisterOp, ret: &RegisterRet) -> bool {
        let version = self.now.as_ref().map(|(version, _)| *version);
        let met = match op {
            RegisterOp::Get => false,
            RegisterOp::Delete | RegisterOp::Put(Expect::Present, _) => version.is_some(),
            RegisterOp::Put(Expect::Any, _) => true,
            RegisterOp::Put(Expect::Absent, _) => version.is_none(),
            RegisterOp::Put(Expect::Version(expected), _) => version == Some(*expected),
        };
        match (op, ret) {
            (_, RegisterRet::Holds(seen)) => !met && *seen == self.now,
            (RegisterOp::Put(_, content), RegisterRet::Made(from, to)) => {
                let right = met && *from == version && self.newest.is_none_or(|newest| *to > newest);
                self.now = Some((*to, content.clone()));
                self.newest = Some(*to);
                right
            }
            (RegisterOp::Delete, RegisterRet::Deleted(from)) => {
                let right = met && Some(*from) == version;
                self.now = None;
                right
            }
            _ => false,
        }
    }
}

pub(crate) async fn registers_are_linearizable(store: Shared) {
    judge(Register::default(), |run, client, history| {
        let store = store.clone();
        async move {
            let at = name("register", run);
            let mut known = Version(0);
            for step in 0..STEPS {
                let content = Content::Bytes(vec![client as u8, step as u8]);
                let op = match choice(run, client, step, 6) {
                    0 | 1 => RegisterOp::Get,
                    2 => RegisterOp::Put(Expect::Absent, content),
                    3 => RegisterOp::Put(Expect::Version(known), content),
                    4 => RegisterOp::Put(Expect::Any, content),
                    _ => RegisterOp::Delete,
                };
                let asked = op.clone();
                let answer = async {
                    let change = match asked {
                        RegisterOp::Get => return RegisterRet::Holds(pair(store.get(&at).await.unwrap())),
                        RegisterOp::Put(expect, content) => Change::Put { key: at.clone(), expect, content },
                        RegisterOp::Delete => Change::Delete { key: at.clone(), expect: Expect::Any },
                    };
                    match send(&store, change).await {
                        Outcome::Refused(Refusal::Conflict { current, .. }) => {
                            RegisterRet::Holds(pair(current))
                        }
                        Outcome::Refused(refusal) => panic!("{refusal:?}"),
                        Outcome::Applied(applied) => match applied.changed.first().map(|c| (c.from, c.to)) {
                            Some((from, Some(to))) => RegisterRet::Made(from, to),
                            Some((Some(from), None)) => RegisterRet::Deleted(from),
                            other => panic!("{other:?}"),
                        },
                    }
                };
                match history.step(client, op, answer).await {
                    RegisterRet::Holds(Some((version, _))) | RegisterRet::Made(_, version) => known = version,
                    _ => {}
                }
            }
        }
    })
    .await;
}
