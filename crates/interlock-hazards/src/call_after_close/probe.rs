//! The client goes while a call runs: it must have happened, or not.

use interlock_model::{CallSet, Fault, Surface};

use super::HAZARD;
use crate::meet::{moments, set};

/// How many moments of a call the client goes in.
const MOMENTS: u32 = 4;
const MOST: usize = 4;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    // A networked server has other clients and no end of this one that it would notice.
    let writers = surface.writers().filter(|tool| !surface.networked && !tool.reads.is_empty()).take(MOST);
    let sets = writers.flat_map(|tool| {
        let calls: Vec<_> = tool.samples.iter().take(1).chain(tool.others.iter().take(1)).cloned().collect();
        moments(tool, MOMENTS).map(move |after| CallSet {
            fault: Fault::Close { after },
            ..set(&HAZARD.id, tool, calls.clone())
        })
    });
    sets.collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{counter, lines, surface, writer};

    #[test]
    fn the_client_leaves_while_calls_are_under_way() {
        expect![[r#"
            save + save: {"id":"a","text":"one"} {"id":"b","text":"one"} close after 2.5ms
            save + save: {"id":"a","text":"one"} {"id":"b","text":"one"} close after 7.5ms
            save + save: {"id":"a","text":"one"} {"id":"b","text":"one"} close after 12.5ms
            save + save: {"id":"a","text":"one"} {"id":"b","text":"one"} close after 17.5ms
            bump: {} close after 2.5ms
            bump: {} close after 7.5ms
            bump: {} close after 12.5ms
            bump: {} close after 17.5ms
        "#]]
        .assert_eq(&lines(&probe(&surface(&[writer("save"), counter("bump")]))));
    }

    #[test]
    fn a_networked_server_is_not_left() {
        assert_eq!(probe(&Surface { networked: true, ..surface(&[writer("save")]) }), []);
    }
}
