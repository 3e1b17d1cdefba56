//! The closing words, the same in every format for people.

use interlock_model::{Grade, Proof, Rating, Report, Severity, Verdict};

use crate::clean;

/// The score and what it is made of: `score 70 of 100, grade C: 2 findings (1 critical, 1 high), 1 of them proven`; or why there is none:
/// `no findings; not graded: no tool was found`.
pub(crate) fn verdict(report: &Report) -> String {
    let count =
        |severity: Severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    let kinds: Vec<String> = Severity::ALL
        .iter()
        .rev()
        .map(|severity| (count(*severity), severity))
        .filter(|(count, _)| *count > 0)
        .map(|(count, severity)| format!("{count} {severity}"))
        .collect();
    let findings = match report.findings.len() {
        0 => "no findings".to_owned(),
        number => format!("{} ({})", counted(number, "finding"), kinds.join(", ")),
    };
    let proven =
        report.findings.iter().filter(|finding| finding.proof.as_ref().is_some_and(is_proven)).count();
    let proven = if proven == 0 { String::new() } else { format!(", {proven} of them proven") };
    match &report.rating {
        Rating::Score(score) => {
            format!("score {score} of 100, grade {}: {findings}{proven}", Grade::of(*score))
        }
        Rating::NotGraded(why) => format!("{findings}{proven}; not graded: {}", clean::line(why)),
    }
}

/// Whether the live server was seen to break.
fn is_proven(proof: &Proof) -> bool {
    matches!(proof.verdict, Verdict::Broken | Verdict::Latent)
}

/// What the live server had to say to a finding.
pub(crate) fn proof(proof: &Proof) -> &'static str {
    match proof.verdict {
        Verdict::Broken => "found and proven: broken on the live server",
        Verdict::Latent => {
            "found and proven: latent, it breaks when what the runtime keeps in order is reordered"
        }
        Verdict::Held => "not proven: it held on the live server",
        Verdict::Unknown => "not proven: unknown on the live server",
    }
}

/// What the score rests on: `looked at 12 files, 240 functions and 9 tool handlers`.
pub(crate) fn coverage(report: &Report) -> String {
    let coverage = &report.coverage;
    let [files, functions, handlers] =
        [(coverage.files, "file"), (coverage.functions, "function"), (coverage.handlers, "tool handler")]
            .map(|(number, noun)| counted(number, noun));
    format!("looked at {files}, {functions} and {handlers}")
}

/// A number and its noun.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}
