//! What is known already, and what has changed since.

use std::{fs, process::Command};

use super::{places, put, request, scan_toys, tree};

#[test]
fn what_was_written_down_is_known_while_lines_come_and_go() {
    let folder = tree(&[("a.toy", "find lost-update\nfind retry-storm\n")]);
    let path = folder.path().join("baseline.json");
    let mut first = request(&[folder.path().to_owned()]);
    first.write_baseline = Some(path.clone());
    let scanned = scan_toys(&first, &()).unwrap();
    assert_eq!((places(&scanned).len(), scanned.baselined, scanned.written), (0, 2, Some(2)));

    put(folder.path(), "a.toy", b"new\n\n  find lost-update\nfind lost-update\n");
    let mut second = request(&[folder.path().to_owned()]);
    second.baseline = Some(path.clone());
    let scanned = scan_toys(&second, &()).unwrap();
    assert_eq!(places(&scanned), ["a.toy:4 lost-update"]);
    assert_eq!((scanned.baselined, scanned.report.rating.score()), (1, Some(85)));

    let mut third = request(&[folder.path().to_owned()]);
    third.prune_baseline = Some(path.clone());
    let scanned = scan_toys(&third, &()).unwrap();
    assert_eq!((places(&scanned).len(), scanned.pruned), (1, Some(1)));
    assert!(!fs::read_to_string(path).unwrap().contains("retry-storm"));
}

#[test]
fn a_broken_baseline_is_refused_before_the_scan_and_left_alone() {
    let folder = tree(&[("a.toy", "find lost-update\n"), ("baseline.json", "{\"version\": 1, \"find")]);
    let path = folder.path().join("baseline.json");
    for which in 0..3 {
        let mut request = request(&[folder.path().to_owned()]);
        let option = [&mut request.baseline, &mut request.prune_baseline, &mut request.write_baseline]
            .into_iter()
            .nth(which);
        *option.unwrap() = Some(path.clone());
        let error = scan_toys(&request, &()).unwrap_err().to_string();
        assert!(error.contains("is no baseline, so it was left alone"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"version\": 1, \"find");
    }
}

#[test]
fn since_a_commit_only_what_touches_changed_lines_is_reported() {
    let folder = tree(&[("a.toy", "find lost-update\n\nfind retry-storm\n")]);
    for arguments in ["init --quiet", "add .", "commit --quiet -m first"] {
        let mut git = Command::new("git");
        git.current_dir(folder.path()).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
        git.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
        assert!(git.args(arguments.split(' ')).status().unwrap().success());
    }
    put(folder.path(), "a.toy", b"find lost-update\n\nfind retry-storm now\n");
    put(folder.path(), "b.toy", b"find lost-update\n");
    let mut request = request(&[folder.path().to_owned()]);
    request.since = Some("HEAD".to_owned());
    let scanned = scan_toys(&request, &()).unwrap();
    assert_eq!(places(&scanned), ["a.toy:3 retry-storm", "b.toy:1 lost-update"]);
    assert_eq!(scanned.hidden, 1);
}
