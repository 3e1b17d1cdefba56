//! Where values come from: what each is another name for, and which reads it depends on.

use std::collections::HashMap;

use interlock_model::ir::{
    AccessPath, Aspect, Block, Catch, Effect, Op, Origin, Resource, Root, Term, Value,
};

use super::entry::{At, Entry};

/// What a value is another name for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Definition<'e> {
    /// Nothing that is known.
    #[default]
    Opaque,
    /// What a term says.
    Term(&'e Term),
    /// A place in shared memory that it was read from: an object in a map is the map's entry.
    Place(&'e AccessPath),
    /// It was made by this call, and then stored at a place that others see.
    Stored(&'e AccessPath),
    /// It was made by this call.
    New,
    /// What one of several ways left in a variable: each of these is a possibility.
    Either(&'e [Value]),
}

/// How many reads a value is followed back to; what depends on more is a digest of everything.
const MOST_SOURCES: usize = 64;

impl<'e> Entry<'e> {
    /// Notes what each value is another name for.
    pub(super) fn define(&mut self, body: &'e Block) {
        self.definitions = vec![Definition::Opaque; self.values.len()];
        self.inputs = vec![vec![]; self.values.len()];
        let mut pending: Vec<&Effect> = body.iter().collect();
        let mut stored: Vec<(Value, &'e AccessPath)> = vec![];
        while let Some(effect) = pending.pop() {
            if let Op::Derive { into, from, .. } = &effect.op
                && let Some(inputs) = self.inputs.get_mut(into.0 as usize)
            {
                inputs.extend(from);
            }
            let (value, definition) = match &effect.op {
                Op::Derive { into, term, .. } if *term != Term::Unknown => (*into, Definition::Term(term)),
                Op::Derive { into, from, .. } if from.len() > 1 && self.is_join(*into, from) => {
                    (*into, Definition::Either(from))
                }
                Op::Read { into, of: Resource::Shared(path), .. } => (*into, Definition::Place(path)),
                Op::New { into, .. } => (*into, Definition::New),
                Op::Write { to: Resource::Shared(path), from, .. } => {
                    stored.extend(from.iter().map(|value| (*value, path)));
                    continue;
                }
                op => {
                    pending.extend(op.blocks().flatten());
                    continue;
                }
            };
            if let Some(known) = self.definitions.get_mut(value.0 as usize) {
                *known = definition;
            }
        }
        for (value, path) in stored {
            // A place inside the object itself says nothing about where the object is.
            let inside_itself = path.root == Root::Value(value);
            if let Some(known @ Definition::New) = self.definitions.get_mut(value.0 as usize)
                && !inside_itself
            {
                *known = Definition::Stored(path);
            }
        }
    }

    /// Whether a value is what several ways left in one variable: all of them carry its name.
    fn is_join(&self, into: Value, from: &[Value]) -> bool {
        let name = |value: Value| self.name_of(value).split('.').next().unwrap_or_default();
        from.iter().all(|value| name(*value) == name(into))
    }

    pub(super) fn definition(&self, value: Value) -> Definition<'e> {
        self.definitions.get(value.0 as usize).copied().unwrap_or_default()
    }

    /// Follows every value back to the reads that it depends on.
    pub(super) fn trace(&mut self) {
        let mut sources: Vec<Vec<At>> = vec![vec![]; self.values.len()];
        let mut called: Vec<Value> = vec![];
        // Twice, because a value at the head of a loop depends on one that is computed further down.
        for _ in 0..2 {
            for (at, step) in self.steps.iter().enumerate() {
                let (into, from, itself): (Value, &[Value], bool) = match &step.effect.op {
                    // A part of what was read before is as old as that.
                    Op::Read {
                        into,
                        of: Resource::Shared(AccessPath { root: Root::Value(whole), .. }),
                        ..
                    } => (*into, std::slice::from_ref(whole), true),
                    Op::Read { into, .. } => (*into, &[], true),
                    Op::Derive { into, from, .. } => (*into, from, false),
                    Op::Write { outcome: Some(into), .. }
                    | Op::Delete { outcome: Some(into), .. }
                    | Op::Acquire { outcome: Some(into), .. }
                    | Op::External { into: Some(into), .. } => (*into, &[], true),
                    Op::Loop { item: Some(into), .. } => (*into, &[], false),
                    Op::Call { into: Some(into), arguments, receiver, .. } => {
                        called.clear();
                        for argument in arguments {
                            if let interlock_model::ir::Argument::Term(term) = argument {
                                term.mention(&mut called);
                            }
                        }
                        if let Some(path) = receiver {
                            path.mention(&mut called);
                        }
                        // What it answers comes from wherever it went.
                        (*into, &called, true)
                    }
                    _ => continue,
                };
                add(&mut sources, into, from, itself.then_some(at));
            }
        }
        self.sources = sources;
    }

    /// The steps that a value depends on: reads, outcomes of writes, answers from outside. Sorted.
    #[must_use]
    pub fn sources(&self, value: Value) -> &[At] {
        self.sources.get(value.0 as usize).map_or(&[], |sources| sources)
    }

    /// The steps that some values depend on.
    #[must_use]
    pub fn sources_of(&self, values: &[Value]) -> Vec<At> {
        let mut all: Vec<At> = values.iter().flat_map(|value| self.sources(*value)).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a value is computed from another, however far back.
    #[must_use]
    pub fn depends_on(&self, value: Value, other: Value) -> bool {
        if value == other {
            return true;
        }
        let mut seen = vec![value];
        let mut next = 0;
        while let Some(value) = seen.get(next).copied() {
            next += 1;
            for from in self.inputs.get(value.0 as usize).into_iter().flatten() {
                if *from == other {
                    return true;
                }
                if seen.len() < MOST_SOURCES && !seen.contains(from) {
                    seen.push(*from);
                }
            }
        }
        false
    }

    /// Some values and what they are computed from, as far as that is worth looking at.
    #[must_use]
    pub fn made_of(&self, values: &[Value]) -> Vec<Value> {
        let mut seen = values.to_vec();
        let mut next = 0;
        while let Some(value) = seen.get(next).copied() {
            next += 1;
            for from in self.inputs.get(value.0 as usize).into_iter().flatten() {
                if seen.len() < MOST_SOURCES && !seen.contains(from) {
                    seen.push(*from);
                }
            }
        }
        seen
    }

    /// The steps on whose outcome it depended that a step runs, nearest check last: check and source.
    #[must_use]
    pub fn judged_by(&self, at: At) -> Vec<(At, At)> {
        let of_check = |check: &At| match self.op(*check) {
            Some(Op::Check { on, .. }) => {
                self.sources_of(on).into_iter().map(|from| (*check, from)).collect()
            }
            // Whether something is there can be asked by trying.
            Some(Op::Try { .. }) => {
                let asks = |at: &At| {
                    matches!(
                        self.op(*at),
                        Some(Op::Read { aspect: Aspect::Existence | Aspect::Metadata, .. })
                    )
                };
                let body = self.attempts.get(check).cloned().unwrap_or_default();
                body.filter(asks).map(|from| (*check, from)).collect()
            }
            _ => vec![],
        };
        self.judges(at).iter().flat_map(of_check).collect()
    }

    /// The steps that what a step writes depends on.
    #[must_use]
    pub fn fed_by(&self, at: At) -> Vec<At> {
        match self.op(at) {
            Some(Op::Write { from, .. }) => self.sources_of(from),
            _ => vec![],
        }
    }

    /// Where a value ultimately comes from: through other names, back to what is no other name.
    #[must_use]
    pub fn origin(&self, value: Value) -> Option<Origin> {
        let mut value = value;
        for _ in 0..32 {
            let info = self.values.get(value.0 as usize)?;
            if info.origin != Origin::Step {
                return Some(info.origin);
            }
            match self.definition(value) {
                Definition::Term(Term::Path(AccessPath { root: Root::Value(other), .. }))
                    if *other != value =>
                {
                    value = *other;
                }
                _ => return Some(Origin::Step),
            }
        }
        None
    }

    /// The name that the source gives a value.
    #[must_use]
    pub fn name_of(&self, value: Value) -> &str {
        self.values.get(value.0 as usize).map_or("", |info| &info.name)
    }

    /// Whether a value can only be one of a few.
    #[must_use]
    pub fn is_bounded(&self, value: Value) -> bool {
        self.values.get(value.0 as usize).is_some_and(|info| info.bounded)
    }

    /// Every value that appears in a term.
    #[must_use]
    pub fn values_in(&self, term: &Term) -> Vec<Value> {
        term.mentioned()
    }

    /// The errors that catches around here are given.
    #[must_use]
    pub fn errors(&self) -> HashMap<Value, At> {
        let caught = |(at, step): (At, &super::Step<'e>)| match &step.effect.op {
            Op::Try { catch: Some(Catch { error: Some(error), .. }), .. } => Some((*error, at)),
            _ => None,
        };
        self.steps.iter().enumerate().filter_map(caught).collect()
    }
}

/// Adds what some values depend on to what another does.
fn add(sources: &mut [Vec<At>], into: Value, from: &[Value], itself: Option<At>) {
    let into = into.0 as usize;
    let Some(mut known) = sources.get_mut(into).map(std::mem::take) else { return };
    let before = known.len();
    for value in from {
        known.extend_from_slice(sources.get(value.0 as usize).map_or(&[], |sources| sources));
    }
    known.extend(itself);
    if known.len() > before {
        known.sort_unstable();
        known.dedup();
        known.truncate(MOST_SOURCES);
    }
    if let Some(place) = sources.get_mut(into) {
        *place = known;
    }
}
