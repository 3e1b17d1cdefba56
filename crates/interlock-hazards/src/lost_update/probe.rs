//! Two calls of one writer that say different things, or of two writers about different things: of both changes, one must not be gone.

use interlock_model::{CallSet, PlannedCall, Surface, ToolSurface};

use super::HAZARD;
use crate::meet::{different, pair, set};

pub(super) fn probe(surface: &Surface) -> Vec<CallSet> {
    let with_itself = surface
        .writers()
        .flat_map(|tool| different(tool).into_iter().map(|calls| set(&HAZARD.id, tool, calls)));
    let with_others =
        surface.writers().filter(|tool| is_alone(tool, surface)).filter_map(|tool| beside(tool, surface));
    with_itself.chain(with_others).collect()
}

/// Whether nothing else lets a tool meet a call about another thing: it speaks of one thing only, or of what no other writer speaks of.
fn is_alone(tool: &ToolSurface, surface: &Surface) -> bool {
    let mut others = surface.writers().filter(|other| other.name != tool.name);
    tool.others.is_empty() || !others.any(|other| shares(other, tool))
}

fn shares(one: &ToolSurface, other: &ToolSurface) -> bool {
    one.things.iter().any(|thing| other.things.contains(thing))
}

/// A call of one writer beside a call of another writer with another key: if both keys are in one file or object that is written back whole,
/// the later write undoes the earlier one. A writer that needs no set-up comes first.
fn beside(tool: &ToolSurface, surface: &Surface) -> Option<CallSet> {
    let about_another = |other: &'_ ToolSurface| -> Option<PlannedCall> {
        let sample = other.samples.first().filter(|_| !shares(other, tool));
        other.others.first().or(sample).cloned()
    };
    let others = surface.writers().filter(|other| other.name != tool.name);
    let mut others: Vec<(&ToolSurface, PlannedCall)> =
        others.filter_map(|other| Some((other, about_another(other)?))).collect();
    others.sort_by_key(|(other, _)| other.setup.len());
    let (other, second) = others.first()?;
    Some(pair(&HAZARD.id, (tool, tool.samples.first()?), (*other, second)))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::meet::kit::{call, lines, reader, surface, writer};

    #[test]
    fn a_writer_meets_itself_on_two_things_and_on_one() {
        expect![[r#"
            save + save: {"id":"a","text":"one"} {"id":"b","text":"one"}
            save + save: {"id":"a","text":"one"} {"id":"a","text":"two"}
            save + save + save: {"id":"a","text":"one"} {"id":"a","text":"two"} {"id":"b","text":"one"}
        "#]]
        .assert_eq(&lines(&probe(&surface(&[writer("save"), reader("list")]))));
    }

    #[test]
    fn what_speaks_of_one_thing_only_meets_another_writer_on_another() {
        let done = ToolSurface {
            samples: vec![call("complete", "a", "one")],
            others: Vec::new(),
            setup: vec![call("create", "a", "one")],
            ..writer("complete")
        };
        expect![[r#"
            create + create: {"id":"a","text":"one"} {"id":"b","text":"one"}
            create + create: {"id":"a","text":"one"} {"id":"a","text":"two"}
            create + create + create: {"id":"a","text":"one"} {"id":"a","text":"two"} {"id":"b","text":"one"}
            complete + create: {"id":"a","text":"one"} {"id":"b","text":"one"} after 1 calls
        "#]]
        .assert_eq(&lines(&probe(&surface(&[writer("create"), done]))));
    }

    #[test]
    fn tools_that_share_no_thing_meet_each_other_all_the_same() {
        let tagged = ToolSurface { things: vec!["t".into()], ..writer("tag") };
        let met: Vec<String> =
            probe(&surface(&[writer("create"), tagged])).iter().map(|set| set.name.clone()).collect();
        assert!(
            met.contains(&"create + tag".to_owned()) && met.contains(&"tag + create".to_owned()),
            "{met:?}"
        );
        let met = probe(&surface(&[writer("create"), writer("drop")]));
        assert!(
            met.iter().all(|set| set.calls.iter().all(|call| call.tool == set.calls[0].tool)),
            "others pair them"
        );
    }
}
