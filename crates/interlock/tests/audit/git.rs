//! Repositories: made with the ordinary `git`, fetched from a `file` address.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Desk, copy, example};

pub(crate) fn git(folder: &Path, words: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git is there");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with the example in a folder, on a branch of its own.
pub(crate) fn repository(desk: &Desk) -> PathBuf {
    let folder = desk.path("repository");
    fs::create_dir(&folder).expect("a folder");
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(folder.join("README.md"), "nothing\n").expect("a file");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "one"]);
    git(&folder, &["checkout", "--quiet", "-b", "server"]);
    copy(&example(), &folder.join("packages/credits"));
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "two"]);
    git(&folder, &["checkout", "--quiet", "main"]);
    folder
}

#[test]
fn a_folder_of_a_branch_is_fetched_and_found() {
    let desk = Desk::new();
    let folder = repository(&desk);
    let ended = desk.audit(&[&format!("file://{}#server:packages/credits", folder.display())]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    let found = ended.entries(0);
    assert!(found.iter().any(|entry| entry.starts_with("found-only lost-update")), "{found:#?}");
    let origin = ended.at("/subjects/0/origin/0").as_str().unwrap_or_default();
    assert!(origin.contains("at server, commit "), "{origin}");
    let live = ended.at("/subjects/0/live");
    assert_eq!(live["state"], "not-run");
    assert!(live["why"].as_str().unwrap_or_default().contains("--run-untrusted"), "{live}");
    assert_eq!(desk.left_behind(), [] as [&str; 0]);
    // The files of a temporary folder are named as they are in the repository.
    let file = ended.at("/subjects/0/scan/findings/0/file").as_str().unwrap_or_default();
    assert!(file.starts_with("src/"), "{file}");
}

#[test]
fn nothing_of_a_repository_runs_and_no_link_leads_out_of_it() {
    let desk = Desk::new();
    let folder = repository(&desk);
    git(&folder, &["checkout", "--quiet", "server"]);
    std::os::unix::fs::symlink("/", folder.join("everything")).expect("a link");
    fs::write(folder.join(".gitattributes"), "*.ts filter=evil\n*.sql filter=lfs\n").expect("a file");
    let marker = desk.path("ran");
    fs::write(folder.join(".lfsconfig"), "[lfs]\n\turl = file:///nowhere\n").expect("a file");
    let other = desk.path("other");
    git(desk.folder.path(), &["clone", "--quiet", folder.to_str().expect("a name"), "other"]);
    git(&folder, &["submodule", "--quiet", "add", other.to_str().expect("a name"), "module"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "three"]);
    // Settings of the user that would run something.
    let hook = desk.write("home/hooks/post-checkout", &format!("#!/bin/sh\ntouch {}\n", marker.display()));
    Command::new("chmod").arg("+x").arg(&hook).status().expect("chmod is there");
    let hooks = desk.path("home/hooks");
    desk.write(
        "home/.gitconfig",
        &format!(
            "[core]\n\thooksPath = {}\n[filter \"evil\"]\n\tsmudge = touch {} && cat\n",
            hooks.display(),
            marker.display()
        ),
    );
    let url = format!("file://{}#server", folder.display());
    let ended = desk.audit(&[&url]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    assert!(!marker.exists(), "something ran");
    let files = ended.at("/subjects/0/scan/coverage/files").as_u64();
    assert!(files < Some(40), "neither the module nor what is behind the link was read: {files:?}");
    let out = desk.audit(&[&format!("file://{}#server:everything/etc", folder.display())]);
    assert_eq!(out.code, 2, "{}", out.stderr);
    assert!(out.stderr.contains("there is no folder `everything/etc`"), "{}", out.stderr);
}

#[test]
fn what_is_not_there_or_not_allowed_is_said() {
    let desk = Desk::new();
    for (target, why) in [
        ("file:///no/such/repository", "could not be fetched"),
        ("http://127.0.0.1/a", "is not fetched"),
        ("file:///srv/a#--upload-pack=x", "no branch, tag or commit"),
        ("npm:../x", "no name of a package"),
        ("no-such-folder", "there is no `no-such-folder`"),
    ] {
        let ended = desk.audit(&[target]);
        assert_eq!(ended.code, 2, "{target}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{target}: {}", ended.stderr);
    }
}
