//! `cargo xtask tidy`: what the compiler does not check and nobody should have to remember. One file per check; a check returns
//! what is wrong and what is only worth knowing, and the loop here does all the talking.

mod edges;
mod layers;
mod lengths;
mod manifests;
mod opening;
mod paths;
mod prose;
mod purity;
mod strip;
mod versions;

use anyhow::{Context, Result, bail};

use crate::{root::Root, workspace::Workspace};

/// One check.
struct Check {
    name: &'static str,
    run: fn(&Workspace) -> Result<Report>,
}

/// What a check found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    /// Each of these fails the run.
    problems: Vec<Problem>,
    /// Printed, and nothing more.
    remarks: Vec<String>,
}

/// Something that is wrong, at a place.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    file: String,
    line: usize,
    text: String,
}

/// The checks. Adding one is one file and one line.
const CHECKS: &[Check] = &[
    Check { name: "edges", run: edges::check },
    Check { name: "manifests", run: manifests::check },
    Check { name: "purity", run: purity::check },
    Check { name: "opening", run: opening::check },
    Check { name: "prose", run: prose::check },
    Check { name: "lengths", run: lengths::check },
    Check { name: "versions", run: versions::check },
];

impl Problem {
    fn new(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, text: text.into() }
    }
}

impl From<Vec<Problem>> for Report {
    fn from(problems: Vec<Problem>) -> Self {
        Self { problems, remarks: Vec::new() }
    }
}

/// Runs all checks and prints what they found.
pub(crate) fn run(root: &Root) -> Result<()> {
    let workspace = Workspace::open(root)?;
    let mut problems = 0;
    for check in CHECKS {
        let report =
            (check.run)(&workspace).with_context(|| format!("the check `{}` could not run", check.name))?;
        print!("{}", told(check.name, &report));
        problems += report.problems.len();
    }
    if problems > 0 {
        bail!("tidy found {problems} {}", if problems == 1 { "problem" } else { "problems" });
    }
    Ok(())
}

fn told(name: &str, report: &Report) -> String {
    let mut lines = Vec::new();
    if report.problems.is_empty() {
        lines.push(format!("tidy {name}: ok"));
    } else {
        lines.push(format!("tidy {name}: FAILED"));
        lines.extend(
            report
                .problems
                .iter()
                .map(|problem| format!("{}:{}: {}", problem.file, problem.line, problem.text)),
        );
    }
    lines.extend(report.remarks.iter().map(|remark| format!("  {remark}")));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_without_problems_says_ok_and_its_remarks() {
        let report = Report { problems: Vec::new(), remarks: vec!["by the way".to_owned()] };
        assert_eq!(told("lengths", &report), "tidy lengths: ok\n  by the way\n");
    }

    #[test]
    fn a_problem_is_printed_as_file_line_text() {
        let report = Report::from(vec![Problem::new("a/b.rs", 7, "is wrong")]);
        assert_eq!(told("edges", &report), "tidy edges: FAILED\na/b.rs:7: is wrong\n");
    }
}
