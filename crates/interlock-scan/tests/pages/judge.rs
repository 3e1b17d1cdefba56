//! Scans cases and collects what is not as it should be, so that one run shows all of it.

use std::{
    collections::BTreeSet,
    fmt::Write,
    panic::{AssertUnwindSafe, catch_unwind},
};

use interlock_hazards::Hazard;
use interlock_model::{Finding, ir::Program};
use interlock_scan::Engine;
use interlock_testkit::cases::Case;

/// Where cases are tried.
pub(crate) struct Bench {
    engine: Engine<'static>,
    only: Option<String>,
    tried: usize,
    wrong: Vec<Wrong>,
}

/// A case that is not as it should be.
struct Wrong {
    title: String,
    /// One line each.
    what: Vec<String>,
    /// The program as the rules saw it.
    program: String,
}

/// A hazard at a line of a file.
type Place = (String, u32, String);

impl Bench {
    #[expect(
        clippy::disallowed_methods,
        reason = "whoever runs the test says in the environment which case to run"
    )]
    pub(crate) fn new() -> Self {
        Self { engine: crate::engine(), only: std::env::var("CASE").ok(), tried: 0, wrong: Vec::new() }
    }

    /// Scans a case and compares.
    pub(crate) fn try_case(&mut self, hazard: &Hazard, case: &Case) {
        let title = format!("{}: {}", hazard.id, case.name);
        if self.only.as_ref().is_some_and(|only| !title.contains(only)) {
            return;
        }
        self.tried += 1;
        let files = case.files.iter().map(|file| (file.path.clone(), file.text.clone())).collect();
        let engine = &self.engine;
        let scanned = catch_unwind(AssertUnwindSafe(|| {
            let programs = engine.programs(files);
            let findings: Vec<Finding> =
                programs.iter().cloned().flat_map(|program| engine.findings(program)).collect();
            (programs, findings)
        }));
        let (programs, findings) = match scanned {
            Ok(scanned) => scanned,
            Err(_) => {
                let what = vec!["panicked; the message is above".to_owned()];
                self.wrong.push(Wrong { title, what, program: String::new() });
                return;
            }
        };
        let what = differences(case, &findings);
        if !what.is_empty() {
            let program = programs.iter().map(Program::to_string).collect::<Vec<_>>().join("\n");
            self.wrong.push(Wrong { title, what, program });
        }
    }

    /// Fails if anything was wrong, and says what.
    pub(crate) fn finish(self) {
        let Self { tried, wrong, .. } = self;
        if wrong.is_empty() {
            return;
        }
        let mut text = format!("{} of {tried} cases are not as they should be\n", wrong.len());
        for Wrong { title, what, .. } in &wrong {
            let _ = writeln!(text, "\n{title}\n  {}", what.join("\n  "));
        }
        for Wrong { title, program, .. } in &wrong {
            let _ = writeln!(text, "\n==== {title}\n{program}");
        }
        panic!("{text}");
    }
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
    missing.chain(too_many).collect()
}

fn place(finding: &Finding) -> Place {
    (finding.location.file.clone(), finding.location.line, finding.hazard.to_string())
}
