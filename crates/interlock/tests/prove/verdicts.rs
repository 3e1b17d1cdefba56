//! Broken and held, with and without naming the calls.

use serde_json::Value;

use crate::{Counter, TWO_ADDS};

#[test]
fn a_lost_update_is_shown_without_naming_anything() {
    let counter = Counter::new("unsafe");
    let (code, report) = counter.judged(&[]);
    assert_eq!(code, 1, "{report:#}");
    assert_eq!(report["verdict"], "broken");
    assert_eq!(
        report["sets"].as_array().expect("sets").last().expect("one")["hazard"],
        "lost-update",
        "{report:#}"
    );
    let set = &report["sets"].as_array().expect("sets").last().expect("one")["evidence"];
    assert_eq!(set["history"]["calls"].as_array().map(Vec::len), Some(2), "shrunk to two calls: {set:#}");
    counter.assert_nothing_is_left();
}

#[test]
fn the_same_server_with_a_lock_holds_and_says_what_was_tried() {
    let counter = Counter::new("safe");
    let (code, report) = counter.json(&[TWO_ADDS, &["--trials", "8"]].concat());
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["verdict"], "held");
    let explored = &report["sets"][0]["explored"];
    assert_eq!(explored["trials"], 8);
    let techniques = explored["techniques"].as_array().expect("techniques");
    assert!(techniques.len() > 2, "more than one way was tried: {techniques:?}");
    // Two calls and a read in both orders, twice each, and in each of the runs in which they meet.
    assert!(explored["calls"].as_u64() >= Some(3 * (2 * 2 + 8)), "{explored:#}");
}

#[test]
fn a_number_that_a_refused_call_has_used_up_is_no_race() {
    let (code, report) = Counter::new("conflict").json(&[TWO_ADDS, &["--trials", "8"]].concat());
    assert_eq!((code, report["verdict"].as_str()), (0, Some("held")), "{report:#}");
    let reason = report["sets"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("a call was refused that is not refused alone"), "they met: {reason}");
}

#[test]
fn a_refusal_that_is_no_error_and_has_no_known_words_is_one_all_the_same() {
    let (code, report) = Counter::new("polite").json(&[TWO_ADDS, &["--trials", "8"]].concat());
    assert_eq!((code, report["verdict"].as_str()), (0, Some("held")), "{report:#}");
    let reason = report["sets"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("a call was refused that is not refused alone"), "they met: {reason}");
}

#[test]
fn what_appears_a_while_after_the_answer_is_no_race() {
    let (code, report) = Counter::new("lagging").json(&[TWO_ADDS, &["--trials", "8"]].concat());
    assert_ne!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
}

#[test]
fn nor_is_one_that_was_used_up_by_trying_again_inside() {
    let (code, report) = Counter::new("retry").json(&[TWO_ADDS, &["--trials", "8"]].concat());
    assert_eq!((code, report["verdict"].as_str()), (0, Some("held")), "{report:#}");
}

#[test]
fn where_only_readers_may_be_called_nothing_is_known_and_it_says_what_to_try() {
    let bare = ["--kernel-without", "landlock,mounts,network,connections", "--trials", "4"];
    let (code, report) = Counter::new("careful").json(&bare);
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report:#}");
    let reason = report["reason"].as_str().expect("a reason");
    for word in ["`delete_all`", "--allow-destructive", "--call"] {
        assert!(reason.contains(word), "{reason}");
    }
    let sets = report["sets"].as_array().expect("sets");
    assert!(sets.iter().all(|set| set["verdict"] == "held"), "{report:#}");
}

#[test]
fn what_varies_from_run_to_run_is_no_race() {
    // Every answer holds the process id.
    let (_, report) = Counter::new("safe").json(&[TWO_ADDS, &["--trials", "3"]].concat());
    assert_eq!(report["verdict"], "held", "{report:#}");
}

#[test]
fn a_race_that_was_saved_is_run_again_from_its_file_alone() {
    let counter = Counter::new("unsafe");
    let ended = counter.run(TWO_ADDS);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    assert!(counter.folder.path().join("interlock-replay.json").exists());
    let again = std::process::Command::new(env!("CARGO_BIN_EXE_interlock"))
        .args(["prove", "--replay", "interlock-replay.json", "--trials", "3", "--format", "json"])
        .current_dir(counter.folder.path())
        .env("TMPDIR", counter.temporary())
        .output()
        .expect("the program starts");
    let report: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(report["verdict"], "broken", "{report:#}");
    assert!(report["sets"][0]["reason"].as_str().is_some_and(|reason| reason.contains("it happens again")));
    let never = std::process::Command::new(env!("CARGO_BIN_EXE_interlock"))
        .args(["prove", "--replay", "interlock-replay.json", "--trials", "0"])
        .current_dir(counter.folder.path())
        .env("TMPDIR", counter.temporary())
        .output()
        .expect("the program starts");
    assert_eq!(never.status.code(), Some(3), "what was not run again is not held");
    counter.assert_nothing_is_left();
}

#[test]
fn the_revision_without_a_handshake_is_spoken_too() {
    let (code, report) = Counter::new("stateless").judged(TWO_ADDS);
    assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
}

#[test]
fn an_invariant_that_only_parallel_calls_break_is_named() {
    let invariant = "reads[0].value == before[0].value + 3";
    let (code, report) = Counter::new("unsafe").json(&[TWO_ADDS, &["--invariant", invariant]].concat());
    assert_eq!(code, 1, "{report:#}");
    assert_eq!(report["sets"][0]["evidence"]["violated"][0], invariant, "{report:#}");
}
