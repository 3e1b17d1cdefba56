//! The same call at once: what there is only once is taken or made twice.

use interlock_model::{CallSet, Surface, ToolSurface};

use super::HAZARD;
use crate::meet::{copies, counts, is_about_files, set};

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let mut sets = Vec::new();
    for tool in surface.writers() {
        match (&tool.once, tool.samples.first()) {
            (Some(once), _) if is_left(tool) || !tool.samples.contains(once) => {
                sets.extend(copies(once).map(|calls| set(&HAZARD.id, tool, calls)));
            }
            // It succeeds again and again one after another; whether it does so right is seen together all the same.
            (None, Some(sample)) if tool.found || (is_left(tool) && !counts(tool)) => {
                sets.extend(copies(sample).map(|calls| set(&HAZARD.id, tool, calls)));
            }
            _ => {}
        }
    }
    sets
}

/// Whether no probe for files takes it.
fn is_left(tool: &ToolSurface) -> bool {
    tool.found || !is_about_files(tool)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{call, counter, lines, surface, writer};

    #[test]
    fn what_succeeds_once_is_asked_for_twice_and_more() {
        let spend = ToolSurface { once: Some(call("spend", "a", "everything")), ..writer("spend") };
        expect![[r#"
            spend + spend: {"id":"a","text":"everything"} {"id":"a","text":"everything"}
            spend + spend + spend: {"id":"a","text":"everything"} {"id":"a","text":"everything"} {"id":"a","text":"everything"}
            spend + spend + spend + spend: {"id":"a","text":"everything"} {"id":"a","text":"everything"} {"id":"a","text":"everything"} {"id":"a","text":"everything"}
            create + create: {"id":"a","text":"one"} {"id":"a","text":"one"}
            create + create + create: {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"}
            create + create + create + create: {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"} {"id":"a","text":"one"}
        "#]].assert_eq(&lines(&probe(&surface(&[spend, writer("create")]))));
    }

    #[test]
    fn files_and_counters_are_left_to_others() {
        assert_eq!(probe(&surface(&[writer("write_file"), counter("bump")])), []);
    }
}
