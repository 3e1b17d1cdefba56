//! One function with its calls followed.

use std::rc::Rc;

use interlock_model::{
    Span,
    ir::{
        AccessPath, Argument, Block, Callee, Catch, Effect, Exit, Function, FunctionId, Op, Program,
        Resource, Role, Root, Start, Term, Value, ValueInfo,
    },
};

use super::{
    bind::Values,
    prune::{is_silent, prune},
    rename::Rename,
};

/// How many steps a function may grow to. What is beyond stays a call.
const MOST_STEPS: usize = 3_000;
/// How deep calls are followed.
const DEEPEST: usize = 120;

/// A function whose calls were followed, in terms of its own parameters, captures and receiver.
pub(super) struct Summary {
    pub(super) values: Vec<ValueInfo>,
    pub(super) body: Block,
    /// Whether nothing in it can matter to a rule but what it returns.
    silent: bool,
    size: usize,
}

pub(super) struct Follower<'p> {
    pub(super) program: &'p Program,
    summaries: Vec<State>,
    depth: usize,
}

#[derive(Clone)]
enum State {
    New,
    Running,
    Done(Rc<Summary>),
}

/// A function that is being expanded.
struct Work {
    values: Values,
    size: usize,
}

impl<'p> Follower<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self { program, summaries: vec![State::New; program.functions.len()], depth: 0 }
    }

    /// A function with its calls followed; `None` for one that is being expanded right now, or too deep down.
    pub(super) fn summary(&mut self, id: FunctionId) -> Option<Rc<Summary>> {
        match self.summaries.get(id.0 as usize)? {
            State::Done(summary) => return Some(summary.clone()),
            State::Running => return None,
            State::New if self.depth >= DEEPEST => return None,
            State::New => {}
        }
        let function = self.program.function(id)?;
        self.set(id, State::Running);
        self.depth += 1;
        let mut work = Work { values: Values::new(function.values.clone()), size: 0 };
        let mut body = self.block(&function.body, &mut work);
        self.depth -= 1;
        let keep: Vec<Value> = function.parameters.iter().chain(&function.captures).copied().collect();
        let size = prune(&mut body, &work.values.infos, &keep);
        let silent = is_silent(&body);
        let summary = Rc::new(Summary { values: work.values.infos, body, silent, size });
        self.set(id, State::Done(summary.clone()));
        Some(summary)
    }

    fn set(&mut self, id: FunctionId, state: State) {
        if let Some(place) = self.summaries.get_mut(id.0 as usize) {
            *place = state;
        }
    }

    fn block(&mut self, block: &Block, work: &mut Work) -> Block {
        let mut out = Block::with_capacity(block.len());
        for effect in block {
            self.effect(effect, work, &mut out);
        }
        out
    }

    fn effect(&mut self, effect: &Effect, work: &mut Work, out: &mut Block) {
        work.size += 1;
        let span = effect.span;
        let op = match &effect.op {
            Op::Call { into, callee, receiver, arguments, awaited } => {
                let call =
                    Call { span, into: *into, receiver: receiver.as_ref(), arguments, awaited: *awaited };
                return self.call(callee, &call, work, out);
            }
            Op::Derive { into, term, .. } => {
                work.values.alias(*into, term);
                effect.op.clone()
            }
            Op::Closure { into, function, captures } => {
                work.values.hold(*into, *function, captures.clone());
                effect.op.clone()
            }
            Op::Check { on, equal, then, otherwise } => Op::Check {
                on: on.clone(),
                equal: equal.clone(),
                then: self.block(then, work),
                otherwise: self.block(otherwise, work),
            },
            Op::Spawn { start, body } => Op::Spawn { start: *start, body: self.block(body, work) },
            Op::Together { branches } => {
                Op::Together { branches: branches.iter().map(|branch| self.block(branch, work)).collect() }
            }
            Op::Loop { bound, item, body } => {
                Op::Loop { bound: *bound, item: *item, body: self.block(body, work) }
            }
            Op::Try { body, catch, finally } => Op::Try {
                body: self.block(body, work),
                catch: catch
                    .as_ref()
                    .map(|catch| Catch { error: catch.error, body: self.block(&catch.body, work) }),
                finally: self.block(finally, work),
            },
            Op::Inlined { function, body } => {
                Op::Inlined { function: *function, body: self.block(body, work) }
            }
            other => other.clone(),
        };
        out.push(Effect { span, op });
    }

    fn call(&mut self, callee: &Callee, call: &Call<'_>, work: &mut Work, out: &mut Block) {
        let (function, captures) = match callee {
            Callee::Function(id) => (*id, vec![]),
            Callee::Closure { function, captures } => (*function, captures.clone()),
            Callee::Value(value) => match work.values.function(*value) {
                Some((function, captures)) => (*function, captures.clone()),
                None => return self.unknown(callee, call, work, out),
            },
            Callee::Named(_) | Callee::Pending(_) => return self.unknown(callee, call, work, out),
        };
        let (Some(summary), Some(target)) = (self.summary(function), self.program.function(function)) else {
            return self.unknown(callee, call, work, out);
        };
        if work.size + summary.size > MOST_STEPS {
            return self.unknown(callee, call, work, out);
        }
        let detached = target.asynchronous && !call.awaited;
        let mut inside = Block::new();
        let returned = self.copy(target, &summary, &captures, call, work, &mut inside);
        let (from, term) = match returned {
            // A literal answer to something was chosen by what it was given.
            Some((from, term)) if !from.is_empty() => (from, term),
            Some((_, term)) => (call.mentioned(), term),
            None => (call.mentioned(), Term::Unknown),
        };
        if !inside.is_empty() {
            let op = Op::Inlined { function, body: inside };
            let op = if detached {
                Op::Spawn { start: Start::Now, body: vec![Effect { span: call.span, op }] }
            } else {
                op
            };
            out.push(Effect { span: call.span, op });
        }
        if let Some(into) = call.into {
            // A promise is not yet what it will lead to.
            let term = if detached { Term::Unknown } else { term };
            work.values.alias(into, &term);
            out.push(Effect { span: call.span, op: Op::Derive { into, from, term } });
        }
    }

    /// Copies a followed function in, its parameters bound to what the call hands over. Says what it returns.
    fn copy(
        &mut self,
        target: &Function,
        summary: &Summary,
        captures: &[Term],
        call: &Call<'_>,
        work: &mut Work,
        inside: &mut Block,
    ) -> Option<(Vec<Value>, Term)> {
        let offset = work.values.adopt(&summary.values);
        // A plain function has no receiver; whatever it calls `this` is nothing that anybody else sees.
        let nobody;
        let this = match (call.receiver, target.owner.is_some()) {
            (Some(receiver), _) => Some(receiver),
            // A closure inside a method shares the method's receiver.
            (None, _) if target.owner.is_some() => None,
            (None, _) => {
                nobody = AccessPath { root: Root::Value(Value(u32::MAX)), fields: vec![] };
                Some(&nobody)
            }
        };
        let rename = Rename { offset, this };
        let mut bind = |parameter: Value, argument: Option<&Argument>, work: &mut Work| {
            let into = rename.value(parameter);
            match argument {
                Some(Argument::Closure { function, captures }) => {
                    work.values.hold(into, *function, captures.clone());
                }
                Some(Argument::Term(term)) => {
                    work.values.alias(into, term);
                    let op = Op::Derive { into, from: term.mentioned(), term: term.clone() };
                    inside.push(Effect { span: call.span, op });
                }
                None => {}
            }
        };
        for (index, parameter) in target.parameters.iter().enumerate() {
            bind(*parameter, call.arguments.get(index), work);
        }
        for (index, capture) in target.captures.iter().enumerate() {
            bind(*capture, captures.get(index).cloned().map(Argument::Term).as_ref(), work);
        }
        let returned = returns(&summary.body, &rename);
        if summary.silent {
            // Only what it returns counts, and that is bound to the arguments by names alone.
            work.size += inside.len();
            let steps = summary.body.iter().filter(|effect| {
                matches!(
                    effect.op,
                    Op::Derive { .. } | Op::New { .. } | Op::Closure { .. } | Op::Call { into: Some(_), .. }
                )
            });
            let steps: Block =
                steps.map(|effect| Effect { span: effect.span, op: rename.op(&effect.op) }).collect();
            inside.extend(self.refollow(steps, work));
            return returned;
        }
        // Calls of parameters that hold a function by now can be followed in the copy.
        let copy = rename.block(&summary.body);
        work.size += summary.size;
        let followed = self.refollow(copy, work);
        inside.extend(followed);
        returned
    }

    /// Follows the calls in a copy that had to wait until their parameters were bound.
    fn refollow(&mut self, block: Block, work: &mut Work) -> Block {
        let mut out = Block::with_capacity(block.len());
        for Effect { span, op } in block {
            let op = match op {
                Op::Call { into, callee: Callee::Value(value), receiver, arguments, awaited }
                    if work.values.function(value).is_some() && self.depth < DEEPEST =>
                {
                    let call =
                        Call { span, into, receiver: receiver.as_ref(), arguments: &arguments, awaited };
                    self.depth += 1;
                    self.call(&Callee::Value(value), &call, work, &mut out);
                    self.depth -= 1;
                    continue;
                }
                Op::Derive { into, from, term } => {
                    work.values.alias(into, &term);
                    Op::Derive { into, from, term }
                }
                Op::Closure { into, function, captures } => {
                    work.values.hold(into, function, captures.clone());
                    Op::Closure { into, function, captures }
                }
                Op::Check { on, equal, then, otherwise } => Op::Check {
                    on,
                    equal,
                    then: self.refollow(then, work),
                    otherwise: self.refollow(otherwise, work),
                },
                Op::Spawn { start, body } => Op::Spawn { start, body: self.refollow(body, work) },
                Op::Together { branches } => Op::Together {
                    branches: branches.into_iter().map(|branch| self.refollow(branch, work)).collect(),
                },
                Op::Loop { bound, item, body } => Op::Loop { bound, item, body: self.refollow(body, work) },
                Op::Try { body, catch, finally } => Op::Try {
                    body: self.refollow(body, work),
                    catch: catch
                        .map(|catch| Catch { error: catch.error, body: self.refollow(catch.body, work) }),
                    finally: self.refollow(finally, work),
                },
                Op::Inlined { function, body } => Op::Inlined { function, body: self.refollow(body, work) },
                other => other,
            };
            out.push(Effect { span, op });
        }
        out
    }

    /// A call that cannot be followed stays, and what it was handed may be called by it: in its course if it is waited for, else
    /// when something happens.
    fn unknown(&mut self, callee: &Callee, call: &Call<'_>, work: &mut Work, out: &mut Block) {
        let op = Op::Call {
            into: call.into,
            callee: callee.clone(),
            receiver: call.receiver.cloned(),
            arguments: call.arguments.to_vec(),
            awaited: call.awaited,
        };
        out.push(Effect { span: call.span, op });
        if matches!(callee, Callee::Value(_)) {
            return;
        }
        for argument in call.arguments {
            let Argument::Closure { function, captures } = argument else { continue };
            // A handler is a way in of its own; handing it to the server is not yet a call.
            if self.program.function(*function).is_some_and(|target| matches!(target.role, Role::Handler(_)))
            {
                continue;
            }
            let callee = Callee::Closure { function: *function, captures: captures.clone() };
            let handed = Call { span: call.span, into: None, receiver: None, arguments: &[], awaited: true };
            let mut body = Block::new();
            if self.program.function(*function).is_some() && self.summary(*function).is_some() {
                self.call(&callee, &handed, work, &mut body);
            }
            if body.is_empty() {
                continue;
            }
            if call.awaited {
                out.extend(body);
            } else {
                out.push(Effect { span: call.span, op: Op::Spawn { start: Start::Event, body } });
            }
        }
    }
}

