//! Calls on one key and on another, several of each: a lock that is dropped while somebody waits for it guards nothing.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::{set, twice_or_more};

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let sets = surface.writers().filter_map(|tool| {
        let [one, two, ..] = tool.samples.as_slice() else { return None };
        let mut calls = vec![one.clone(), two.clone(), one.clone()];
        calls.extend(tool.others.first().cloned());
        Some(set(&HAZARD.id, tool, calls))
    });
    // A lock that was seen to guard nothing shows with fewer calls, which have fewer orders.
    let found = surface.writers().filter(|tool| tool.found);
    let few =
        found.flat_map(|tool| twice_or_more(tool).into_iter().map(|calls| set(&HAZARD.id, tool, calls)));
    few.chain(sets).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{counter, lines, surface, writer};

    #[test]
    fn three_calls_of_one_key_and_one_of_another_meet() {
        expect![[r#"
            save + save + save + save: {"id":"a","text":"one"} {"id":"a","text":"two"} {"id":"a","text":"one"} {"id":"b","text":"one"}
        "#]].assert_eq(&lines(&probe(&surface(&[writer("save"), counter("bump")]))));
    }
}
