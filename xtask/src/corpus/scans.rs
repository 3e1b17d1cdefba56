//! Scans of commits, each made once.

use std::{
    collections::HashMap,
    path::{self, Path, PathBuf},
    rc::Rc,
};

use anyhow::{Context, Result, ensure};

use crate::{
    checkout,
    report::{self, Finding},
};

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
        let findings = Rc::new(report::scan(&self.program, &into)?.findings);
        std::fs::remove_dir_all(&into)?;
        self.done.insert(key, Rc::clone(&findings));
        Ok(findings)
    }
}
