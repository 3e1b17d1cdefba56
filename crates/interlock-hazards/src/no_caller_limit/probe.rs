//! One caller, many calls: somebody has to be refused.

use interlock_model::{CallSet, Oracle, Surface};

use super::HAZARD;
use crate::meet::{cheapest, set};

/// More than any one agent has use for.
const FLOOD: usize = 100;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    // Whoever starts a server for himself alone can only get into his own way.
    if !surface.networked {
        return Vec::new();
    }
    // The longer a call takes, the more of them are under way at once; unless it is known in which tool nothing bounds them.
    let is_known = surface.tools.iter().any(|tool| tool.found);
    let readers =
        surface.readers().filter(|_| !is_known).filter_map(|tool| Some((tool, tool.samples.first()?)));
    let Some((tool, call)) = readers.max_by_key(|(tool, _)| tool.took).or_else(|| cheapest(surface)) else {
        return Vec::new();
    };
    let set = set(&HAZARD.id, tool, vec![call.clone(); FLOOD]);
    vec![CallSet { oracle: Oracle::SomeRefused, reads: Vec::new(), ..set }]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{lines, reader, surface, writer};

    #[test]
    fn a_networked_server_is_flooded() {
        let tools = [writer("save"), reader("list")];
        expect![[r#"
            list × 100: {} × 100 SomeRefused
        "#]]
        .assert_eq(&lines(&probe(&Surface { networked: true, ..surface(&tools) })));
        assert_eq!(probe(&surface(&tools)), []);
    }
}
