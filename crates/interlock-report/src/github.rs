//! Workflow commands of GitHub Actions: one annotation per finding, on the lines that it is about.

use std::cmp::Reverse;

use interlock_model::{Finding, Report, Severity};

use crate::{Rule, clean, command, summary};

/// Writes a report. `prefix` is what leads from the root of the repository to the scanned root, with a slash at its end, or nothing.
///
/// GitHub shows only the first few annotations of a step, so the worst come first. `all` says whether findings of low confidence have
/// one too, or are only counted.
#[must_use]
pub fn write(report: &Report, rules: &[Rule<'_>], prefix: &str, all: bool) -> String {
    let mut findings: Vec<&Finding> =
        report.findings.iter().filter(|finding| all || finding.counts()).collect();
    findings.sort_by_key(|finding| (finding.hardening.is_some(), Reverse(finding.severity)));
    let mut out: String = findings.into_iter().map(|finding| annotation(finding, rules, prefix)).collect();
    let mut words = vec![summary::verdict(report), summary::coverage(report)];
    words.extend(summary::folded(report).filter(|_| !all));
    let words = words.join("\n");
    out.push_str(&format!("::notice title=Interlock::{}\n", message(&words)));
    out
}

fn annotation(finding: &Finding, rules: &[Rule<'_>], prefix: &str) -> String {
    let command = match finding.severity {
        _ if finding.hardening.is_some() => "notice",
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "notice",
    };
    let location = &finding.location;
    let title = Rule::headline(rules, &finding.hazard, str::to_owned);
    format!(
        "::{command} file={},line={},endLine={},title={}::{}\n",
        property(&format!("{prefix}{}", location.file)),
        location.line,
        location.end_line.max(location.line),
        property(&title),
        message(&words(finding)),
    )
}

/// What happened, the interleaving, and what to do, as lines.
fn words(finding: &Finding) -> String {
    let mut lines = vec![clean::line(&finding.message)];
    for (number, step) in (1..).zip(&finding.witness.0) {
        let location = clean::line(&step.location.to_string());
        lines.push(format!("{number}. {} {} ({location})", step.lane, clean::line(&step.step)));
    }
    if !finding.tools.is_empty() {
        lines.push(format!("Reached by {}.", clean::line(&finding.tools.join(", "))));
    }
    if let Some(proof) = &finding.proof {
        let replay = proof.replay.as_deref().map(|file| format!("; {}", clean::line(&command::replay(file))));
        lines.push(format!("{}{}", summary::proof(proof), replay.unwrap_or_default()));
    }
    lines.push(clean::line(&summary::bound(finding)));
    lines.join("\n")
}

/// Text behind the `::`, where only a new line could begin another command.
fn message(text: &str) -> String {
    escaped(text, &[])
}

/// The value of a property, which a comma or a colon would end.
fn property(text: &str) -> String {
    escaped(text, &[':', ','])
}

/// GitHub takes back the escapes of just these characters. Everything else that acts is spelled out, because the log shows it.
fn escaped(text: &str, more: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' | '\r' | '\n' => out.push_str(&format!("%{:02X}", u32::from(c))),
            c if more.contains(&c) => out.push_str(&format!("%{:02X}", u32::from(c))),
            c if clean::is_harmful(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_cannot_end_its_property_nor_the_command() {
        assert_eq!(property("a,line=1::b\r\n%0A\u{1b}"), "a%2Cline=1%3A%3Ab%0D%0A%250A\\u{1b}");
    }

    #[test]
    fn a_message_keeps_its_colons_and_its_lines() {
        assert_eq!(message("a: b\nc, 100%"), "a: b%0Ac, 100%25");
    }
}
