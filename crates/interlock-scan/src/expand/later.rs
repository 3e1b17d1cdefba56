//! Calls whose steps are put in later.
//!
//! A function that is called from many others, which are called from others again, would be copied at every level. So what is large and
//! deals in no functions is left out of a summary: a step stands for it that names it, and the values through which it is bound to its
//! caller. Only entry points of the program are [made whole](super::whole).

use std::sync::Arc;

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, FunctionId, Interleaving, Op, Resource, Root, Term, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{prune::backwards, summary::Summary};

/// What has fewer steps is copied at once.
pub(super) const SMALL: usize = 8;

/// A value that nobody has.
pub(super) const NOBODY: Value = Value(u32::MAX);

/// Who knows the functions that have been followed.
pub(super) trait Done<'p> {
    /// A function that has been followed.
    fn done(&self, id: FunctionId) -> Option<&Arc<Summary<'p>>>;
}

/// A step for what is put in later.
pub(super) struct Later<'o> {
    pub(super) function: FunctionId,
    /// Whether its [compact summary](super::compact) is put in.
    pub(super) compact: bool,
    /// What `this` is inside; `None` where it stays what it is.
    pub(super) this: Option<&'o AccessPath>,
    arguments: &'o [Argument],
}

impl<'o> Later<'o> {
    /// What a step stands for, if it is one of these. No call is pending in a program whose calls are followed, so those are them.
    pub(super) fn of(op: &'o Op) -> Option<Self> {
        match op {
            // Whether it is waited for says nothing of a step that stands for others, so that it can say which of them.
            Op::Call { callee: Callee::Pending(function), receiver, arguments, awaited, .. } => {
                let (function, this) = (FunctionId(*function), receiver.as_ref());
                Some(Self { function, compact: *awaited, this, arguments })
            }
            _ => None,
        }
    }

    /// The step for a function that is put in later. `ports` are what its first values are called.
    pub(super) fn step(
        function: FunctionId,
        compact: bool,
        this: Option<AccessPath>,
        ports: impl Iterator<Item = Value>,
    ) -> Op {
        Op::Call {
            into: None,
            callee: Callee::Pending(function.0),
            receiver: this,
            arguments: ports.map(|port| Argument::Term(port.into())).collect(),
            awaited: compact,
        }
    }

    /// What a value is called that its caller speaks of.
    pub(super) fn port(&self, value: Value) -> Option<Value> {
        self.arguments.get(value.0 as usize).and_then(as_value)
    }

    /// What its first values are called.
    pub(super) fn ports(&self) -> Vec<Value> {
        self.arguments.iter().filter_map(as_value).collect()
    }
}

fn as_value(argument: &Argument) -> Option<Value> {
    match argument {
        Argument::Term(Term::Path(AccessPath { root: Root::Value(value), .. })) => Some(*value),
        _ => None,
    }
}

/// What a function holds besides its steps, counting what is put in later.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    /// Functions that it is given and calls, or makes and gives back: who binds them has to see them.
    pub(super) functions: bool,
    /// Steps for compact summaries.
    pub(super) compact: bool,
    /// A connection, process or listener that starts to exist.
    pub(super) opens: bool,
    /// Changes of what lies in memory.
    changes: bool,
    /// Steps at which others may run, or that run beside it.
    waits: bool,
    /// Something else than what happens in memory.
    outside: bool,
}

impl Held {
    /// What a body holds besides functions that are put in later: those are `later` of it. Its first values are those that a caller
    /// hands over, `given` of them, then come others that it speaks of.
    pub(super) fn by<'p>(
        body: &Block,
        given: usize,
        ports: usize,
        later: &mut Vec<FunctionId>,
        done: &impl Done<'p>,
    ) -> Self {
        let mut held = Self::default();
        let mut functions = Functions::default();
        held.add(body, &mut functions, later);
        later.sort_unstable();
        later.dedup();
        for inside in later.iter() {
            match done.done(*inside) {
                Some(inside) => held.join(inside.held),
                // A component that is not closed yet.
                None => held.outside = true,
            }
        }
        held.functions = !functions.is_empty() && functions.concern_caller(body, given, ports);
        held
    }

    /// Whether two of it beside each other could harm anybody: who only computes cannot, nor who changes memory and never waits.
    pub(super) fn can_harm(self, interleaving: Interleaving) -> bool {
        self.outside || self.changes && (self.waits || interleaving != Interleaving::AtSuspension)
    }

    /// Whether it does anything that others could notice, or waits for something that might.
    pub(super) const fn touches(self) -> bool {
        self.outside || self.changes || self.opens || self.waits
    }

    /// Adds what somebody holds who is put in.
    const fn join(&mut self, inside: Self) {
        self.opens |= inside.opens;
        self.changes |= inside.changes;
        self.waits |= inside.waits;
        self.outside |= inside.outside;
    }

    fn add(&mut self, body: &Block, functions: &mut Functions, later: &mut Vec<FunctionId>) {
        for effect in body {
            match &effect.op {
                Op::Closure { into, .. } => functions.made.push(*into),
                Op::Call { callee: Callee::Value(value), .. } => functions.called.push(*value),
                // What is put in compactly is whole elsewhere in the same body.
                Op::Call { callee: Callee::Pending(_), awaited: true, .. } => self.compact = true,
                Op::Call { callee: Callee::Pending(function), .. } => later.push(FunctionId(*function)),
                Op::Suspend => self.waits = true,
                Op::Write { to: Resource::Shared(_), .. } | Op::Delete { of: Resource::Shared(_), .. } => {
                    self.changes = true;
                }
                Op::Read { of: Resource::Shared(_), .. }
                | Op::Derive { .. }
                | Op::New { .. }
                | Op::Exit(_)
                | Op::Call { .. } => {}
                op => {
                    let is_frame = matches!(
                        op,
                        Op::Check { .. }
                            | Op::Loop { .. }
                            | Op::Try { .. }
                            | Op::Inlined { .. }
                            | Op::Spawn { .. }
                            | Op::Together { .. }
                    );
                    self.opens |= matches!(op, Op::Open { .. });
                    self.waits |= matches!(op, Op::Spawn { .. } | Op::Together { .. });
                    self.outside |= !is_frame;
                    op.blocks().for_each(|block| self.add(block, functions, later));
                }
            }
        }
    }
}

