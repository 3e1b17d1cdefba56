//! What an audit left in its folder.

use std::{collections::BTreeMap, fs::File, io::Read, path::Path};

use serde::Deserialize;

use super::child::report_name;
use crate::jobs::{Form, Report, compress};

/// What is known without the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) score: Option<u8>,
    pub(super) grade: Option<String>,
    pub(super) findings: BTreeMap<String, u32>,
}

/// The parts of a JSON report that the summary is made of.
#[derive(Deserialize)]
struct Log {
    subjects: Vec<Subject>,
}

#[derive(Deserialize)]
struct Subject {
    scan: Option<Scan>,
    /// What the report tells; findings that it holds back as too unsure are not among them.
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Scan {
    score: Option<u8>,
    grade: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    severity: Option<String>,
}

/// Reads the reports.
pub(super) fn read(folder: &Path, longest: u64) -> Result<(Report, Summary), String> {
    let mut report = Report::new();
    let mut summary = Summary::default();
    for form in Form::ALL {
        let name = report_name(form);
        let mut text = Vec::new();
        let file = File::open(folder.join(&name)).map_err(|_| "the audit left no report".to_owned())?;
        file.take(longest + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
        if text.len() as u64 > longest {
            return Err(format!("the report is larger than {} MiB", longest >> 20));
        }
        if form == Form::Json {
            let log: Log = serde_json::from_slice(&text)
                .map_err(|error| format!("the report is not understood: {error}"))?;
            summary = log.summary();
        }
        report.insert(form, compress(&text));
    }
    Ok((report, summary))
}

impl Log {
    fn summary(self) -> Summary {
        let mut summary = Summary::default();
        for subject in self.subjects {
            if let Some(scan) = subject.scan {
                (summary.score, summary.grade) = (scan.score, scan.grade);
            }
            for severity in subject.entries.into_iter().filter_map(|entry| entry.severity) {
                *summary.findings.entry(severity).or_default() += 1;
            }
        }
        summary
    }
}
