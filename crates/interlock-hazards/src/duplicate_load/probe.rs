//! The same question twice on a server that has not been asked before.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::set;

const MOST: usize = 6;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    // Whatever else it does, code that was seen to load twice is asked as well.
    let others = surface.writers().filter(|tool| tool.found);
    let readers = surface.readers().chain(others).take(MOST);
    let sets = readers.filter_map(|tool| {
        let call = tool.samples.first()?;
        let mut set = set(&HAZARD.id, tool, vec![call.clone(); 2]);
        // What was loaded, and how often, shows in the next answer if anywhere.
        if set.reads.is_empty() {
            set.reads = vec![call.clone()];
        }
        Some(set)
    });
    sets.collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{lines, reader, surface, writer};

    #[test]
    fn readers_are_asked_twice_at_once() {
        expect![[r#"
            list + list: {} {}
            rates + rates: {} {}
        "#]]
        .assert_eq(&lines(&probe(&surface(&[reader("list"), writer("save"), reader("rates")]))));
    }
}
