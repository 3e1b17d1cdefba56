//! Answers that are written at the same time.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::set;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    // A tool that was seen to write past the others meets itself.
    let found = surface.tools.iter().filter(|tool| tool.found && !tool.samples.is_empty());
    let mut sets: Vec<CallSet> = found
        .flat_map(|tool| {
            let all: Vec<_> = tool.samples.iter().chain(&tool.others).cycle().take(4).cloned().collect();
            [2, 4].map(|count| set(&HAZARD.id, tool, all.iter().take(count).cloned().collect()))
        })
        .collect();
    // Four different answers on one stream: what one writer splits, another gets in between.
    let calls: Vec<_> = surface.readers().filter_map(|tool| tool.samples.first()).take(4).cloned().collect();
    let Some(first) = surface.readers().next().filter(|_| calls.len() > 1) else { return sets };
    sets.push(CallSet { reads: Vec::new(), ..set(&HAZARD.id, first, calls) });
    sets
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{lines, reader, surface};

    #[test]
    fn several_readers_answer_at_once() {
        expect![[r#"
            list + show: {} {}
        "#]]
        .assert_eq(&lines(&probe(&surface(&[reader("list"), reader("show")]))));
        assert_eq!(probe(&surface(&[reader("list")])), []);
    }
}
