//! What nothing reaches, and how much of it is looked at.
//!
//! Most of a large tree is code that no call gets to, and it is told at the lowest confidence. Where many ways lead through the same
//! large functions, those would be copied into each of them, only to be seen to do the same. So the shortest ways have everything in
//! them, and longer ones leave out what has been seen often enough.

use interlock_model::ir::{FunctionId, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    calls::{Calls, Reached},
    later::Done,
};

/// How many functions that nothing reaches are looked at.
const MOST_UNREACHED: usize = 20_000;
/// From this many steps on, a function
const LARGE: usize = 60;
/// is put into no more ways than this.
const MOST_WAYS: usize = 8;

/// The ways into what is not reached, which is reached afterwards.
pub(super) fn unreached(program: &Program, calls: &Calls, reached: &mut Reached<'_>) -> Vec<FunctionId> {
    let callers = calls.callers();
    let is_called = |id: &FunctionId| callers.get(id.0 as usize).is_some_and(|callers| *callers > 0);
    // Those that nobody calls come first; a component is entered somewhere.
    let ids = (0..).map(FunctionId).zip(&program.functions).map(|(id, _)| id);
    let (called, free): (Vec<_>, Vec<_>) = ids.partition(is_called);
    let mut roots = vec![];
    for id in free.into_iter().chain(called).take(MOST_UNREACHED) {
        if !reached.has(id) {
            reached.from(id);
            roots.push(id);
        }
    }
    roots
}

/// What is left out of a way.
#[derive(Debug)]
pub(super) enum LeftOut {
    /// These.
    These(FxHashSet<FunctionId>),
    /// Everything that would be put in later.
    Everything,
}

impl LeftOut {
    pub(super) fn has(&self, function: FunctionId) -> bool {
        match self {
            Self::These(functions) => functions.contains(&function),
            Self::Everything => true,
        }
    }
}

/// What is left out of each of some ways, as far as something is.
pub(super) fn left_out<'p>(ways: &[FunctionId], done: &impl Done<'p>) -> FxHashMap<FunctionId, LeftOut> {
    let size = |id: FunctionId| done.done(id).map_or(0, |summary| summary.size);
    let mut ways = ways.to_vec();
    ways.sort_by_key(|way| size(*way));
    let mut times: FxHashMap<FunctionId, usize> = FxHashMap::default();
    let mut out = FxHashMap::default();
    for way in ways {
        let (mut known, mut without) = (FxHashSet::default(), FxHashSet::default());
        let mut pending = vec![way];
        while let Some(id) = pending.pop() {
            for function in done.done(id).iter().flat_map(|inside| &inside.later).copied() {
                if !known.insert(function) {
                    continue;
                }
                let times = times.entry(function).or_default();
                if *times >= MOST_WAYS && size(function) >= LARGE {
                    without.insert(function);
                } else {
                    *times += 1;
                    pending.push(function);
                }
            }
        }
        if !without.is_empty() {
            out.insert(way, LeftOut::These(without));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use interlock_model::ir::{FunctionBuilder, Resource, WriteMode};

    use super::*;
    use crate::expand::{bind::Values, summary::Summary};

    /// Functions by how many steps they have and what is put into them later.
    struct Followed(Vec<Arc<Summary<'static>>>);

    impl Followed {
        fn of(functions: &[(usize, &[u32])]) -> Self {
            let summary = |(size, later): &(usize, &[u32])| {
                let function = FunctionBuilder::new("f").body([], |b, []| {
                    b.write(Resource::File("x".into()), [], WriteMode::Blind);
                });
                let nothing = Self(vec![]);
                let summary = Summary::new(&[], &[], function.body, &Values::new(vec![]), &[], &nothing);
                Arc::new(Summary {
                    size: *size,
                    later: later.iter().copied().map(FunctionId).collect(),
                    ..summary
                })
            };
            Self(functions.iter().map(summary).collect())
        }
    }

    impl Done<'static> for Followed {
        fn done(&self, id: FunctionId) -> Option<&Arc<Summary<'static>>> {
            self.0.get(id.0 as usize)
        }
    }

    /// As many ways as given into one function of a size, the first the longest; which of them go without it.
    fn without(ways: usize, size: usize) -> Vec<u32> {
        let mut functions: Vec<(usize, &[u32])> = vec![(size, &[])];
        functions.extend((0..ways).rev().map(|more| (size + more + 1, &[0_u32][..])));
        let ids: Vec<FunctionId> = (1..).take(ways).map(FunctionId).collect();
        let out = left_out(&ids, &Followed::of(&functions));
        assert!(out.values().all(|left| left.has(FunctionId(0)) && !left.has(FunctionId(1))));
        let mut ways: Vec<u32> = out.keys().map(|way| way.0).collect();
        ways.sort_unstable();
        ways
    }

    #[test]
    fn what_is_large_is_put_into_the_shortest_ways() {
        assert!(without(MOST_WAYS, LARGE).is_empty());
        assert_eq!(without(MOST_WAYS + 2, LARGE), [1, 2]);
    }

    #[test]
    fn what_is_small_is_put_into_all_of_them() {
        assert!(without(MOST_WAYS + 2, LARGE - 1).is_empty());
    }

    #[test]
    fn what_only_leads_through_something_that_is_left_out_is_not_counted() {
        // EntryPoints into 0, which leads to 1; then one more into 1 alone.
        let mut functions: Vec<(usize, &[u32])> = vec![(LARGE, &[1]), (LARGE, &[])];
        functions.extend((0..MOST_WAYS).map(|_| (LARGE + 1, &[0_u32][..])));
        functions.extend([(LARGE + 2, &[0_u32][..]), (LARGE + 3, &[1_u32][..])]);
        let ids: Vec<FunctionId> = (2..).take(functions.len() - 2).map(FunctionId).collect();
        let mut out: Vec<_> = left_out(&ids, &Followed::of(&functions)).into_iter().collect();
        out.sort_unstable_by_key(|(way, _)| *way);
        let [(first, without), (second, either)] = &out[..] else { panic!("{out:?}") };
        assert_eq!((first.0, second.0), (10, 11));
        assert!(without.has(FunctionId(0)) && !without.has(FunctionId(1)), "what is inside goes with it");
        assert!(either.has(FunctionId(1)));
    }
}
