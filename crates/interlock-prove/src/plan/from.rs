//! From what a scan has found to what should be called.

use interlock_hazards::find;
use interlock_model::{
    CallSet, Confidence, Effectful, Fault, Finding, Fingerprint, HazardId, Lane, Location, Oracle,
    RaceWindow, Reach, Surface, Witness,
};

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
    /// How sure the scan is.
    pub confidence: Confidence,
    /// Where a call has looked and not yet acted.
    pub windows: Vec<RaceWindow>,
}

impl Found {
    /// What a proof wants to know of a finding.
    #[must_use]
    pub fn of(finding: &Finding) -> Self {
        Self {
            hazard: finding.hazard.clone(),
            tools: finding.tools.clone(),
            reach: finding.reach,
            fingerprint: finding.fingerprint.clone(),
            confidence: finding.confidence,
            windows: windows(&finding.witness),
        }
    }
}

/// More lines than this between two steps are two places, and no window.
const LONGEST_WINDOW: u32 = 60;
/// More windows of one finding are not held.
const MOST_WINDOWS: usize = 8;

/// The lines from each step of the call that suffers to its next one; the last step is what it does, behind the window. A step in another
/// function or file than the next is a window of its own.
fn windows(witness: &Witness) -> Vec<RaceWindow> {
    let steps: Vec<&Location> =
        witness.0.iter().filter(|step| step.lane == Lane::A).map(|step| &step.location).collect();
    let mut windows: Vec<RaceWindow> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let next = steps.get(at + 1);
        if next.is_none() && at > 0 {
            break;
        }
        let until = next.filter(|next| next.file == step.file).map(|next| next.line.saturating_sub(1));
        let until =
            until.filter(|line| (step.line..=step.line.saturating_add(LONGEST_WINDOW)).contains(line));
        let last =
            until.unwrap_or(step.line).max(step.end_line.min(step.line.saturating_add(LONGEST_WINDOW)));
        let window = RaceWindow { file: step.file.clone(), first: step.line, last };
        if !windows.contains(&window) && windows.len() < MOST_WINDOWS {
            windows.push(window);
        }
    }
    windows
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
    use interlock_model::{PlannedCall, ToolSurface, WitnessStep};
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
            confidence: Confidence::High,
            windows: Vec::new(),
        }
    }

    #[test]
    fn a_window_reaches_from_a_step_to_the_next_one_of_the_same_call() {
        let step = |lane: Lane, file: &str, line: u32, end_line: u32| WitnessStep {
            lane,
            location: Location { file: file.into(), line, end_line },
            step: String::new(),
        };
        let told = |steps: Vec<WitnessStep>| {
            let words = |window: &RaceWindow| format!("{}:{}-{}", window.file, window.first, window.last);
            windows(&Witness(steps)).iter().map(words).collect::<Vec<_>>().join(" ")
        };
        let (a, b) = (Lane::A, Lane::B);
        let same =
            vec![step(a, "x.ts", 7, 7), step(b, "x.ts", 7, 7), step(b, "x.ts", 9, 9), step(a, "x.ts", 9, 9)];
        assert_eq!(told(same), "x.ts:7-8");
        assert_eq!(told(vec![step(a, "x.ts", 7, 7), step(a, "y.ts", 9, 9)]), "x.ts:7-7", "in two files");
        assert_eq!(told(vec![step(a, "x.ts", 90, 90), step(a, "x.ts", 9, 9)]), "x.ts:90-90", "further up");
        assert_eq!(told(vec![step(a, "x.ts", 9, 9), step(a, "x.ts", 900, 900)]), "x.ts:9-9", "far away");
        assert_eq!(told(vec![step(a, "x.ts", 7, 7), step(a, "x.ts", 7, 7)]), "x.ts:7-7", "in one line");
        assert_eq!(told(vec![step(a, "x.ts", 7, 12)]), "x.ts:7-12", "one step alone");
        assert_eq!(told(vec![step(b, "x.ts", 7, 7)]), "");
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
