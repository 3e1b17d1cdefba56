//! A file is written over while another reads it, or the writer is killed: what is there must be the old or the new.

use interlock_model::{CallSet, Fault, Surface, ToolSurface};

use super::HAZARD;
use crate::meet::{called_reads, is_about_files, moments, set};

/// How many moments of a call the server is killed in.
const MOMENTS: u32 = 2;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let mut sets = Vec::new();
    let about_files = |tool: &&ToolSurface| {
        (tool.found || is_about_files(tool)) && tool.once.is_none() && !tool.reads.is_empty()
    };
    for tool in surface.writers().filter(about_files) {
        let [old, new, ..] = tool.samples.as_slice() else { continue };
        let over = |calls: Vec<_>| {
            let mut set = set(&HAZARD.id, tool, calls);
            // What is written over must be there.
            set.setup.push(old.clone());
            set
        };
        sets.extend(
            called_reads(tool).next().map(|read| over(vec![new.clone(), read.clone(), read.clone()])),
        );
        let killed = |after| CallSet { fault: Fault::Kill { after }, ..over(vec![new.clone()]) };
        sets.extend(moments(tool, MOMENTS).map(killed));
    }
    sets
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::PlannedCall;
    use serde_json::json;

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

    #[test]
    fn what_only_the_folder_shows_is_cut_off_and_meets_no_reader() {
        let reads = vec![PlannedCall::new("scratch:", json!({}))];
        expect![[r#"
            save_report: {"id":"a","text":"two"} after 1 calls kill after 5ms
            save_report: {"id":"a","text":"two"} after 1 calls kill after 15ms
        "#]]
        .assert_eq(&lines(&probe(&surface(&[ToolSurface { reads, ..writer("save_report") }]))));
    }
}
