//! Compact call summaries: the reads, writes and return value of a large function, where an entry point calls it once more.
//!
//! ```ts
//! const before = await load();     // inlined, with its 200 steps
//! …
//! const graph = await load();      // compact: reads the file, and returns what it read
//! graph.count += 1;
//! await save(graph);               // so this writes back what was read
//! ```
//!
//! Kept are the writes that the arguments and memory feed, then the reads that the returned value comes from. The writes come first, so that no
//! pair of a read and a later write is made up. Left out is what the full copy shows and what a compact one would show wrongly: a write
//! that a read of this function feeds, or that it makes behind a read of the same resource, or behind a lock or in a transaction.

use interlock_model::{
    Span,
    ir::{Block, Effect, Op, Resource, Value},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    bind::{Info, Values},
    copy::suspends,
    later::{Done, Later},
    rename::Rename,
    returns::Returned,
    summary::Summary,
    uses::uses,
};

/// The writes of a compact summary have at most so many steps, and so have its reads; what would have more is left out.
pub(super) const MOST_COMPACT: usize = 24;
/// What is put in later is looked into so many levels deep,
const DEEPEST: usize = 4;
/// and there is no compact summary of what has more steps than this: whoever wrote the tree may have made it up.
const MOST_LOOKED_AT: usize = 3_300;

/// Nor of what has far more values than steps.
const MOST_VALUES: usize = 50_000;

/// What a function comes to where it is called once more.
pub(super) struct Compact<'p> {
    /// The values of its summary, and more.
    pub(super) values: Vec<Info<'p>>,
    pub(super) body: Block,
    /// Whether the reads that its returned value comes from are there.
    pub(super) has_reads: bool,
}

impl<'p> Compact<'p> {
    /// The compact form of a summary; `None` if nothing of it matters to a caller.
    pub(super) fn of(summary: &Summary<'p>, done: &impl Done<'p>) -> Option<Self> {
        // Who is called is only known by copying.
        if summary.held.functions {
            return None;
        }
        let mut values = Values::new(summary.values.clone());
        let rename = Rename { ports: &[], offset: 0, this: None, apart: None };
        let mut steps = Steps::default();
        steps.gather(&summary.body, &rename, &mut values, done, DEEPEST);
        steps.given = summary.parameters.iter().chain(&summary.captures).copied().collect();
        let span = summary.body.first().map_or(Span::default(), |first| first.span);
        let suspends = suspends(&summary.body, done).then_some(Effect { span, op: Op::Suspend });
        let returned: Vec<Value> = summary.returned.iter().flat_map(Returned::values).collect();
        let (body, has_reads) = steps.select(&returned, suspends.as_ref())?;
        Some(Self { values: values.infos, body, has_reads })
    }
}

/// The steps of a function that may be kept.
#[derive(Default)]
struct Steps {
    /// What defines values: reads and what is computed, by number.
    definitions: Vec<(Value, Effect)>,
    /// The numbers of the steps that define a value.
    of: FxHashMap<Value, Vec<usize>>,
    /// Each with how many definitions came before it.
    writes: Vec<(usize, Effect)>,
    /// What its callers hand over.
    given: FxHashSet<Value>,
    /// How many locks and transactions are begun and ended.
    begun: usize,
    ended: usize,
    /// How many steps were looked at, whatever they are.
    looked_at: usize,
}

