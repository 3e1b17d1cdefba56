//! Answers that are written at the same time.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::set;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    // Four different answers on one stream: what one writer splits, another gets in between.
    let calls: Vec<_> = surface.readers().filter_map(|tool| tool.samples.first()).take(4).cloned().collect();
    let Some(first) = surface.readers().next().filter(|_| calls.len() > 1) else { return Vec::new() };
    vec![CallSet { reads: Vec::new(), ..set(&HAZARD.id, first, calls) }]
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
