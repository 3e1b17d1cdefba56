//! The few questions that git is asked. The repository is not trusted: nothing that it configures is run where git lets us say so.

use std::{
    collections::HashSet,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    thread,
};

use super::SinceError;

/// Variables that would make git speak about another repository.
const ELSEWHERE: &[&str] =
    &["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS"];

/// How much of git's complaints is read.
const COMPLAINT: u64 = 4096;

/// Whether the folder is in a repository that knows the commit.
pub(super) fn repository(root: &Path, reference: &str) -> Result<(), SinceError> {
    let inside = ask(root, &["rev-parse", "--is-inside-work-tree"])?;
    if !inside {
        return Err(SinceError::NoRepository(reference.to_owned()));
    }
    let commit = format!("{reference}^{{commit}}");
    if ask(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])? {
        Ok(())
    } else {
        Err(SinceError::Unknown(reference.to_owned()))
    }
}

/// Lets `read` read the difference between a commit and the working tree, with paths relative to `root`.
pub(super) fn diff<T>(
    root: &Path,
    reference: &str,
    read: impl FnOnce(&mut dyn BufRead) -> io::Result<T>,
) -> Result<T, SinceError> {
    let options = [
        "diff",
        "--unified=0",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--relative",
        "--find-renames",
        "--ignore-submodules=all",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        reference,
        "--",
    ];
    run(root, &options, read)
}

/// The files under `root` that git does not know and is not told to ignore.
pub(super) fn untracked(root: &Path) -> Result<HashSet<String>, SinceError> {
    run(root, &["ls-files", "--others", "--exclude-standard", "-z"], |output| {
        let names = output.split(0).collect::<Result<Vec<_>, _>>()?;
        Ok(names.into_iter().filter_map(|name| String::from_utf8(name).ok()).collect())
    })
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(root).stdin(Stdio::null());
    for variable in ELSEWHERE {
        command.env_remove(variable);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    command.args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=true", "--no-pager"]).args(arguments);
    command
}

fn ask(root: &Path, arguments: &[&str]) -> Result<bool, SinceError> {
    let status = command(root, arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(status.map_err(SinceError::NoGit)?.success())
}

fn run<T>(
    root: &Path,
    arguments: &[&str],
    read: impl FnOnce(&mut dyn BufRead) -> io::Result<T>,
) -> Result<T, SinceError> {
    let child = command(root, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(SinceError::NoGit)?;
    // Read beside the output, so that git never waits for one of us while we wait for the other.
    let complaints = child.stderr.take().map(|stderr| thread::spawn(move || complaint(stderr)));
    let answer = child.stdout.take().map(|output| read(&mut BufReader::new(output)));
    let status = child.wait().map_err(SinceError::NoGit)?;
    if !status.success() {
        let said = complaints.and_then(|thread| thread.join().ok()).unwrap_or_default();
        return Err(SinceError::Failed(said));
    }
    match answer {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(error)) => Err(SinceError::Failed(error.to_string())),
        None => Err(SinceError::Failed("it gave no output".to_owned())),
    }
}

fn complaint(mut stderr: impl Read) -> String {
    let mut said = Vec::new();
    let _ = Read::take(&mut stderr, COMPLAINT).read_to_end(&mut said);
    let _ = io::copy(&mut stderr, &mut io::sink());
    String::from_utf8_lossy(&said).trim().to_owned()
}
