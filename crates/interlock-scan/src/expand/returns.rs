//! What a function returns: what it depends on, decisions included, and its name where there is only one.

use interlock_model::ir::{AccessPath, Block, Exit, Member, Op, Resource, Root, Value};

use super::later::{Done, Later};

/// What a function returns, in its own values.
#[derive(Default)]
pub(super) struct Returned {
    /// What it depends on, decisions included.
    pub(super) from: Vec<Value>,
    /// The value itself, where there is only one.
    pub(super) whole: Option<Value>,
    /// What it puts together and returns, member by member.
    pub(super) members: Vec<Member>,
}

impl Returned {
    /// What a body returns; `None` if it never says so.
    pub(super) fn by<'p>(body: &Block, done: &impl Done<'p>) -> Option<Self> {
        let mut found = Search::default();
        found.block(body, &mut vec![], done);
        found.from.sort_unstable();
        found.from.dedup();
        let whole = match found.whole.as_slice() {
            [one] if found.exits == 1 => Some(*one),
            // `if (db) return db; db = open(); return db`: one place, whichever way.
            [first, others @ ..] if !others.is_empty() && found.exits == found.whole.len() => {
                let place = place_of(body, *first);
                let same = |other: &Value| place.is_some_and(|place| place_of(body, *other) == Some(place));
                others.iter().all(same).then_some(*first)
            }
            _ => None,
        };
        (found.exits > 0).then_some(Self { from: found.from, whole, members: vec![] })
    }

    /// Notes what is put together. It is none of its members then, also where there is only one.
    pub(super) fn put_together(&mut self, members: &[Member]) {
        let is_known = |member: &&Member| match &member.is.root {
            Root::Value(value) => self.from.contains(value),
            _ => true,
        };
        self.members = members.iter().filter(is_known).cloned().collect();
        if !members.is_empty() {
            self.whole = None;
        }
    }

    /// Notes what another function has put together and this one hands on.
    pub(super) fn hand_on(&mut self, members: &[Member]) {
        self.members = members.to_vec();
        self.from.extend(members.iter().filter_map(|member| match member.is.root {
            Root::Value(value) => Some(value),
            _ => None,
        }));
        self.from.sort_unstable();
        self.from.dedup();
    }

    /// Every value that it speaks of.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.from.iter().copied().chain(self.whole)
    }

    /// Every value that it speaks of, to be changed.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let roots = self.members.iter_mut().filter_map(|member| match &mut member.is.root {
            Root::Value(value) => Some(value),
            _ => None,
        });
        self.from.iter_mut().chain(&mut self.whole).chain(roots)
    }
}

#[derive(Default)]
struct Search {
    from: Vec<Value>,
    whole: Vec<Value>,
    exits: usize,
}

impl Search {
    fn block<'p>(&mut self, block: &Block, deciding: &mut Vec<Value>, done: &impl Done<'p>) {
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
                    self.block(then, deciding, done);
                    self.block(otherwise, deciding, done);
                    // A way that returned here decides over the returns that follow.
                    if self.exits == exits {
                        deciding.truncate(before);
                    }
                }
                // Whether the body failed decides which way is taken to a return.
                Op::Try { body, catch: Some(catch), finally } => {
                    let before = deciding.len();
                    seen(body, done, deciding);
                    self.block(body, deciding, done);
                    self.block(&catch.body, deciding, done);
                    deciding.truncate(before);
                    self.block(finally, deciding, done);
                }
                other => other.blocks().for_each(|inner| self.block(inner, deciding, done)),
            }
        }
        if depth == 0 {
            deciding.clear();
        }
    }
}

/// The place in memory, of more than one call, that a value was read from in a block.
fn place_of(block: &Block, value: Value) -> Option<&AccessPath> {
    block.iter().find_map(|effect| match &effect.op {
        Op::Read { into, of: Resource::Shared(path), .. } if *into == value => {
            matches!(path.root, Root::Global(_) | Root::This).then_some(path)
        }
        // What was followed inside has places of its own.
        Op::Inlined { .. } | Op::Spawn { .. } => None,
        other => other.blocks().find_map(|inner| place_of(inner, value)),
    })
}

/// What the reads of a block saw of the world outside the process.
pub(super) fn seen<'p>(block: &Block, done: &impl Done<'p>, values: &mut Vec<Value>) {
    for effect in block {
        match &effect.op {
            Op::Read { into, of: Resource::File(_) | Resource::Row { .. } | Resource::Key(_), .. } => {
                values.push(*into);
            }
            op => match Later::of(op) {
                Some(later) => {
                    let inside = done.done(later.function).map_or(&[][..], |summary| &summary.seen);
                    values.extend(inside.iter().filter_map(|value| later.port(*value)));
                }
                None => op.blocks().for_each(|inner| seen(inner, done, values)),
            },
        }
    }
}
