//! Scans a case and says what is not as it should be.

use std::collections::BTreeSet;

use interlock_model::{Finding, ir::Program};
use interlock_scan::Engine;
use interlock_testkit::cases::Case;
use libtest_mimic::Failed;

/// A hazard at a line of a file.
type Place = (String, u32, String);

/// Scans a case and compares. What is wrong comes with the program as it was before calls were inlined.
pub(crate) fn judge(engine: &Engine<'_>, case: &Case) -> Result<(), Failed> {
    let files = case.files.iter().map(|file| (file.path.clone(), file.text.clone())).collect();
    let programs = engine.programs(files);
    let shown: Vec<String> = programs.iter().map(Program::to_string).collect();
    let findings: Vec<Finding> = programs.into_iter().flat_map(|program| engine.findings(program)).collect();
    let wrong = differences(case, &findings);
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n  {}\n\n{}", case.name, wrong.join("\n  "), shown.join("\n")).into())
}

/// What is missing and what is too much.
fn differences(case: &Case, findings: &[Finding]) -> Vec<String> {
    let marked = case.files.iter().flat_map(|file| {
        file.marks
            .iter()
            .map(|mark| (file.path.clone(), u32::try_from(mark.line).unwrap_or(0), mark.hazard.clone()))
    });
    let marked: BTreeSet<Place> = marked.collect();
    let reported: BTreeSet<Place> = findings.iter().map(place).collect();
    let line = |(file, line, _): &Place| {
        let file = case.files.iter().find(|one| one.path == *file);
        let line = (*line as usize).checked_sub(1).and_then(|line| file?.text.lines().nth(line));
        line.unwrap_or_default().trim().to_owned()
    };
    let show = |what: &str, place: &Place| {
        let (file, number, hazard) = place;
        format!("{what} {hazard} at {file}:{number}: {}", line(place))
    };
    let missing = marked.difference(&reported).map(|place| show("missing", place));
    let too_many = reported.difference(&marked).filter(|(_, _, hazard)| !case.also.contains(hazard));
    let too_many = too_many.map(|place| {
        let message =
            findings.iter().find(|finding| self::place(finding) == *place).map(|finding| &*finding.message);
        format!("{}\n      ({})", show("too much:", place), message.unwrap_or_default())
    });
    let of_marked = |finding: &&Finding| marked.contains(&place(finding));
    let surer = findings.iter().filter(of_marked).filter_map(|finding| {
        let wanted = case.confidence.as_deref()?;
        let is = finding.confidence.to_string();
        (is != wanted)
            .then(|| format!("{} is {is} instead of {wanted}", show("confidence:", &place(finding))))
    });
    missing.chain(too_many).chain(surer).collect()
}

fn place(finding: &Finding) -> Place {
    (finding.location.file.clone(), finding.location.line, finding.hazard.to_string())
}
