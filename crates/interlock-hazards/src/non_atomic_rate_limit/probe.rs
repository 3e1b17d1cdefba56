//! More calls at once than one after another may succeed.

use interlock_model::{CallSet, Oracle, Surface};

use super::HAZARD;
use crate::meet::{cheapest, set};

/// As many as anybody sets for a tool that a person uses; for a known limit, twice that.
const USUAL: usize = 12;
const MOST: usize = 200;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let Some((tool, call)) = cheapest(surface) else { return Vec::new() };
    let count = surface.limit.map_or(USUAL, |limit| (limit * 2).clamp(USUAL, MOST));
    let set = set(&HAZARD.id, tool, vec![call.clone(); count]);
    vec![CallSet { oracle: Oracle::NoMoreThanSerial, reads: Vec::new(), ..set }]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{lines, reader, surface, writer};

    #[test]
    fn twice_as_many_calls_as_are_allowed_come_at_once() {
        let limited = Surface { limit: Some(20), ..surface(&[writer("save"), reader("list")]) };
        expect![[r#"
            list × 40: {} × 40 NoMoreThanSerial
        "#]]
        .assert_eq(&lines(&probe(&limited)));
        expect![[r#"
            list × 12: {} × 12 NoMoreThanSerial
        "#]]
        .assert_eq(&lines(&probe(&surface(&[reader("list")]))));
        assert_eq!(probe(&Surface::default()), []);
    }
}