/// A call under expansion.
struct Call<'c> {
    span: Span,
    into: Option<Value>,
    receiver: Option<&'c AccessPath>,
    arguments: &'c [Argument],
    awaited: bool,
}

impl Call<'_> {
    fn mentioned(&self) -> Vec<Value> {
        let terms = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Term(term) => Some(term),
            Argument::Closure { .. } => None,
        });
        terms.flat_map(Term::mentioned).collect()
    }
}

/// What a body returns: what it depends on, decisions included, and its name where there is only one.
fn returns(body: &Block, rename: &Rename<'_>) -> Option<(Vec<Value>, Term)> {
    let mut found = Returned::default();
    found.block(body, &mut vec![]);
    let mut from = rename.values(&found.from);
    from.sort_unstable();
    from.dedup();
    let term = match found.whole.as_slice() {
        [one] if found.exits == 1 => Term::Path(rename.value(*one).into()),
        _ => Term::Unknown,
    };
    (found.exits > 0).then_some((from, term))
}

#[derive(Default)]
struct Returned {
    from: Vec<Value>,
    whole: Vec<Value>,
    exits: usize,
}

impl Returned {
    fn block(&mut self, block: &Block, deciding: &mut Vec<Value>) {
        let depth = deciding.len();
        for effect in block {
            match &effect.op {
                Op::Exit(Exit::Return(values)) => {
                    self.exits += 1;
                    self.from.extend(values.iter().chain(deciding.iter()));
                    if let [one] = values.as_slice()
                        && !self.whole.contains(one)
                    {
                        self.whole.push(*one);
                    }
                }
                // What was followed inside returns to here.
                Op::Inlined { .. } | Op::Spawn { .. } => {}
                Op::Check { on, then, otherwise, .. } => {
                    let before = deciding.len();
                    deciding.extend(on);
                    let exits = self.exits;
                    self.block(then, deciding);
                    self.block(otherwise, deciding);
                    // A way that returned here decides over the returns that follow.
                    if self.exits == exits {
                        deciding.truncate(before);
                    }
                }
                // Whether the body failed decides which way is taken to a return.
                Op::Try { body, catch: Some(catch), finally } => {
                    let before = deciding.len();
                    seen(body, deciding);
                    self.block(body, deciding);
                    self.block(&catch.body, deciding);
                    deciding.truncate(before);
                    self.block(finally, deciding);
                }
                other => other.blocks().for_each(|inner| self.block(inner, deciding)),
            }
        }
        if depth == 0 {
            deciding.clear();
        }
    }
}

/// What the reads of a block saw.
fn seen(block: &Block, values: &mut Vec<Value>) {
    for effect in block {
        match &effect.op {
            Op::Read { into, of: Resource::File(_) | Resource::Row { .. } | Resource::Key(_), .. } => {
                values.push(*into);
            }
            op => op.blocks().for_each(|inner| seen(inner, values)),
        }
    }
}
