//! A session's own counter or list, changed twice at once.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::{beside_reader, counts, says, set, twice_or_more};

/// Words of tools whose state is that of whoever calls.
const SESSION: &[&str] = &[
    "session",
    "usage",
    "cart",
    "context",
    "login",
    "logout",
    "my",
    "profile",
    "quota",
    "history",
    "state",
    "conversation",
];

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let mut sets = Vec::new();
    for tool in surface.writers().filter(|tool| tool.found || (counts(tool) && says(tool, SESSION))) {
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
    fn a_sessions_counter_is_raised_twice() {
        let tools = [counter("increment_usage"), counter("bump"), writer("set_session")];
        expect![[r#"
            increment_usage + increment_usage: {} {}
            increment_usage + increment_usage + increment_usage: {} {} {}
            increment_usage + increment_usage + increment_usage + increment_usage: {} {} {} {}
            increment_usage + get_count: {} {}
        "#]]
        .assert_eq(&lines(&probe(&surface(&tools))));
    }
}
