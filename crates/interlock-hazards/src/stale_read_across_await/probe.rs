//! State that nothing names, changed twice at once: a counter, a cache, a field.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::{beside_reader, counts, set, twice_or_more};

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let mut sets = Vec::new();
    for tool in surface.writers().filter(|tool| tool.found || counts(tool)) {
        sets.extend(twice_or_more(tool).into_iter().map(|calls| set(&HAZARD.id, tool, calls)));
        sets.extend(beside_reader(&HAZARD.id, tool));
    }
    sets
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{counter, lines, surface, writer};

    #[test]
    fn a_counter_is_raised_twice_and_read_meanwhile() {
        expect![[r#"
            bump + bump: {} {}
            bump + bump + bump: {} {} {}
            bump + bump + bump + bump: {} {} {} {}
            bump + get_count: {} {}
        "#]]
        .assert_eq(&lines(&probe(&surface(&[counter("bump"), writer("save")]))));
    }
}
