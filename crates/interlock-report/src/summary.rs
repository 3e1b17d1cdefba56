//! The closing words, the same in every format for people.

use interlock_model::{Finding, Grade, Listed, Loss, Proof, Rating, Report, Severity, Verdict};

use crate::clean;

/// So many further places are named; the machine-readable formats have all of them.
const PLACES: usize = 3;

/// The score and what it is made of: `score 70 of 100, grade C: 2 findings (1 critical, 1 high), 1 of them proven`; or why there is none:
/// `no findings; not graded: no tool was found`.
///
/// What is of low confidence is no part of it, as it is none of the score.
pub(crate) fn verdict(report: &Report) -> String {
    let (hardening, races): (Vec<&Finding>, Vec<&Finding>) =
        report.counted().partition(|finding| finding.hardening.is_some());
    let count = |severity: Severity| races.iter().filter(|finding| finding.severity == severity).count();
    let kinds: Vec<String> = Severity::ALL
        .iter()
        .rev()
        .map(|severity| (count(*severity), severity))
        .filter(|(count, _)| *count > 0)
        .map(|(count, severity)| format!("{count} {severity}"))
        .collect();
    let findings = match races.len() {
        0 => "no findings".to_owned(),
        number => format!("{} ({})", counted(number, "finding"), kinds.join(", ")),
    };
    let advice = match hardening.len() {
        0 => String::new(),
        number => format!(", {} to harden", counted(number, "place")),
    };
    let proven = report.counted().filter(|finding| finding.proof.as_ref().is_some_and(is_proven)).count();
    let proven = if proven == 0 { String::new() } else { format!(", {proven} of them proven") };
    match &report.rating {
        Rating::Score(score) => {
            format!("score {score} of 100, grade {}: {findings}{proven}{advice}", Grade::of(*score))
        }
        Rating::NotGraded(why) => format!("{findings}{proven}{advice}; not graded: {}", clean::line(why)),
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

/// What is said against a hardening, with the other places of the same server: `Bound the tries. The same at b.ts:7 and c.ts:31`.
pub(crate) fn bound(finding: &Finding) -> String {
    let further =
        finding.hardening.as_ref().map(|hardening| hardening.further.as_slice()).unwrap_or_default();
    let named: Vec<String> = further.iter().take(PLACES).map(ToString::to_string).collect();
    let more = further.len().saturating_sub(PLACES);
    let places = match (named.as_slice(), more) {
        ([], _) => return finding.remedy.code.clone(),
        (named, 1..) => format!("{} and {more} more", named.join(", ")),
        ([before @ .., last], 0) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        (named, 0) => named.join(", "),
    };
    format!("{} The same at {places}.", finding.remedy.code)
}

/// What the score rests on: `looked at 12 files and 240 functions; 8 of 9 tools followed to the end`.
pub(crate) fn coverage(report: &Report) -> String {
    let coverage = &report.coverage;
    let [files, functions] = [(coverage.files, "file"), (coverage.functions, "function")]
        .map(|(number, noun)| counted(number, noun));
    let tools = match coverage.handlers {
        0 => "no tool was found".to_owned(),
        all => format!("{} of {} followed to the end", coverage.followed(), counted(all, "tool")),
    };
    let listed = coverage.listed.as_ref().map(|listed| format!("; {}", compared(listed))).unwrap_or_default();
    format!("looked at {files} and {functions}; {tools}{listed}")
}

/// What the running server lists: `the server lists 9 tools, and 1 of them was not found in the sources: zap`.
fn compared(listed: &Listed) -> String {
    let lists = format!("the server lists {}", counted(listed.tools, "tool"));
    let names = |names: &[String]| clean::line(&names.join(", "));
    let missed = match listed.missed.len() {
        0 => "all of them were found in the sources".to_owned(),
        1 => format!("1 of them was not found in the sources: {}", names(&listed.missed)),
        many => format!("{many} of them were not found in the sources: {}", names(&listed.missed)),
    };
    let unlisted = match listed.unlisted.len() {
        0 => String::new(),
        1 => format!("; 1 that was found is not listed: {}", names(&listed.unlisted)),
        many => format!("; {many} that were found are not listed: {}", names(&listed.unlisted)),
    };
    format!("{lists}, and {missed}{unlisted}")
}

/// Where the analysis lost its way, a line for each tool that was not followed to the end.
pub(crate) fn lost(report: &Report) -> Vec<String> {
    let tools = report.coverage.tools.iter().filter(|tool| !tool.followed);
    tools.map(|tool| format!("{}: {}", tool.name, places(&tool.lost))).collect()
}

/// The first place, and how many more there are.
fn places(lost: &[Loss]) -> String {
    let Some(first) = lost.first() else {
        return "the server lists it, and it was not found in the sources".to_owned();
    };
    match lost.len().saturating_sub(1) {
        0 => first.to_string(),
        more => format!("{first}, and {} more", counted(more, "place")),
    }
}

/// What is said of the findings that are not shown: one line, or none.
pub(crate) fn folded(report: &Report) -> Option<String> {
    let number = report.findings.len() - report.counted().count();
    let (are, they) = if number == 1 { ("is", "it counts") } else { ("are", "they count") };
    (number > 0).then(|| {
        format!(
            "{} of low confidence {are} not shown: {they} neither for the score nor for the exit code; `--all` shows \
             what is only assumed to be reached",
            counted(number, "finding")
        )
    })
}

/// A number and its noun.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}
