//! Where values come from: what each is another name for, and which reads it depends on.

use std::{borrow::Cow, collections::HashMap};

use interlock_model::ir::{AccessPath, Aspect, Block, Catch, Op, Origin, Resource, Root, Term, Value};

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
    /// Notes what each value is another name for. Says how many steps there are.
    pub(super) fn define(&mut self, body: &'e Block) -> usize {
        self.definitions = vec![Definition::Opaque; self.values.len()];
        self.inputs = vec![Cow::Borrowed(&[][..]); self.values.len()];
        let mut stored: Vec<(Value, &'e AccessPath)> = vec![];
        let steps = self.define_in(body, &mut stored);
        for (value, path) in stored {
            // A place inside the object itself says nothing about where the object is.
            let inside_itself = path.root == Root::Value(value);
            if let Some(known @ Definition::New) = self.definitions.get_mut(value.0 as usize)
                && !inside_itself
            {
                *known = Definition::Stored(path);
            }
        }
        steps
    }

    /// From the last step to the first, so that what comes about in several places is what it is in the first.
    fn define_in(&mut self, block: &'e Block, stored: &mut Vec<(Value, &'e AccessPath)>) -> usize {
        let mut steps = block.len();
        for effect in block.iter().rev() {
            if let Op::Derive { into, from, .. } = &effect.op
                && let Some(inputs) = self.inputs.get_mut(into.0 as usize)
            {
                // Most come about in one place.
                if inputs.is_empty() {
                    *inputs = Cow::Borrowed(from);
                } else {
                    inputs.to_mut().extend(from);
                }
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
                    steps += op.blocks().rev().map(|inner| self.define_in(inner, stored)).sum::<usize>();
                    continue;
                }
            };
            if let Some(known) = self.definitions.get_mut(value.0 as usize) {
                *known = definition;
            }
        }
        steps
    }

    /// Whether a value is what several ways left in one variable: all of them carry its name.
    fn is_join(&self, into: Value, from: &[Value]) -> bool {
        let name = |value: Value| self.name_of(value).split('.').next().unwrap_or_default();
        from.iter().all(|value| name(*value) == name(into))
    }

    /// What a value was computed from, directly.
    pub(super) fn inputs(&self, value: Value) -> &[Value] {
        self.inputs.get(value.0 as usize).map_or(&[], |inputs| inputs)
    }

    pub(super) fn definition(&self, value: Value) -> Definition<'e> {
        self.definitions.get(value.0 as usize).copied().unwrap_or_default()
    }

    /// Follows every value back to the reads that it depends on.
    pub(super) fn trace(&mut self) {
        let mut sources = Sources::new(self.values.len());
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
                sources.add(into, from, itself.then_some(at));
            }
        }
        self.sources = sources;
    }

    /// The steps that a value depends on: reads, outcomes of writes, answers from outside. Sorted.
    #[must_use]
    pub fn sources(&self, value: Value) -> &[At] {
        self.sources.of(value)
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
            for from in self.inputs(value) {
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
            for from in self.inputs(value) {
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

/// The steps that values depend on. A value that is computed from one other depends on the same, so they share a list.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// For each value, the number of its list.
    of: Vec<u32>,
    /// The lists, each sorted; the first is empty.
    lists: Vec<Box<[At]>>,
    /// Where lists are put together.
    merged: Vec<At>,
}

impl Sources {
    fn new(values: usize) -> Self {
        Self { of: vec![0; values], lists: vec![Box::default()], merged: vec![] }
    }

    fn of(&self, value: Value) -> &[At] {
        self.list(self.number(value))
    }

    fn number(&self, value: Value) -> u32 {
        self.of.get(value.0 as usize).copied().unwrap_or_default()
    }

    fn list(&self, number: u32) -> &[At] {
        self.lists.get(number as usize).map_or(&[], |list| list)
    }

    /// Adds what some values depend on to what another does.
    fn add(&mut self, into: Value, from: &[Value], itself: Option<At>) {
        let known = self.number(into);
        let number = match (from, itself) {
            ([one], None) if known == 0 || self.number(*one) == known => self.number(*one),
            _ => {
                let mut merged = std::mem::take(&mut self.merged);
                merged.clear();
                merged.extend_from_slice(self.list(known));
                for value in from {
                    // A value that depends on itself in a loop adds nothing.
                    if self.number(*value) != known {
                        merged.extend_from_slice(self.of(*value));
                    }
                }
                merged.extend(itself);
                merged.sort_unstable();
                merged.dedup();
                merged.truncate(MOST_SOURCES);
                let number = self.put(known, &merged);
                self.merged = merged;
                number
            }
        };
        if let Some(place) = self.of.get_mut(into.0 as usize) {
            *place = number;
        }
    }

    /// The number of a list, which may still be that of the one before.
    fn put(&mut self, before: u32, list: &[At]) -> u32 {
        if self.list(before) == list {
            return before;
        }
        self.lists.push(list.into());
        u32::try_from(self.lists.len() - 1).unwrap_or_default()
    }
}
