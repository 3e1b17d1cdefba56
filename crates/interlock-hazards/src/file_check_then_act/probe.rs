//! The same file made twice at once.

use interlock_model::{CallSet, Surface};

use super::HAZARD;
use crate::meet::{copies, is_about_files, set};

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let mut sets = Vec::new();
    for tool in surface.writers().filter(|tool| tool.found || is_about_files(tool)) {
        let same: Vec<_> = tool.samples.iter().take(2).cloned().collect();
        if same.len() == 2 {
            sets.push(set(&HAZARD.id, tool, same));
        }
        sets.extend(
            tool.samples.first().into_iter().flat_map(copies).map(|calls| set(&HAZARD.id, tool, calls)),
        );
    }
    sets
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::ToolSurface;

    use super::*;
    use crate::meet::kit::{lines, surface, writer};

    #[test]
    fn a_tool_that_is_told_a_path_or_named_after_files_writes_one_file_twice() {
        let by_path = ToolSurface { things: vec!["{scratch}/a.txt".into()], ..writer("put") };
        expect![[r#"
            put + put: {"id":"a","text":"one"} {"id":"a","text":"two"}
            put + put: {"id":"a","text":"one"} {"id":"a","text":"one"}
            put + put + put: {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"}
            put + put + put + put: {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"}
            create_report + create_report: {"id":"a","text":"one"} {"id":"a","text":"two"}
            create_report + create_report: {"id":"a","text":"one"} {"id":"a","text":"one"}
            create_report + create_report + create_report: {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"}
            create_report + create_report + create_report + create_report: {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"}
        "#]].assert_eq(&lines(&probe(&surface(&[
            by_path,
            writer("create_report"),
            writer("save_note"),
        ]))));
    }
}
