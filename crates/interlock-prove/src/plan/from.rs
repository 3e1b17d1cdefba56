//! From what a scan has found to what should be called.

use interlock_hazards::find;
use interlock_model::{CallSet, Effectful, Fault, Fingerprint, HazardId, Oracle, Reach, Surface};

use super::pick::{arrange, of, same};
use crate::files::in_processes;

/// What a scan says of one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which hazard.
    pub hazard: HazardId,
    /// The tools through which a caller reaches it.
    pub tools: Vec<String>,
    /// Who can come in between.
    pub reach: Reach,
    /// What recognises the finding.
    pub fingerprint: Fingerprint,
}

/// The sets for a scan's findings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FromScan {
    /// Each set with the findings that it would show.
    pub sets: Vec<(CallSet, Vec<Found>)>,
    /// Findings that no call can show, each with the reason.
    pub left_out: Vec<(Fingerprint, String)>,
}

/// Of each finding's hazard the probe, as far as it calls one of the finding's tools. Tools that were left alone are named apart from those that
/// the server does not have.
#[must_use]
pub fn sets(findings: &[Found], surface: &Surface, left_alone: &[String]) -> FromScan {
    let mut from = FromScan::default();
    let mut wanted: Vec<(CallSet, &Found)> = Vec::new();
    for finding in findings {
        match for_one(finding, surface, left_alone) {
            Ok(sets) => wanted.extend(sets.into_iter().map(|set| (set, finding))),
            Err(why) => from.left_out.push((finding.fingerprint.clone(), why)),
        }
    }
    for set in arrange(wanted.iter().map(|(set, _)| set.clone()).collect(), surface) {
        // The same calls may show several findings: the load and the save of one file, from two hazards' sides.
        let of_set = wanted.iter().filter(|(other, _)| same(other, &set));
        let mut found: Vec<Found> = of_set.map(|(_, finding)| (*finding).clone()).collect();
        found.sort_by(|one, other| one.fingerprint.cmp(&other.fingerprint));
        found.dedup();
        from.sets.push((set, found));
    }
    from
}

