//! Which lines have changed since a commit, as git tells it: those of the working tree, files that git does not know yet included.

mod diff;
mod git;

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use interlock_model::{Finding, Location};

/// Why it is not known what has changed.
#[derive(Debug, thiserror::Error)]
pub enum SinceError {
    /// What looks like an option is never passed on.
    #[error("`{0}` is no commit: its name begins with a hyphen")]
    Option(String),
    /// There is no git.
    #[error("failed to run git, which --since needs")]
    NoGit(#[source] std::io::Error),
    /// The scanned folder is in no repository.
    #[error("the scanned folder is in no git repository, so nothing can be told since `{0}`")]
    NoRepository(String),
    /// The repository does not know the commit.
    #[error("the repository knows no commit `{0}`; in a shallow clone, fetch it first")]
    Unknown(String),
    /// Something else.
    #[error("git failed: {0}")]
    Failed(String),
}

/// The lines that have changed, by file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// First and last line of each stretch, sorted.
    lines: HashMap<String, Vec<(u32, u32)>>,
    /// Files that are new as a whole.
    new: HashSet<String>,
}

/// Asks git what has changed under `root` since `reference`.
pub(crate) fn changed(root: &Path, reference: &str) -> Result<Changed, SinceError> {
    if reference.starts_with('-') || reference.is_empty() {
        return Err(SinceError::Option(reference.to_owned()));
    }
    git::repository(root, reference)?;
    let lines = git::diff(root, reference, diff::read)?;
    let new = git::untracked(root)?;
    Ok(Changed { lines, new })
}

impl Changed {
    /// Whether a finding touches what has changed: its place, or a step of its witness.
    pub(crate) fn touches(&self, finding: &Finding) -> bool {
        let witness = finding.witness.0.iter().map(|step| &step.location);
        witness.chain([&finding.location]).any(|location| self.has(location))
    }

    fn has(&self, location: &Location) -> bool {
        let stretches = self.lines.get(&location.file).map(Vec::as_slice).unwrap_or_default();
        let meets = |(first, last): &(u32, u32)| *first <= location.end_line && location.line <= *last;
        self.new.contains(&location.file) || stretches.iter().any(meets)
    }
}

#[cfg(test)]
mod tests;