impl Steps {
    fn gather<'p>(
        &mut self,
        block: &Block,
        rename: &Rename<'_>,
        values: &mut Values<'p>,
        done: &impl Done<'p>,
        depth: usize,
    ) {
        for effect in block {
            self.looked_at = self.looked_at.saturating_add(1);
            if self.looked_at > MOST_LOOKED_AT {
                return;
            }
            let span = effect.span;
            match &effect.op {
                Op::Spawn { .. } => {}
                Op::Acquire { .. } | Op::Begin { .. } => self.begun += 1,
                Op::Release { .. } | Op::End { .. } => self.ended += 1,
                op @ (Op::Derive { into, .. } | Op::New { into, .. } | Op::Read { into, .. }) => {
                    let into = rename.value(*into);
                    self.of.entry(into).or_default().push(self.definitions.len());
                    self.definitions.push((into, Effect { span, op: rename.op(op) }));
                }
                // What a lock or a transaction is around is shown by the full copy alone.
                op @ (Op::Write { .. } | Op::Delete { .. } | Op::Rename { .. }) if self.begun == 0 => {
                    self.writes.push((self.definitions.len(), Effect { span, op: rename.op(op) }));
                }
                op => match Later::of(op) {
                    Some(later) if depth > 0 => self.gather_deferred(&later, rename, values, done, depth - 1),
                    Some(_) => {}
                    None => op.blocks().for_each(|inner| self.gather(inner, rename, values, done, depth)),
                },
            }
        }
    }

    /// What is put in later, in the values of the function around it.
    fn gather_deferred<'p>(
        &mut self,
        later: &Later<'_>,
        rename: &Rename<'_>,
        values: &mut Values<'p>,
        done: &impl Done<'p>,
        depth: usize,
    ) {
        let Some(inside) = done.done(later.function).cloned() else { return };
        if values.infos.len() > MOST_VALUES {
            self.looked_at = usize::MAX;
            return;
        }
        let this = later.this.map(|path| rename.path(path)).or_else(|| rename.this.cloned());
        let ports = rename.values(&later.ports());
        let rename = values.adopt_behind(&inside.values, &ports, this.as_ref());
        self.gather(&inside.body, &rename, values, done, depth);
    }

    /// The writes with what names and feeds them, then what is returned and the reads that it comes from; either only if it is small.
    /// Says whether the reads are there.
    fn select(&self, returned: &[Value], suspends: Option<&Effect>) -> Option<(Block, bool)> {
        // What is taken and not given back covers what the caller does behind it.
        if self.begun > self.ended || self.looked_at > MOST_LOOKED_AT {
            return None;
        }
        let (mut writes, mut named) = (vec![], vec![]);
        for (before, effect) in &self.writes {
            let mut used = vec![];
            uses(&effect.op, &mut used);
            let (feeding, has_own) = self.definitions(&used, false);
            if !has_own && !self.is_read_before(*before, &effect.op) {
                named.extend(feeding);
                writes.push(effect.clone());
            }
        }
        named.sort_unstable();
        named.dedup();
        if named.len() + writes.len() > MOST_COMPACT {
            (named, writes) = (vec![], vec![]);
        }
        let mut wanted = self.definitions(returned, true).0;
        let has_reads =
            wanted.len() <= MOST_COMPACT && wanted.iter().any(|number| self.read(*number).is_some());
        if writes.is_empty() && !has_reads {
            return None;
        }
        if !has_reads {
            wanted.clear();
        }
        // Who reads a file waits for it; what lies in memory is as fresh as when the function returns.
        let waits = wanted.iter().any(|number| self.read(*number).is_some_and(is_outside));
        let (before, behind) = if waits { (None, suspends) } else { (suspends, None) };
        wanted.retain(|number| !named.contains(number));
        let body = self.numbered(&named).chain(writes).chain(before.cloned());
        let body = body.chain(self.numbered(&wanted)).chain(behind.cloned());
        Some((body.collect(), has_reads))
    }

    fn numbered<'s>(&'s self, numbers: &'s [usize]) -> impl Iterator<Item = Effect> + 's {
        numbers.iter().filter_map(|number| self.definitions.get(*number)).map(|(_, effect)| effect.clone())
    }

    /// What a definition reads, if it is a read.
    fn read(&self, number: usize) -> Option<&Resource> {
        match self.definitions.get(number) {
            Some((_, Effect { op: Op::Read { of, .. }, .. })) => Some(of),
            _ => None,
        }
    }

    /// Whether one of the first definitions reads what a step writes.
    fn is_read_before(&self, before: usize, op: &Op) -> bool {
        let (to, other) = match op {
            Op::Write { to, .. } | Op::Delete { of: to, .. } => (to, None),
            Op::Rename { from, to } => (to, Some(from)),
            _ => return false,
        };
        let is_it = |of: &Resource| overlap(of, to) || other.is_some_and(|other| overlap(of, other));
        (0..before).filter_map(|number| self.read(number)).any(is_it)
    }

    /// The steps that define some values and what those are made of, up to what is given, in order; and whether a read of something that
    /// lies outside of memory is left out of them, because only those of memory count.
    fn definitions(&self, values: &[Value], with_reads: bool) -> (Vec<usize>, bool) {
        let mut pending = values.to_vec();
        let (mut known, mut found, mut left_out) = (FxHashSet::default(), vec![], false);
        while let Some(value) = pending.pop() {
            if self.given.contains(&value) || !known.insert(value) {
                continue;
            }
            for number in self.of.get(&value).into_iter().flatten() {
                let Some((_, effect)) = self.definitions.get(*number) else { continue };
                match &effect.op {
                    Op::Read { of, .. } if !with_reads && is_outside(of) => {
                        left_out = true;
                        continue;
                    }
                    Op::Derive { from, term, .. } => {
                        pending.extend(from);
                        term.mention(&mut pending);
                    }
                    op => uses(op, &mut pending),
                }
                found.push(*number);
            }
        }
        found.sort_unstable();
        (found, left_out)
    }
}

/// Whether something lies outside of the memory of the process.
const fn is_outside(resource: &Resource) -> bool {
    !matches!(resource, Resource::Shared(_))
}

/// Whether two may be the same thing.
fn overlap(one: &Resource, other: &Resource) -> bool {
    match (one, other) {
        (Resource::Shared(one), Resource::Shared(other)) => {
            one.root == other.root
                && one.fields.iter().zip(&other.fields).take(1).all(|(one, other)| one == other)
        }
        (Resource::Row { table: one, .. }, Resource::Row { table: other, .. }) => one == other,
        (one, other) => one == other,
    }
}
