//! What `interlock scan` reports of a folder, as far as the commands that measure it compare.

use std::{
    path::{Path, PathBuf, absolute},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{bench::release_program, root::Root, run::cargo};

/// The answer of one scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    /// What the scan says it left out or did not understand.
    pub(crate) notes: Vec<String>,
    /// The tools that it found, and of each whether it was followed to its end.
    pub(crate) tools: Vec<(String, bool)>,
    /// `None` where the scan gives none.
    pub(crate) grade: Option<String>,
}

/// A finding, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) hazard: String,
    pub(crate) confidence: String,
    /// The tools that lead there, by name.
    pub(crate) tools: Vec<String>,
    /// The line of the finding first, then those of its witness.
    pub(crate) places: Vec<(String, u32)>,
}

/// The program to run: the one that is given, or a release build of this tree, made now.
pub(crate) fn program(root: &Root, given: Option<&Path>) -> Result<PathBuf> {
    if let Some(program) = given {
        // What runs elsewhere would look for it there.
        return Ok(absolute(program)?);
    }
    cargo(root, &["build", "--release", "--locked", "--package", "interlock"])?;
    Ok(release_program(root, "interlock")?.into())
}

/// Scans a folder with default flags.
pub(crate) fn scan(program: &Path, folder: &Path) -> Result<Report> {
    let output = Command::new(program).args(["scan", "--format", "json"]).arg(folder).output();
    let output = output.with_context(|| format!("{} could not be started", program.display()))?;
    ensure!(
        matches!(output.status.code(), Some(0 | 1 | 3)),
        "the scan failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let report: Value = serde_json::from_slice(&output.stdout).context("the scan printed no JSON")?;
    read(&report).context("the scan printed JSON of another form")
}

fn read(report: &Value) -> Option<Report> {
    let place = |value: &Value| {
        Some((value.get("file")?.as_str()?.to_owned(), u32::try_from(value.get("line")?.as_u64()?).ok()?))
    };
    let words = |value: &Value| -> Option<Vec<String>> {
        value.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect()
    };
    let finding = |value: &Value| {
        let witness = value.get("witness")?.as_array()?.iter().map(place);
        let places = std::iter::once(place(value)).chain(witness).collect::<Option<Vec<_>>>()?;
        Some(Finding {
            hazard: value.get("hazard")?.as_str()?.to_owned(),
            confidence: value.get("confidence")?.as_str()?.to_owned(),
            tools: words(value.get("tools")?)?,
            places,
        })
    };
    let findings = report.get("findings")?.as_array()?.iter().map(finding).collect::<Option<Vec<_>>>()?;
    let coverage = report.get("coverage")?;
    let tool =
        |value: &Value| Some((value.get("name")?.as_str()?.to_owned(), value.get("followed")?.as_bool()?));
    Some(Report {
        findings,
        notes: words(coverage.get("notes")?)?,
        tools: coverage.get("tools")?.as_array()?.iter().map(tool).collect::<Option<Vec<_>>>()?,
        grade: report.get("grade")?.as_str().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_finding_is_read_with_the_lines_of_its_witness() {
        let value = json!({
            "grade": null,
            "coverage": { "notes": ["left out: a"], "tools": [{ "name": "add", "followed": true }] },
            "findings": [{
                "hazard": "lost-update", "confidence": "high", "tools": ["add"], "file": "a.ts", "line": 3,
                "witness": [{ "file": "b.ts", "line": 4 }],
            }],
        });
        let report = read(&value).unwrap();
        assert_eq!(report.notes, ["left out: a"]);
        assert_eq!((report.tools, report.grade), (vec![("add".to_owned(), true)], None));
        let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
        assert_eq!(finding.places, [("a.ts".to_owned(), 3), ("b.ts".to_owned(), 4)]);
        assert_eq!(finding.tools, ["add"]);
        assert_eq!(read(&json!({ "findings": [] })), None, "a report without coverage is none");
    }
}
