//! A finding as a result.

use interlock_model::{Finding, Lane, WitnessStep};

use super::{ROOT, rule::level, uri, wire};
use crate::{Rule, summary};

pub(super) fn result<'f>(finding: &'f Finding, rules: &[Rule<'_>], prefix: &str) -> wire::Finding<'f> {
    let place = |location: &interlock_model::Location| physical(location, prefix);
    let steps = &finding.witness.0;
    let function = wire::Logical { fully_qualified_name: finding.function.clone(), kind: "function" };
    wire::Finding {
        rule_id: finding.hazard.as_str(),
        rule_index: Rule::position(rules, &finding.hazard),
        level: if finding.hardening.is_some() { "note" } else { level(finding.severity) },
        message: wire::Text::new(literal(&message(finding))),
        locations: [wire::Location {
            id: None,
            physical_location: place(&finding.location),
            logical_locations: if finding.function.is_empty() { Vec::new() } else { vec![function] },
            message: None,
        }],
        partial_fingerprints: wire::Fingerprints { ours: &finding.fingerprint.0 },
        code_flows: if steps.is_empty() { Vec::new() } else { vec![code_flow(finding, prefix)] },
        related_locations: (1..)
            .zip(steps)
            .map(|(number, step)| wire::Location {
                id: Some(number),
                physical_location: place(&step.location),
                logical_locations: Vec::new(),
                message: Some(wire::Text::new(literal(&format!("{}: {}", step.lane, step.step)))),
            })
            .collect(),
        properties: wire::FindingProperties {
            severity: finding.severity.name(),
            confidence: finding.confidence.name(),
            reach: finding.reach.name(),
            function: &finding.function,
            tools: &finding.tools,
            remedy: &finding.remedy.code,
            hardening: finding.hardening.is_some(),
            proof: finding
                .proof
                .as_ref()
                .map(|proof| wire::Proof { verdict: proof.verdict.name(), replay: proof.replay.as_deref() }),
        },
    }
}

/// The message, and what the live server had to say to it: viewers show little else.
fn message(finding: &Finding) -> String {
    match &finding.proof {
        Some(proof) => format!("{} ({})", finding.message, summary::proof(proof)),
        None => finding.message.clone(),
    }
}

/// One thread per call, and one for what is no call.
fn code_flow(finding: &Finding, prefix: &str) -> wire::CodeFlow {
    let threads = [Lane::A, Lane::B, Lane::X].into_iter().filter_map(|lane| {
        let steps = (1..).zip(&finding.witness.0).filter(|(_, step)| step.lane == lane);
        let locations: Vec<_> =
            steps.map(|(order, step)| thread_step(order, step, finding, prefix)).collect();
        (!locations.is_empty()).then(|| wire::ThreadFlow {
            id: lane.to_string(),
            message: wire::Text::new(literal(&lane_name(lane, finding))),
            locations,
        })
    });
    let thread_flows = threads.collect();
    wire::CodeFlow { message: wire::Text::new(literal(&finding.message)), thread_flows }
}

fn thread_step(order: usize, step: &WitnessStep, finding: &Finding, prefix: &str) -> wire::Step {
    wire::Step {
        location: wire::Location {
            id: None,
            physical_location: physical(&step.location, prefix),
            logical_locations: Vec::new(),
            message: Some(wire::Text::new(literal(&format!("{order}. {}", step.step)))),
        },
        execution_order: order,
        // The step that ends badly is the one that a viewer shall not hide.
        importance: if order == finding.witness.0.len() { "essential" } else { "important" },
    }
}

fn lane_name(lane: Lane, finding: &Finding) -> String {
    match (lane, finding.tools.first()) {
        (Lane::X, _) => "what is no call: a crash, an error, a retry, a close".to_owned(),
        (lane, Some(tool)) => format!("call {lane}: {tool}"),
        (lane, None) => format!("call {lane}"),
    }
}

fn physical(location: &interlock_model::Location, prefix: &str) -> wire::Physical {
    let start_line = location.line.max(1);
    wire::Physical {
        artifact_location: wire::Artifact {
            uri: uri::relative(&format!("{prefix}{}", location.file)),
            uri_base_id: ROOT,
        },
        region: wire::Region { start_line, end_line: location.end_line.max(start_line) },
    }
}

/// In a message of the standard `{0}` is a hole and `[a](1)` a link; both have escapes. Brackets that make no link are left alone,
/// because few viewers take the escape back.
pub(super) fn literal(text: &str) -> String {
    let linked = text.contains("](");
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '{' | '}' => out.extend([c, c]),
            '\\' | '[' | ']' if linked => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_no_holes_and_no_links() {
        assert_eq!(literal("sessions[id] is {0}"), "sessions[id] is {{0}}");
        assert_eq!(literal("[click](1)"), "\\[click\\](1)");
    }
}
