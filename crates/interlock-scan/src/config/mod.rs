//! `interlock.toml`: what a project decides for itself.
//!
//! ```toml
//! ignore = ["vendor/", "src/legacy/*.ts"]   # patterns as in .gitignore
//! min_severity = "medium"
//! min_confidence = "medium"
//!
//! [severity]                                # per hazard; "off" leaves it out
//! lost-update = "medium"
//! retry-storm = "off"
//!
//! [deductions]                              # what a hazard takes off the score
//! lost-update = 20
//!
//! [words]                                   # added to what rules read names by
//! once = ["chit"]
//! ```
//!
//! The tables `library`, `kind` and `unknown` are the user's own models of libraries, in the form that the front ends' effects have;
//! `tools`, `builtin` and `lexicon` add to the other tables of a language.

mod parse;
mod place;

use std::{collections::BTreeMap, path::PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use interlock_model::{Confidence, Finding, HazardId, Severity};

use crate::walk::Root;

pub use self::parse::unknown_hazard;
pub(crate) use self::place::load;

/// Why a configuration is not used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("failed to read `{}`: it {why}", .path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The file is not right.
    #[error("`{}`, line {line}: {what}", .path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// Where in it.
        line: usize,
        /// What is wrong, and what would be right.
        what: String,
    },
}

/// What a project decides for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// What is not scanned, as in a `.gitignore`.
    pub(crate) ignore: Vec<String>,
    /// What is milder is not reported.
    pub(crate) min_severity: Option<Severity>,
    /// What is less sure is not reported.
    pub(crate) min_confidence: Option<Confidence>,
    /// How bad a hazard is here; `None` if it is not looked for.
    pub(crate) severity: BTreeMap<HazardId, Option<Severity>>,
    /// What a hazard takes off the score here.
    pub(crate) deductions: BTreeMap<HazardId, u8>,
    /// Words that the project adds to what rules read names by, under the names of the lists.
    pub(crate) words: BTreeMap<String, Vec<String>>,
    /// The user's models of libraries, as a TOML text of their own.
    pub(crate) models: Option<String>,
    /// The folder that the patterns are meant from, where that is not the scanned root.
    pub(crate) folder: Option<PathBuf>,
}

impl Config {
    /// What is not scanned under a root.
    pub(crate) fn ignored(&self, root: &Root) -> Gitignore {
        let mut builder = GitignoreBuilder::new(self.folder.as_deref().unwrap_or(&root.folder));
        for pattern in &self.ignore {
            // Every pattern was tried when the file was read.
            let _ = builder.add_line(None, pattern);
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }

    /// Gives a finding the severity that the project gives its hazard; whether it is still one.
    pub(crate) fn weigh(&self, finding: &mut Finding) -> bool {
        match self.severity.get(&finding.hazard) {
            None => true,
            Some(None) => false,
            Some(Some(severity)) => {
                // Where a rule found it milder than usual it stays so; else the project's word counts, up as well as down.
                let usual = interlock_hazards::find(finding.hazard.as_str()).map(|hazard| hazard.severity);
                finding.severity =
                    if usual == Some(finding.severity) { *severity } else { finding.severity.min(*severity) };
                true
            }
        }
    }
}

#[cfg(test)]
mod tests;
