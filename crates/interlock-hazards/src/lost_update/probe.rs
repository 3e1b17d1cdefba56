//! Two calls of one writer that say different things: of both changes, one must not be gone.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::{different, set};

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    surface
        .writers()
        .flat_map(|tool| different(tool).into_iter().map(|calls| set(&HAZARD.id, tool, calls)))
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{lines, reader, surface, writer};

    #[test]
    fn a_writer_meets_itself_on_two_things_and_on_one() {
        expect![[r#"
            save + save: {"id":"a","text":"one"} {"id":"b","text":"one"}
            save + save: {"id":"a","text":"one"} {"id":"a","text":"two"}
            save + save + save: {"id":"a","text":"one"} {"id":"a","text":"two"} {"id":"b","text":"one"}
        "#]]
        .assert_eq(&lines(&probe(&surface(&[writer("save"), reader("list")]))));
    }
}
