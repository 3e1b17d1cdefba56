//! Intraprocedural def-use chains over the effect IR: what each value is another name for, and which reads it depends on.

use std::{borrow::Cow, collections::HashMap};

use interlock_model::ir::{AccessPath, Aspect, Block, Catch, Op, Origin, Resource, Root, Term, Value};

use crate::{
    lexicon::Topic,
    view::{At, Entry, Flow, Runs, flow::sources::Sources},
};

/// What a value is another name for.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::view) enum Definition<'e> {
    /// Nothing that is known.
    #[default]
    Opaque,
    /// What a term says.
    Term(&'e Term),
    /// A place in shared memory that it was read from: an object in a map is the map's entry.
    Location(&'e AccessPath),
    /// It was made by this call, and then stored at a place that others see.
    Stored(&'e AccessPath),
    /// It was made by this call.
    New,
    /// What one of several ways left in a variable: each of these is a possibility.
    Either(&'e Vec<Value>),
}

/// What a value was computed from, directly.
#[derive(Debug, Clone, Default)]
pub(in crate::view) enum Inputs<'e> {
    /// Nothing.
    #[default]
    None,
    /// It comes about in one place, as most do.
    FlowFacts(&'e Vec<Value>),
    /// It comes about in several.
    #[expect(clippy::box_collection, reason = "every value would be larger for the few that are joined")]
    Joined(Box<Vec<Value>>),
}

impl<'e> Inputs<'e> {
    fn add(&mut self, from: &'e Vec<Value>) {
        match self {
            Self::Joined(known) => known.extend(from),
            Self::FlowFacts(known) if !known.is_empty() => {
                *self = Self::Joined(Box::new(known.iter().chain(from).copied().collect()));
            }
            Self::None | Self::FlowFacts(_) => *self = Self::FlowFacts(from),
        }
    }

    fn as_slice(&self) -> &[Value] {
        match self {
            Self::None => &[],
            Self::FlowFacts(from) => from,
            Self::Joined(from) => from,
        }
    }
}

/// How many values one is followed back through.
const MOST_SEEN: usize = 64;

impl<'e> Entry<'e> {
    /// Notes what each value is another name for. Says how many steps there are.
    pub(in crate::view) fn define(&mut self, body: &'e Block) -> usize {
        self.definitions = vec![Definition::Opaque; self.values.len()];
        self.inputs = vec![Inputs::None; self.values.len()];
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
                inputs.add(from);
            }
            let (value, definition) = match &effect.op {
                Op::Derive { into, term, .. } if *term != Term::Unknown => (*into, Definition::Term(term)),
                Op::Derive { into, from, .. } if from.len() > 1 && self.is_join(*into, from) => {
                    (*into, Definition::Either(from))
                }
                Op::Read { into, of: Resource::Shared(path), .. } => (*into, Definition::Location(path)),
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

    /// Follows every value back to the reads that it depends on.
    pub(in crate::view) fn trace(&mut self) {
        let mut sources = Sources::new(self.values.len());
        let mut called: Vec<Value> = vec![];
        // Twice where a value depends on one that is computed further down: at the head of a loop.
        for _ in 0..2 {
            for (at, step) in self.steps.iter().enumerate() {
                let (into, from, itself): (Value, &[Value], bool) = match &step.effect.op {
                    // A part of what was read before is as old as that, and what a table has for a key depends on the key:
                    // `ALLOWED[order.status]`.
                    Op::Read { into, of: Resource::Shared(path), .. } => {
                        called.clear();
                        path.mention(&mut called);
                        (*into, &called, true)
                    }
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
            if !sources.again() {
                break;
            }
        }
        for step in &self.steps {
            if let Op::Check { on, .. } = &step.effect.op
                && let Some(branches) = self.branches.get_mut(step.number as usize)
            {
                branches.asked = sources.of_all(on);
            }
        }
        sources.finish();
        self.sources = sources;
    }

    /// The name that the source gives a value.
    #[must_use]
    pub fn name_of(&self, value: Value) -> &str {
        self.values.get(value.0 as usize).map_or("", |info| &info.name)
    }
}

impl<'v, 'e> Flow<'v, 'e> {
    /// What a value was computed from, directly.
    #[must_use]
    pub fn inputs(self, value: Value) -> &'v [Value] {
        self.0.inputs.get(value.0 as usize).map_or(&[], Inputs::as_slice)
    }

    pub(in crate::view) fn definition(self, value: Value) -> Definition<'e> {
        self.0.definitions.get(value.0 as usize).copied().unwrap_or_default()
    }

    /// The steps that a value depends on: reads, outcomes of writes, answers from outside. Sorted.
    #[must_use]
    pub fn sources(self, value: Value) -> &'v [At] {
        self.0.sources.of(value)
    }

    /// The steps that some values depend on. Sorted.
    #[must_use]
    pub fn sources_of(self, values: &[Value]) -> Cow<'v, [At]> {
        self.0.sources.united(values)
    }

    /// The steps that a check depends on. Sorted.
    #[must_use]
    pub fn condition_sources(self, check: At) -> &'v [At] {
        self.0.control().branches_of(check).map_or(&[], |branches| self.0.sources.list(branches.asked))
    }

    /// Whether a value is computed from another, however far back.
    #[must_use]
    pub fn depends_on(self, value: Value, other: Value) -> bool {
        self.depends_on_any(value, &[other])
    }

    /// Whether a value is computed from one of some others, however far back.
    #[must_use]
    pub fn depends_on_any(self, value: Value, others: &[Value]) -> bool {
        if others.is_empty() || others.contains(&value) {
            return !others.is_empty();
        }
        let mut seen = vec![value];
        let mut next = 0;
        while let Some(value) = seen.get(next).copied() {
            next += 1;
            for from in self.inputs(value) {
                if others.contains(from) {
                    return true;
                }
                if seen.len() < MOST_SEEN && !seen.contains(from) {
                    seen.push(*from);
                }
            }
        }
        false
    }

    /// Whether a value is computed from another in one way only. What was chosen by looking at the other has to do with it twice.
    #[must_use]
    pub fn depends_once_on(self, value: Value, other: Value) -> bool {
        let mut value = value;
        for _ in 0..MOST_SEEN {
            if value == other {
                return true;
            }
            let mut branches = self.inputs(value).iter().filter(|input| self.depends_on(**input, other));
            match (branches.next(), branches.next()) {
                (Some(only), None) => value = *only,
                _ => return false,
            }
        }
        false
    }

    /// Some values and what they are computed from, as far as that is worth looking at.
    #[must_use]
    pub fn backward_slice(self, values: &[Value]) -> Vec<Value> {
        let mut seen = values.to_vec();
        let mut next = 0;
        while let Some(value) = seen.get(next).copied() {
            next += 1;
            for from in self.inputs(value) {
                if seen.len() < MOST_SEEN && !seen.contains(from) {
                    seen.push(*from);
                }
            }
        }
        seen
    }

    /// Whether what a read brought is in some values, and not only the answer to whether something is among it:
    /// `items.filter(item => !known.has(item.id))` has nothing of `known` in it.
    #[must_use]
    pub fn holds_content_of(self, values: &[Value], read: At) -> bool {
        let mut seen = values.to_vec();
        let mut next = 0;
        while let Some(value) = seen.get(next).copied() {
            next += 1;
            let made = self.definition_site(value);
            if made == Some(read) {
                return true;
            }
            let op = made.and_then(|made| self.0.op(made));
            let asks =
                matches!(op, Some(Op::Read { aspect: Aspect::Existence, of: Resource::Shared(_), .. }));
            // What only this call has is no place any more, but the answer still has the name of the question.
            let asked = matches!(op, Some(Op::Derive { term: Term::Unknown, .. }))
                && self.0.lexicon().has(Topic::LooksUp, self.0.name_of(value));
            if asks || asked {
                continue;
            }
            for from in self.inputs(value) {
                if seen.len() < MOST_SEEN && !seen.contains(from) {
                    seen.push(*from);
                }
            }
        }
        seen.len() >= MOST_SEEN
    }

    /// The steps on whose outcome it depended that a step runs, nearest check last: check and source.
    pub fn controlling_reads(self, at: At) -> impl Iterator<Item = (At, At)> {
        self.0
            .control()
            .control_dependences(at)
            .iter()
            .flat_map(move |judge| self.checked_reads(*judge).map(|from| (*judge, from)))
    }

    /// The steps whose outcome a check, or an attempt whose failure is caught, is about.
    pub fn checked_reads(self, judge: At) -> impl Iterator<Item = At> {
        // Whether something is there can be asked by trying.
        let asks = move |at: &At| {
            matches!(self.0.op(*at), Some(Op::Read { aspect: Aspect::Existence | Aspect::Metadata, .. }))
                && self.0.control().catcher(*at) == Some(judge)
        };
        let tried = self.0.control().tried(judge).cloned().unwrap_or_default().filter(asks);
        self.condition_sources(judge).iter().copied().chain(tried)
    }

    /// The steps that what a step writes depends on. Sorted.
    #[must_use]
    pub fn data_dependences(self, at: At) -> Cow<'v, [At]> {
        match self.0.op(at) {
            Some(Op::Write { from, .. }) => self.sources_of(from),
            _ => Cow::Borrowed(&[]),
        }
    }

    /// The values that a question to a store or to somebody outside was put with: the key, what it demands, the address.
    #[must_use]
    pub fn asked_with(self, at: At) -> Vec<Value> {
        let mut values = vec![];
        match self.0.op(at) {
            Some(Op::Read { of: Resource::Row { key, .. }, demands, .. }) => {
                key.mention(&mut values);
                demands.0.iter().for_each(|demand| demand.with.mention(&mut values));
            }
            Some(Op::Read { of: Resource::Key(name) | Resource::File(name), .. }) => {
                name.mention(&mut values)
            }
            Some(Op::External { service, from, .. }) => {
                service.mention(&mut values);
                values.extend(from);
            }
            _ => {}
        }
        values
    }

    /// Where a value ultimately comes from: through other names, back to what is no other name.
    #[must_use]
    pub fn origin(self, value: Value) -> Option<Origin> {
        let mut value = value;
        for _ in 0..32 {
            let info = self.0.values.get(value.0 as usize)?;
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

    /// Whether a value is what somebody else hands over: an argument of the caller, or what whoever runs this calls it with.
    #[must_use]
    pub fn is_handed_over(self, value: Value) -> bool {
        let comes_from_nowhere = || {
            matches!(self.definition(value), Definition::Opaque)
                && self.inputs(value).is_empty()
                && self.sources(value).is_empty()
        };
        self.origin(value).is_some_and(Origin::is_argument)
            || matches!(self.0.runs, Runs::Event) && comes_from_nowhere()
    }

    /// Whether a value can only be one of a few.
    #[must_use]
    pub fn is_bounded(self, value: Value) -> bool {
        self.0.values.get(value.0 as usize).is_some_and(|info| info.bounded)
    }

    /// Every value that appears in a term.
    #[must_use]
    pub fn values_in(self, term: &Term) -> Vec<Value> {
        term.mentioned()
    }

    /// The errors that catches around here are given.
    #[must_use]
    pub fn errors(self) -> HashMap<Value, At> {
        let caught = |(at, step): (At, &crate::view::Step<'e>)| match &step.effect.op {
            Op::Try { catch: Some(Catch { error: Some(error), .. }), .. } => Some((*error, at)),
            _ => None,
        };
        self.0.steps.iter().enumerate().filter_map(caught).collect()
    }
}
