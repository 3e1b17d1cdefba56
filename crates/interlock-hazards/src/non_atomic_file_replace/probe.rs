//! A file is written over while another reads it, or the writer is killed: what is there must be the old or the new.

use interlock_model::{CallSet, Fault, Surface};

use super::HAZARD;
use crate::meet::{is_about_files, moments, set};

/// How many moments of a call the server is killed in.
const MOMENTS: u32 = 2;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let mut sets = Vec::new();
    for tool in surface.writers().filter(|tool| (tool.found || is_about_files(tool)) && tool.once.is_none()) {
        let ([old, new, ..], Some(read)) = (tool.samples.as_slice(), tool.reads.first()) else { continue };
        let over = |calls: Vec<_>| {
            let mut set = set(&HAZARD.id, tool, calls);
            // What is written over must be there.
            set.setup.push(old.clone());
            set
        };
        sets.push(over(vec![new.clone(), read.clone(), read.clone()]));
        let killed = |after| CallSet { fault: Fault::Kill { after }, ..over(vec![new.clone()]) };
        sets.extend(moments(tool, MOMENTS).map(killed));
    }
    sets
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{lines, surface, writer};

    #[test]
    fn a_file_is_read_while_it_is_written_over() {
        expect![[r#"
            save_report + get + get: {"id":"a","text":"two"} {"id":"a"} {"id":"a"} after 1 calls
            save_report: {"id":"a","text":"two"} after 1 calls kill after 5ms
            save_report: {"id":"a","text":"two"} after 1 calls kill after 15ms
        "#]]
        .assert_eq(&lines(&probe(&surface(&[writer("save_report"), writer("save_note")]))));
    }
}
