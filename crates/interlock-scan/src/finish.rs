//! What the rules found becomes what a report says: sorted, and with a fingerprint that lasts while lines above come and go.

use std::collections::HashMap;

use interlock_hazards::{Hazard, Issue};
use interlock_model::{
    Finding, Fingerprint, Hardening, Location, Remedy, Span, Witness, WitnessStep, ir::Program,
};
use sha2::{Digest, Sha256};

use crate::{
    hardening::server_of,
    remedy::{Route, remedy},
};

/// How many bytes of the hash are kept: enough that two never meet.
const KEPT: usize = 16;

/// An issue in the words of a report, without a fingerprint.
pub(crate) fn finding(program: &Program, hazard: &Hazard, issue: Issue, ways: &[Route]) -> Finding {
    let location = |span: Span| Location {
        file: program.files.get(span.file.0 as usize).map(ToString::to_string).unwrap_or_default(),
        line: span.line,
        end_line: span.end_line.max(span.line),
    };
    let witness = issue.witness.into_iter().map(|(lane, span, step)| WitnessStep {
        lane,
        location: location(span),
        step,
    });
    let mut tools: Vec<String> = issue.tools.iter().map(ToString::to_string).collect();
    tools.sort();
    tools.dedup();
    let function = program.function(issue.function).map(|function| function.name.to_string());
    let hardening =
        hazard.hardening.then(|| Hardening { server: server_of(program, issue.span), further: vec![] });
    Finding {
        hazard: hazard.id.clone(),
        severity: issue.severity.map_or(hazard.severity, |severity| severity.min(hazard.severity)),
        confidence: issue.confidence,
        reach: issue.reach,
        location: location(issue.span),
        function: function.unwrap_or_default(),
        tools,
        message: sentence(&issue.message),
        witness: Witness(witness.collect()),
        remedy: advised(remedy(hazard, ways), issue.advice),
        fingerprint: Fingerprint(String::new()),
        hardening,
        proof: None,
    }
}

/// What to do, in the words of the rule where it has some of its own.
fn advised(remedy: Remedy, advice: Option<&str>) -> Remedy {
    match advice {
        Some(advice) => Remedy { code: advice.to_owned(), ..remedy },
        None => remedy,
    }
}

/// With a capital letter in front: a message starts with what it is about, which is called something else in the middle of one.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Sorts findings, and what goes with each, by file, line and hazard, and names each. `line` is the text of a line.
pub(crate) fn finish<'t, T>(findings: &mut [(Finding, T)], line: impl Fn(&str, u32) -> Option<&'t str>) {
    findings.sort_by(|(one, _), (other, _)| key(one).cmp(&key(other)));
    let mut seen: HashMap<String, u32> = HashMap::new();
    for (finding, _) in findings {
        let text = line(&finding.location.file, finding.location.line).unwrap_or_default();
        let identity =
            [finding.hazard.as_str(), &finding.location.file, &finding.function, &normalised(text)];
        let identity = identity.join("\0");
        let occurrence = seen.entry(identity.clone()).or_default();
        finding.fingerprint = fingerprint(&identity, *occurrence);
        *occurrence += 1;
    }
}

/// The order of a report. Everything is in it, so that two runs agree.
fn key(finding: &Finding) -> impl Ord + use<'_> {
    let Finding { location, hazard, function, message, .. } = finding;
    (&location.file, location.line, hazard, location.end_line, function, message)
}

/// A line without what a formatter changes.
fn normalised(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn fingerprint(identity: &str, occurrence: u32) -> Fingerprint {
    let mut hash = Sha256::new();
    hash.update(identity.as_bytes());
    hash.update(b"\0");
    hash.update(occurrence.to_le_bytes());
    let hash = hash.finalize();
    let digits = hash.iter().take(KEPT).flat_map(|byte| [byte >> 4, byte & 0xf]);
    Fingerprint(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect())
}

#[cfg(test)]
mod tests {
    use interlock_model::{Confidence, Location, Reach, Severity, Witness};

    use super::*;

    fn finding(line: u32) -> Finding {
        Finding {
            hazard: "lost-update".parse().unwrap(),
            severity: Severity::High,
            confidence: Confidence::High,
            reach: Reach::Both,
            location: Location { file: "a.ts".into(), line, end_line: line },
            function: "add".into(),
            tools: Vec::new(),
            message: String::new(),
            witness: Witness::default(),
            remedy: Remedy { code: String::new(), policy: Vec::new(), primitive: None },
            fingerprint: Fingerprint(String::new()),
            hardening: None,
            proof: None,
        }
    }

    fn prints(text: &str, lines: &[u32]) -> Vec<String> {
        let mut findings: Vec<(Finding, ())> = lines.iter().map(|line| (finding(*line), ())).collect();
        finish(&mut findings, |_, line| text.lines().nth(line as usize - 1));
        findings.into_iter().map(|(finding, ())| finding.fingerprint.0).collect()
    }

    #[test]
    fn a_fingerprint_outlives_lines_above_and_a_formatter() {
        let before = prints("load();\nsave();", &[1]);
        assert_eq!(before, prints("// more\n\n   load();  \nsave();", &[3]));
        assert_ne!(before, prints("load(2);", &[1]));
        assert_eq!(before[0].len(), 2 * KEPT);
    }

    #[test]
    fn equal_lines_of_one_function_are_told_apart_by_their_order() {
        let two = prints("load();\nload();", &[2, 1]);
        assert_ne!(two[0], two[1]);
        assert_eq!(two[0], prints("load();", &[1])[0]);
    }

    #[test]
    fn a_fingerprint_never_changes_between_versions() {
        // Baselines hold them; whoever changes this breaks every baseline there is.
        assert_eq!(prints("load();", &[1]), ["f19dbc8326c4fcd5da001356e22fd360"]);
    }
}
