//! Commits of a checkout, taken out into a folder without touching the checkout.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

/// Finds the checkout of `owner/name` under a folder.
pub(crate) fn find(folder: &Path, repository: &str) -> Option<PathBuf> {
    let name = repository.rsplit('/').next().unwrap_or(repository);
    let names =
        [repository.replace('/', "+"), repository.to_owned(), repository.replace('/', "-"), name.to_owned()];
    let places = names.iter().flat_map(|name| {
        let at = folder.join(name);
        [at.join("repo"), folder.join(format!("{name}.git")), at]
    });
    places.into_iter().find(|place| is_repository(place))
}

/// Whether a folder is a working copy or a bare repository.
pub(crate) fn is_repository(place: &Path) -> bool {
    place.join(".git").exists() || place.join("HEAD").is_file() && place.join("objects").is_dir()
}

/// Writes the files of a commit into an empty folder.
pub(crate) fn take_out(repository: &Path, commit: &str, into: &Path) -> Result<()> {
    let index = into.with_extension("index");
    let git = |arguments: &[&str]| {
        let mut git = git(repository, arguments);
        git.env("GIT_INDEX_FILE", &index);
        git
    };
    let read = git(&["read-tree", commit]).status().context("git could not be started")?;
    ensure!(read.success(), "{} does not know the commit {commit}", repository.display());
    let found = git(&["rev-parse", "--absolute-git-dir"]).output()?;
    let git_folder = String::from_utf8(found.stdout).context("the path of the repository is no UTF-8")?;
    let mut take = Command::new("git");
    take.current_dir(into).arg(format!("--git-dir={}", git_folder.trim_end())).arg("--work-tree=.");
    take.args(["checkout-index", "--all", "--quiet", "--force"]).env("GIT_INDEX_FILE", &index);
    // A file that the copy lacks, such as a large one, is missing from the folder as well; the rest is there.
    take.env("GIT_LFS_SKIP_SMUDGE", "1").stdin(Stdio::null()).stderr(Stdio::null()).status()?;
    let _ = std::fs::remove_file(&index);
    ensure!(into.read_dir()?.next().is_some(), "nothing could be taken out of {}", repository.display());
    Ok(())
}

/// Where a stretch of lines of one commit is in another.
pub(crate) fn moved(
    repository: &Path,
    (from, to): (&str, &str),
    file: &str,
    (first, last): (u32, u32),
) -> Result<(u32, u32)> {
    let arguments = ["diff", "--unified=0", "--no-color", "--no-ext-diff", from, to, "--", file];
    let output = git(repository, &arguments).output().context("git could not be started")?;
    ensure!(output.status.success(), "git could not compare {from} with {to}");
    let text = String::from_utf8_lossy(&output.stdout);
    let hunks: Vec<Hunk> = text.lines().filter_map(|line| hunk(line.strip_prefix("@@ -")?)).collect();
    Ok((place(&hunks, first, false), place(&hunks, last, true)))
}

struct Hunk {
    old: (u32, u32),
    new: (u32, u32),
}

/// `12,3 +14,2 @@ …`.
fn hunk(text: &str) -> Option<Hunk> {
    let (old, rest) = text.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let pair = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    Some(Hunk { old: pair(old)?, new: pair(new)? })
}

/// The new number of an old line; of a line that was changed, the first or the last of what took its place.
fn place(hunks: &[Hunk], line: u32, end: bool) -> u32 {
    let mut moved = i64::from(line);
    for Hunk { old: (old, gone), new: (new, come) } in hunks {
        // Where nothing was taken away, git names the line before the gap.
        let past = if *gone == 0 { line > *old } else { line >= old + gone };
        if past {
            moved += i64::from(*come) - i64::from(*gone);
        } else if *gone > 0 && line >= *old {
            return if end { new + come.saturating_sub(1) } else { *new };
        }
    }
    u32::try_from(moved).unwrap_or(1)
}

fn git(repository: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(repository).args(arguments).stdin(Stdio::null());
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(variable);
    }
    git
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_followed_through_a_change() {
        // Two lines more before 5, lines 10 to 12 became one, a line is gone at 20.
        let hunks: Vec<Hunk> =
            ["4,0 +5,2 @@", "10,3 +12 @@ f", "20 +19,0 @@"].iter().map(|text| hunk(text).unwrap()).collect();
        let at = |line| (place(&hunks, line, false), place(&hunks, line, true));
        assert_eq!(at(4), (4, 4));
        assert_eq!(at(5), (7, 7));
        assert_eq!(at(11), (12, 12));
        assert_eq!(at(13), (13, 13));
        assert_eq!(at(21), (20, 20));
    }

    #[test]
    fn a_checkout_is_found_by_any_of_its_names_and_taken_out_whole() {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().join("owner+name");
        std::fs::create_dir_all(repository.join("src")).unwrap();
        std::fs::write(repository.join("src/a.ts"), "one\n").unwrap();
        for arguments in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "x"]] {
            let mut git = git(&repository, &["-c", "user.name=t", "-c", "user.email=t@example.org"]);
            assert!(git.args(arguments).status().unwrap().success());
        }
        assert_eq!(find(folder.path(), "owner/name"), Some(repository.clone()));
        assert_eq!(find(folder.path(), "owner/other"), None);
        let into = folder.path().join("out");
        std::fs::create_dir(&into).unwrap();
        take_out(&repository, "HEAD", &into).unwrap();
        assert_eq!(std::fs::read_to_string(into.join("src/a.ts")).unwrap(), "one\n");
        assert!(take_out(&repository, "0000000000", &into).is_err());
    }
}