fn for_one(finding: &Found, surface: &Surface, left_alone: &[String]) -> Result<Vec<CallSet>, String> {
    let hazard =
        find(finding.hazard.as_str()).ok_or_else(|| format!("there is no hazard `{}`", finding.hazard))?;
    if hazard.probe.is_none() {
        return Err(format!("calls cannot show `{}`", finding.hazard));
    }
    if finding.tools.is_empty() {
        return Err("no tool reaches it".into());
    }
    let its = |name: &str| finding.tools.iter().any(|tool| tool == name);
    if !surface.tools.iter().any(|tool| its(&tool.name)) {
        let tools = finding.tools.join(", ");
        return Err(if finding.tools.iter().any(|tool| left_alone.contains(tool)) {
            format!(
                "its tools look destructive, so they are not called: {tools}; --allow-destructive calls them"
            )
        } else {
            format!("the server has none of its tools: {tools}")
        });
    }
    let showing = |surface: &Surface| -> Vec<CallSet> {
        let mut sets = of(hazard, surface);
        sets.retain(|set| set.calls.iter().any(|call| its(&call.tool)));
        sets
    };
    let mut known = surface.clone();
    for tool in known.tools.iter_mut().filter(|tool| its(&tool.name)) {
        tool.found = true;
    }
    // Its own tools come first: some probes have an end to what they pick.
    known.tools.sort_by_key(|tool| !tool.found);
    let mut sets = showing(&known);
    if sets.is_empty() {
        // The code says that the tool writes; that no read-back was found does not mean that it does not.
        for tool in known.tools.iter_mut().filter(|tool| tool.found && !tool.samples.is_empty()) {
            tool.effect = Effectful::Writes;
        }
        sets = showing(&known);
    }
    if finding.reach == Reach::CrossProcess {
        // Calls to one process do not come between there; what is left of one that is cut off does not depend on who else is running.
        let may_meet = |set: &CallSet| {
            let is_pair = set.oracle == Oracle::Serial && set.calls.len() == 2;
            set.fault != Fault::None || (is_pair && !surface.networked)
        };
        sets.retain(may_meet);
        sets = sets
            .into_iter()
            .map(|set| if set.fault == Fault::None { in_processes(set) } else { set })
            .collect();
        if sets.is_empty() {
            return Err(
                "only another process can come in between, which calls to one server do not show".into()
            );
        }
    }
    if sets.is_empty() {
        return Err(format!("no call of {} is known that would show it", finding.tools.join(", ")));
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::{PlannedCall, ToolSurface};
    use serde_json::json;

    use super::*;

    fn tool(name: &str, effect: Effectful, samples: usize) -> ToolSurface {
        let call = |text: usize| PlannedCall::new(name, json!({"id": "a", "text": text}));
        ToolSurface {
            name: name.into(),
            effect,
            samples: (0..samples).map(call).collect(),
            things: vec!["a".into()],
            ..ToolSurface::default()
        }
    }

    fn found(hazard: &str, tools: &[&str], fingerprint: &str) -> Found {
        Found {
            hazard: hazard.parse().unwrap(),
            tools: tools.iter().map(ToString::to_string).collect(),
            reach: Reach::Both,
            fingerprint: Fingerprint(fingerprint.into()),
        }
    }

    #[test]
    fn a_finding_becomes_the_calls_that_would_show_it() {
        let tools = vec![
            tool("save", Effectful::Writes, 2),
            tool("note", Effectful::Unknown, 2),
            tool("broken", Effectful::Unknown, 0),
        ];
        let surface = Surface { tools, ..Surface::default() };
        let findings = [
            found("lost-update", &["save"], "one"),
            found("lost-update", &["save"], "two"),
            found("lost-update", &["note"], "three"),
            found("lost-update", &["broken"], "four"),
            found("retry-storm", &["save"], "five"),
            found("lost-update", &["elsewhere"], "six"),
            found("lost-update", &[], "seven"),
            found("lost-update", &["drop"], "eight"),
            Found { reach: Reach::CrossProcess, ..found("file-check-then-act", &["save"], "nine") },
        ];
        let from = sets(&findings, &surface, &["drop".to_owned()]);
        let mut text = String::new();
        for (set, found) in &from.sets {
            text += &format!(
                "{}: {:?}\n",
                set.name,
                found.iter().map(|found| &found.fingerprint.0).collect::<Vec<_>>()
            );
        }
        for (fingerprint, why) in &from.left_out {
            text += &format!("{}: {why}\n", fingerprint.0);
        }
        expect![[r#"
            save + save: ["one", "two"]
            note + note: ["three"]
            save + save, in two processes: ["nine"]
            save + save, in two processes: ["nine"]
            four: no call of broken is known that would show it
            five: calls cannot show `retry-storm`
            six: the server has none of its tools: elsewhere
            seven: no tool reaches it
            eight: its tools look destructive, so they are not called: drop; --allow-destructive calls them
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn whatever_a_tool_is_called_what_was_found_in_it_has_its_calls() {
        let read = PlannedCall::new("look", json!({"id": "a"}));
        let writer = ToolSurface { reads: vec![read], ..tool("frob", Effectful::Writes, 2) };
        let other = tool("grob", Effectful::Writes, 2);
        let surface = Surface { tools: vec![other, writer], ..Surface::default() };
        let hazards = interlock_hazards::ALL.iter().filter(|hazard| hazard.probe.is_some());
        // One needs a network, one a limit, which is nobody's tool, and one a call that is refused.
        let elsewhere = ["no-caller-limit", "non-atomic-rate-limit", "lock-not-released"];
        for hazard in hazards.filter(|hazard| !elsewhere.contains(&hazard.id.as_str())) {
            let from = sets(&[found(hazard.id.as_str(), &["frob"], "one")], &surface, &[]);
            assert!(!from.sets.is_empty(), "{}: {:?}", hazard.id, from.left_out);
            for (set, _) in &from.sets {
                assert!(set.calls.iter().any(|call| call.tool == "frob"), "{}: {}", hazard.id, set.name);
            }
        }
    }
}