/// The functions that a body deals in as values.
#[derive(Default)]
struct Functions {
    called: Vec<Value>,
    made: Vec<Value>,
}

impl Functions {
    fn is_empty(&self) -> bool {
        self.called.is_empty() && self.made.is_empty()
    }

    /// Whether a caller may have handed over one that is called, or be given one that is made.
    fn concern_caller(&self, body: &Block, given: usize, ports: usize) -> bool {
        let mut names: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        backwards(body, &mut |effect| {
            if let Op::Derive { into, term: Term::Path(AccessPath { root: Root::Value(of), fields }), .. } =
                &effect.op
                && fields.is_empty()
            {
                names.entry(*into).or_default().push(*of);
            }
        });
        let leads_to = |from: Vec<Value>, wanted: &dyn Fn(Value) -> bool| {
            let (mut pending, mut known) = (from, FxHashSet::default());
            while let Some(value) = pending.pop() {
                if wanted(value) {
                    return true;
                }
                if known.insert(value) {
                    pending.extend(names.get(&value).into_iter().flatten());
                }
            }
            false
        };
        let spoken_of = (0..).take(ports).map(Value).collect();
        leads_to(self.called.clone(), &|value| (value.0 as usize) < given)
            || leads_to(spoken_of, &|value| self.made.contains(&value))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use interlock_model::ir::{Body, Function, FunctionBuilder, Origin, WriteMode};

    use super::*;
    use crate::expand::{bind::Values, summary::Summary};

    /// Nothing else was followed.
    struct Alone;

    impl<'p> Done<'p> for Alone {
        fn done(&self, _: FunctionId) -> Option<&Arc<Summary<'p>>> {
            None
        }
    }

    /// What a function with one parameter holds.
    fn held(steps: impl FnOnce(&mut Body<'_>, Value)) -> Held {
        let function: Function = FunctionBuilder::new("f").body(["given"], |b, [given]| steps(b, given));
        let values = Values::of(&function);
        Summary::new(&function.parameters, &[], function.body.clone(), &values, &[], &Alone).held
    }

    /// Whether a function with one parameter deals in functions with its callers.
    fn deals(steps: impl FnOnce(&mut Body<'_>, Value)) -> bool {
        held(steps).functions
    }

    fn change(b: &mut Body<'_>, given: Value) {
        b.write(Resource::Shared(AccessPath::global("x")), [given], WriteMode::Blind);
    }

    fn closure(b: &mut Body<'_>) -> Value {
        let into = b.declare("inner", Origin::Step);
        b.push(Op::Closure { into, function: FunctionId(7), captures: vec![] });
        into
    }

    #[test]
    fn what_is_handed_over_and_called_concerns_the_caller() {
        assert!(deals(|b, given| {
            b.call("x", Callee::Value(given), []);
        }));
        assert!(deals(|b, given| {
            let other = b.bind("other", given, [given]);
            b.call("x", Callee::Value(other), []);
        }));
    }

    #[test]
    fn what_comes_from_elsewhere_and_is_called_does_not() {
        assert!(!deals(|b, given| {
            let found = b.derive("found", [given]);
            b.call("x", Callee::Value(found), []);
        }));
    }

    #[test]
    fn what_is_made_and_returned_concerns_the_caller() {
        assert!(deals(|b, _| {
            let inner = closure(b);
            b.ret([inner]);
        }));
        assert!(deals(|b, _| {
            let inner = closure(b);
            let other = b.bind("other", inner, [inner]);
            b.ret([other]);
        }));
    }

    #[test]
    fn what_is_made_and_kept_does_not() {
        assert!(!deals(|b, _| {
            let inner = closure(b);
            b.call("on", Callee::Named("on".into()), [inner.into()]);
            b.ret([]);
        }));
    }

    #[test]
    fn who_changes_memory_and_never_waits_harms_nobody_on_an_event_loop() {
        let at_once = held(change);
        assert!(!at_once.can_harm(Interleaving::AtSuspension));
        assert!(at_once.can_harm(Interleaving::Anywhere));
        let after_a_wait = held(|b, given| {
            b.suspend();
            change(b, given);
        });
        assert!(after_a_wait.can_harm(Interleaving::AtSuspension));
    }

    #[test]
    fn who_only_computes_harms_nobody_and_who_writes_a_file_may() {
        let computes = held(|b, given| {
            b.suspend();
            let more = b.derive("more", [given]);
            b.ret([more]);
        });
        assert!(!computes.can_harm(Interleaving::Anywhere));
        let writes = held(|b, given| b.write(Resource::File("x".into()), [given], WriteMode::Blind));
        assert!(writes.can_harm(Interleaving::AtSuspension));
    }

    #[test]
    fn of_who_is_put_in_and_not_known_yet_nothing_is_certain() {
        let step = Later::step(FunctionId(7), false, None, std::iter::empty());
        assert!(held(|b, _| b.push(step)).can_harm(Interleaving::AtSuspension));
    }
}
