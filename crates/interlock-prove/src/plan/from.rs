//! From what a scan has found to what should be called.

use interlock_hazards::find;
use interlock_model::{CallSet, Effectful, Fingerprint, HazardId, Surface};

use super::pick::{arrange, of};

/// What a scan says of one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which hazard.
    pub hazard: HazardId,
    /// The tools through which a caller reaches it.
    pub tools: Vec<String>,
    /// What recognises the finding.
    pub fingerprint: Fingerprint,
}

/// The sets for a scan's findings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FromScan {
    /// Each set with the findings that it would show.
    pub sets: Vec<(CallSet, Vec<Fingerprint>)>,
    /// Findings that no call can show, each with the reason.
    pub left_out: Vec<(Fingerprint, String)>,
}

/// Of each finding's hazard the probe, on the finding's tools only.
#[must_use]
pub fn sets(findings: &[Found], surface: &Surface) -> FromScan {
    let mut from = FromScan::default();
    let mut wanted: Vec<(CallSet, Fingerprint)> = Vec::new();
    for finding in findings {
        match for_one(finding, surface) {
            Ok(sets) => wanted.extend(sets.into_iter().map(|set| (set, finding.fingerprint.clone()))),
            Err(why) => from.left_out.push((finding.fingerprint.clone(), why)),
        }
    }
    for set in arrange(wanted.iter().map(|(set, _)| set.clone()).collect(), surface) {
        // The same calls may show several findings: the load and the save of one file, from two hazards' sides.
        let of_set = wanted.iter().filter(|(other, _)| {
            other.calls == set.calls && other.fault == set.fault && other.oracle == set.oracle
        });
        let mut fingerprints: Vec<Fingerprint> = of_set.map(|(_, fingerprint)| fingerprint.clone()).collect();
        fingerprints.sort();
        fingerprints.dedup();
        from.sets.push((set, fingerprints));
    }
    from
}

fn for_one(finding: &Found, surface: &Surface) -> Result<Vec<CallSet>, String> {
    let hazard =
        find(finding.hazard.as_str()).ok_or_else(|| format!("there is no hazard `{}`", finding.hazard))?;
    if hazard.probe.is_none() {
        return Err(format!("calls cannot show `{}`", finding.hazard));
    }
    if finding.tools.is_empty() {
        return Err("no tool reaches it".into());
    }
    let its = |name: &str| finding.tools.iter().any(|tool| tool == name);
    let tools: Vec<_> = surface.tools.iter().filter(|tool| its(&tool.name)).cloned().collect();
    if tools.is_empty() {
        return Err(format!("none of its tools may be called: {}", finding.tools.join(", ")));
    }
    let restricted = Surface { tools, ..surface.clone() };
    let mut sets = of(hazard, &restricted);
    if sets.is_empty() {
        // The code says that the tool writes; that no read-back was found does not mean that it does not.
        let mut as_writers = restricted.clone();
        for tool in as_writers.tools.iter_mut().filter(|tool| !tool.samples.is_empty()) {
            tool.effect = Effectful::Writes;
        }
        sets = of(hazard, &as_writers);
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
        ];
        let from = sets(&findings, &surface);
        let mut text = String::new();
        for (set, fingerprints) in &from.sets {
            text += &format!(
                "{}: {:?}\n",
                set.name,
                fingerprints.iter().map(|print| &print.0).collect::<Vec<_>>()
            );
        }
        for (fingerprint, why) in &from.left_out {
            text += &format!("{}: {why}\n", fingerprint.0);
        }
        expect![[r#"
            save + save: ["one", "two"]
            note + note: ["three"]
            four: no call of broken is known that would show it
            five: calls cannot show `retry-storm`
            six: none of its tools may be called: elsewhere
            seven: no tool reaches it
        "#]]
        .assert_eq(&text);
    }
}
