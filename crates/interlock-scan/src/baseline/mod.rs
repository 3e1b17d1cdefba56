//! The findings that a project has already: known, counted, and not reported again.
//!
//! The file is for people too: sorted, one entry per finding, with what it is and where.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use interlock_model::{Finding, Fingerprint};
use serde::{Deserialize, Serialize};

use crate::write::{self, WriteError};

/// Why a baseline is not used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("failed to read the baseline `{}`: {}", .path.display(), .source.kind())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is something else.
    #[error("`{}` is no baseline, so it was left alone: {why}", .path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The file cannot be written.
    #[error("failed to write the baseline")]
    Unwritten(#[from] WriteError),
}

/// The version of the file that we write, and the only one that we read.
const VERSION: u32 = 1;
/// The largest file that is read.
const LARGEST: u64 = 64 << 20;

/// A baseline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Baseline(BTreeMap<Fingerprint, Entry>);

/// What a person wants to know of a finding that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    hazard: String,
    file: String,
    function: String,
    fingerprint: String,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

impl Baseline {
    /// The baseline of some findings.
    pub(crate) fn of(findings: &[Finding]) -> Self {
        let entry = |finding: &Finding| Entry {
            hazard: finding.hazard.to_string(),
            file: finding.location.file.clone(),
            function: finding.function.clone(),
            fingerprint: finding.fingerprint.0.clone(),
        };
        Self(findings.iter().map(|finding| (finding.fingerprint.clone(), entry(finding))).collect())
    }

    /// Reads one.
    pub(crate) fn read(path: &Path) -> Result<Self, BaselineError> {
        let unreadable = |source| BaselineError::Unreadable { path: path.to_owned(), source };
        let invalid = |why: String| BaselineError::Invalid { path: path.to_owned(), why };
        let metadata = fs::metadata(path).map_err(unreadable)?;
        if !metadata.is_file() || metadata.len() > LARGEST {
            return Err(invalid("it is too large, or no file".to_owned()));
        }
        let bytes = fs::read(path).map_err(unreadable)?;
        let document: Document =
            serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        if document.version != VERSION {
            return Err(invalid(format!(
                "its version is {}, and this program knows {VERSION}",
                document.version
            )));
        }
        let entries = document.findings.into_iter();
        Ok(Self(entries.map(|entry| (Fingerprint(entry.fingerprint.clone()), entry)).collect()))
    }

    /// Writes it in one step. A file that is there already must be a baseline: anything else was named by mistake.
    pub(crate) fn write(&self, path: &Path) -> Result<(), BaselineError> {
        match Self::read(path) {
            Ok(_) => {}
            Err(BaselineError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        write::replace(path, self.text().as_bytes())?;
        Ok(())
    }

    fn text(&self) -> String {
        let mut findings: Vec<Entry> = self.0.values().cloned().collect();
        findings.sort_by(|one, other| key(one).cmp(&key(other)));
        let document = Document { version: VERSION, findings };
        // Text and numbers always have a form in JSON.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }

    /// Whether a finding is known.
    pub(crate) fn knows(&self, finding: &Finding) -> bool {
        self.0.contains_key(&finding.fingerprint)
    }

    /// Forgets what is no longer found; how many that were.
    pub(crate) fn prune(&mut self, findings: &[Finding]) -> usize {
        let found: BTreeSet<&Fingerprint> = findings.iter().map(|finding| &finding.fingerprint).collect();
        let before = self.0.len();
        self.0.retain(|fingerprint, _| found.contains(fingerprint));
        before - self.0.len()
    }

    /// How many findings it knows.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

fn key(entry: &Entry) -> impl Ord + use<'_> {
    (&entry.file, &entry.hazard, &entry.function, &entry.fingerprint)
}

#[cfg(test)]
mod tests;
