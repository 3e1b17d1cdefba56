//! A change of several things, looked at or cut off in the middle.

use interlock_model::{CallSet, Fault, Surface};

use super::HAZARD;
use crate::meet::{beside_reader, called_reads, moments, set};

/// How many moments of a call the server is killed in, each a set of its own.
const MOMENTS: u32 = 8;
const MOST: usize = 4;

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let mut sets: Vec<CallSet> =
        surface.writers().filter_map(|tool| beside_reader(&HAZARD.id, tool)).collect();
    // What two tools show was changed in two steps, or might have been. That the server's folder shows it as well says nothing of steps.
    let several = surface
        .writers()
        .filter(|tool| tool.found || called_reads(tool).nth(1).is_some())
        .filter(|_| !surface.networked)
        .take(MOST);
    for tool in several {
        let Some(call) = tool.samples.first() else { continue };
        let killed =
            |after| CallSet { fault: Fault::Kill { after }, ..set(&HAZARD.id, tool, vec![call.clone()]) };
        sets.extend(moments(tool, MOMENTS).map(killed));
    }
    sets
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::{PlannedCall, ToolSurface};
    use serde_json::json;

    use super::*;
    use crate::meet::kit::{lines, surface, writer};

    #[test]
    fn what_shows_in_two_places_is_cut_off_in_the_middle() {
        let reads = ["a", "b"].map(|id| PlannedCall::new("get", json!({"id": id}))).to_vec();
        let transfer = ToolSurface { reads, ..writer("transfer") };
        expect![[r#"
            save + get: {"id":"a","text":"one"} {"id":"a"}
            transfer + get: {"id":"a","text":"one"} {"id":"a"}
            transfer: {"id":"a","text":"one"} kill after 1.25ms
            transfer: {"id":"a","text":"one"} kill after 3.75ms
            transfer: {"id":"a","text":"one"} kill after 6.25ms
            transfer: {"id":"a","text":"one"} kill after 8.75ms
            transfer: {"id":"a","text":"one"} kill after 11.25ms
            transfer: {"id":"a","text":"one"} kill after 13.75ms
            transfer: {"id":"a","text":"one"} kill after 16.25ms
            transfer: {"id":"a","text":"one"} kill after 18.75ms
        "#]]
        .assert_eq(&lines(&probe(&surface(&[writer("save"), transfer]))));
    }

    #[test]
    fn that_the_folder_shows_a_change_too_is_no_second_place() {
        let folder = || PlannedCall::new("scratch:", json!({}));
        let reads = vec![PlannedCall::new("get", json!({"id": "a"})), folder()];
        let save = ToolSurface { reads, ..writer("save") };
        let log = ToolSurface { reads: vec![folder()], ..writer("log") };
        expect![[r#"
            save + get: {"id":"a","text":"one"} {"id":"a"}
        "#]]
        .assert_eq(&lines(&probe(&surface(&[save, log]))));
    }
}
