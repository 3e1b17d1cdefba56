//! Scans of commits, each made once.

use std::{
    collections::HashMap,
    path::{self, Path, PathBuf},
    process::Command,
    rc::Rc,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::checkout;

/// A finding, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) hazard: String,
    /// The line of the finding first, then those of its witness.
    pub(super) places: Vec<(String, u32)>,
}

/// Where checkouts are, and what was found in them.
pub(super) struct Scans {
    folder: PathBuf,
    program: PathBuf,
    done: HashMap<(String, String), Rc<Vec<Finding>>>,
    /// Commits are taken out into a folder of the target folder's disk, one at a time.
    work: PathBuf,
}

impl Scans {
    pub(super) fn new(folder: &Path, program: PathBuf) -> Result<Self> {
        ensure!(folder.is_dir(), "there is no folder {}", folder.display());
        // What runs elsewhere would look for them there.
        let (folder, program) = (path::absolute(folder)?, path::absolute(program)?);
        let work = program.parent().context("the program is in no folder")?.join("corpus");
        Ok(Self { folder, program, done: HashMap::new(), work })
    }

    /// The checkout of a repository; `None` if it is not there.
    pub(super) fn checkout(&self, repository: &str) -> Option<PathBuf> {
        checkout::find(&self.folder, repository)
    }

    /// What the program finds in a commit, with default flags.
    pub(super) fn of(&mut self, checkout: &Path, repository: &str, commit: &str) -> Result<Rc<Vec<Finding>>> {
        let key = (repository.to_owned(), commit.to_owned());
        if let Some(done) = self.done.get(&key) {
            return Ok(Rc::clone(done));
        }
        let into = self.work.join(format!("{}-{commit}", repository.replace('/', "+")));
        let _ = std::fs::remove_dir_all(&into);
        std::fs::create_dir_all(&into)?;
        checkout::take_out(checkout, commit, &into)?;
        let findings = Rc::new(self.scan(&into)?);
        std::fs::remove_dir_all(&into)?;
        self.done.insert(key, Rc::clone(&findings));
        Ok(findings)
    }

    fn scan(&self, folder: &Path) -> Result<Vec<Finding>> {
        let output = Command::new(&self.program).args(["scan", "--format", "json"]).arg(folder).output();
        let output = output.with_context(|| format!("{} could not be started", self.program.display()))?;
        ensure!(
            matches!(output.status.code(), Some(0 | 1 | 3)),
            "the scan failed ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let report: Value = serde_json::from_slice(&output.stdout).context("the scan printed no JSON")?;
        findings(&report).context("the scan printed JSON of another form")
    }
}

fn findings(report: &Value) -> Option<Vec<Finding>> {
    let place = |value: &Value| {
        Some((value.get("file")?.as_str()?.to_owned(), u32::try_from(value.get("line")?.as_u64()?).ok()?))
    };
    let finding = |value: &Value| {
        let witness = value.get("witness")?.as_array()?.iter().map(place);
        let places = std::iter::once(place(value)).chain(witness).collect::<Option<Vec<_>>>()?;
        Some(Finding { hazard: value.get("hazard")?.as_str()?.to_owned(), places })
    };
    report.get("findings")?.as_array()?.iter().map(finding).collect()
}
