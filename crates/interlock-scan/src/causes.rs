//! One function with one cause is one finding, with the lines at which it shows.
//!
//! ```text
//! save     export.ts:111  the file `out` is emptied and then filled, …          one finding: the same function, the same words, the same tools
//! save     export.ts:125  the file `out` is emptied and then filled, …          "; the same in line 125"
//! restore  export.ts:160  the file `out` is emptied and then filled, …          another function: another finding
//! ```
//!
//! What is silenced by a comment or known to a baseline is gone before, line by line, so that the next line takes its turn.

use interlock_model::Finding;

/// How many further lines are named.
const NAMED: usize = 4;

/// Leaves one finding for each function and cause: the surest, and then the first.
pub(crate) fn fold(findings: &mut Vec<Finding>) {
    let mut kept: Vec<(Finding, Vec<u32>)> = Vec::with_capacity(findings.len());
    for finding in std::mem::take(findings) {
        match kept.iter_mut().find(|(other, _)| is_same_cause(other, &finding)) {
            Some((first, lines)) if first.confidence >= finding.confidence => {
                lines.push(finding.location.line);
            }
            Some((first, lines)) => {
                lines.push(first.location.line);
                *first = finding;
            }
            None => kept.push((finding, vec![])),
        }
    }
    let told = kept.into_iter().map(|(mut finding, mut lines)| {
        lines.sort_unstable();
        lines.dedup();
        lines.retain(|line| *line != finding.location.line);
        finding.message.push_str(&further(&lines));
        finding
    });
    *findings = told.collect();
    findings.sort_by(|one, other| (&one.location, &one.hazard).cmp(&(&other.location, &other.hazard)));
}

/// The further lines, in words.
fn further(lines: &[u32]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(u32::to_string).collect();
    let more = lines.len().saturating_sub(named.len());
    let line = if lines.len() == 1 { "line" } else { "lines" };
    match named.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; the same in {line} {last}"),
        Some(_) if more > 0 => format!("; the same in {line} {} and {more} more", named.join(", ")),
        Some((last, first)) => format!("; the same in {line} {} and {last}", first.join(", ")),
    }
}

/// Whether two findings tell the same of the same function. Functions without a name that no tool leads to may be any two of a file.
fn is_same_cause(one: &Finding, other: &Finding) -> bool {
    let is_named = !one.function.ends_with(".closure") || !one.tools.is_empty();
    is_named
        && one.hardening.is_none()
        && other.hardening.is_none()
        && one.hazard == other.hazard
        && one.location.file == other.location.file
        && one.function == other.function
        && one.tools == other.tools
        && one.reach == other.reach
        && one.severity == other.severity
        && one.message == other.message
}

#[cfg(test)]
mod tests {
    use interlock_model::{Confidence, Finding, Fingerprint, Location, Reach, Remedy, Severity, Witness};

    use super::*;

    fn finding(line: u32, function: &str, tool: &str, confidence: Confidence) -> Finding {
        Finding {
            hazard: "lost-update".parse().unwrap(),
            severity: Severity::High,
            confidence,
            reach: Reach::Both,
            location: Location { file: "a.ts".into(), line, end_line: line },
            function: function.into(),
            tools: if tool.is_empty() { vec![] } else { vec![tool.into()] },
            message: "It is read and written".into(),
            witness: Witness::default(),
            remedy: Remedy { code: String::new(), policy: Vec::new(), primitive: None },
            fingerprint: Fingerprint(line.to_string()),
            hardening: None,
            proof: None,
        }
    }

    fn folded(findings: &[(u32, &str, &str, Confidence)]) -> Vec<String> {
        let made = findings.iter().map(|(line, function, tool, sure)| finding(*line, function, tool, *sure));
        let mut all: Vec<Finding> = made.collect();
        fold(&mut all);
        all.iter().map(|finding| format!("{} {}", finding.location.line, finding.message)).collect()
    }

    #[test]
    fn a_cause_in_a_function_is_told_once_with_its_lines() {
        use Confidence::{High, Medium};
        assert_eq!(
            folded(&[(1, "save", "put", High), (5, "save", "put", High), (9, "load", "put", High)]),
            ["1 It is read and written; the same in line 5", "9 It is read and written"]
        );
        assert_eq!(
            folded(&[(1, "save", "put", Medium), (5, "save", "put", High), (7, "save", "put", Medium)]),
            ["5 It is read and written; the same in lines 1 and 7"]
        );
        let many: Vec<(u32, &str, &str, Confidence)> =
            (1..=7).map(|line| (line, "save", "put", High)).collect();
        assert_eq!(folded(&many), ["1 It is read and written; the same in lines 2, 3, 4, 5 and 2 more"]);
    }

    #[test]
    fn functions_that_may_be_two_are_told_apart() {
        use Confidence::High;
        assert_eq!(folded(&[(1, "module.closure", "", High), (5, "module.closure", "", High)]).len(), 2);
        assert_eq!(folded(&[(1, "module.closure", "a", High), (5, "module.closure", "b", High)]).len(), 2);
        assert_eq!(folded(&[(1, "module.closure", "a", High), (5, "module.closure", "a", High)]).len(), 1);
    }
}
