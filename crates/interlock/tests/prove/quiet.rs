//! Servers whose tools do not show what others of them do: their files are read, and where there is nothing to read, nothing is said.

use std::process::Command;

use serde_json::Value;

/// What comes of a server that keeps its notes so, with these options.
fn prove(kind: &str, mode: &str, options: &[&str]) -> (i32, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_interlock"))
        .args(["prove", "--format", "json", "--no-save", "--budget", "1800s", "--trials", "8"])
        .args(options)
        .args(["--", "python3", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/prove/quiet.py"), kind, mode])
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().expect("it was not killed"), report)
}

/// Two notes, by name.
const TWO_NOTES: &[&str] =
    &["--call", r#"remember {"text": "one"}"#, "--call", r#"remember {"text": "two"}"#];

fn last(report: &Value) -> &Value {
    report["sets"].as_array().and_then(|sets| sets.last()).expect("a set")
}

#[test]
fn what_is_lost_in_a_file_is_seen_with_nothing_but_the_command() {
    for kind in ["json", "yaml", "rows"] {
        let (code, report) = prove(kind, "unsafe", &[]);
        assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{kind}: {report:#}");
        let set = last(&report);
        assert_eq!(set["reads"][0]["tool"], "scratch:", "{kind}: {set:#}");
        assert_eq!(set["hazard"], "lost-update", "{kind}: {set:#}");
    }
}

#[test]
fn the_same_files_behind_a_lock_hold() {
    for kind in ["json", "yaml", "rows"] {
        let (code, report) = prove(kind, "safe", TWO_NOTES);
        assert_eq!((code, report["verdict"].as_str()), (0, Some("held")), "{kind}: {report:#}");
        assert_eq!(last(&report)["reads"][0]["tool"], "scratch:", "{kind}: {report:#}");
    }
}

#[test]
fn what_is_kept_beside_the_code_is_seen_in_a_copy_and_stays_as_it_was() {
    let package = tempfile::tempdir().expect("a folder");
    let code = package.path().join("app");
    std::fs::create_dir(&code).expect("a folder of code");
    let server = code.join("quiet.py");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/prove/quiet.py"), &server).expect("the code");
    for (mode, options, expected) in [("unsafe", &[][..], (1, "broken")), ("safe", TWO_NOTES, (0, "held"))] {
        let output = Command::new(env!("CARGO_BIN_EXE_interlock"))
            .args(["prove", "--format", "json", "--no-save", "--budget", "1800s", "--trials", "8"])
            .args(options)
            .args(["--", "python3"])
            .arg(&server)
            .args(["beside", mode])
            .current_dir(package.path())
            .output()
            .expect("the program starts");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let verdict = (output.status.code().expect("a code"), report["verdict"].as_str().unwrap_or_default());
        assert_eq!(verdict, expected, "{report:#}");
        assert!(
            report["notes"].to_string().contains("every instance had a copy of that folder"),
            "{report:#}"
        );
        let left: Vec<_> = std::fs::read_dir(&code).expect("it is there").flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

#[test]
fn where_nothing_shows_what_calls_do_nothing_is_called_held() {
    for mode in ["safe", "unsafe"] {
        for options in [TWO_NOTES, &[]] {
            let (code, report) = prove("memory", mode, options);
            assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{mode}: {report:#}");
            let sets = report["sets"].as_array().expect("sets");
            let blind = |set: &Value| {
                set["reason"].as_str().is_some_and(|reason| reason.contains("nothing was read that shows"))
            };
            // With nothing but the command, what nobody sees do anything is not called together with others at all.
            assert_eq!(sets.iter().any(blind), !options.is_empty(), "{mode}: {report:#}");
        }
    }
}

#[test]
fn a_read_that_does_not_show_it_is_not_enough_and_the_files_are_read_beside_it() {
    let named = [TWO_NOTES, &["--read", "weather"]].concat();
    let (code, report) = prove("json", "unsafe", &named);
    assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
    let (code, report) = prove("memory", "unsafe", &named);
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report:#}");
    assert!(report.to_string().contains("what --read names does not show"), "{report:#}");
}

#[test]
fn a_read_that_never_says_the_same_is_left_out_and_named() {
    let named = [TWO_NOTES, &["--read", "dice", "--read", "scratch:"]].concat();
    let (code, report) = prove("json", "unsafe", &named);
    assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("`dice` does not say the same twice"), "{report:#}");
    let (code, report) = prove("json", "safe", &named);
    assert_eq!((code, report["verdict"].as_str()), (0, Some("held")), "{report:#}");
}

#[test]
fn two_processes_on_one_folder_lose_what_the_lock_of_one_keeps() {
    let named = [TWO_NOTES, &["--setup", r#"scratch: {"processes": 2}"#]].concat();
    let (code, report) = prove("json", "safe", &named);
    assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
    let (code, report) = prove("json", "flock", &named);
    assert_eq!((code, report["verdict"].as_str()), (0, Some("held")), "{report:#}");
}

#[test]
fn two_clients_of_a_server_are_two_processes_with_nothing_but_the_command() {
    let (code, report) = prove("json", "safe", &["--two-processes"]);
    assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
    assert!(report.to_string().contains("between two processes on one folder"), "{report:#}");
    let (code, report) = prove("json", "flock", &["--two-processes"]);
    assert_ne!(code, 1, "{report:#}");
}

#[test]
fn a_folder_of_ones_own_is_where_every_instance_begins() {
    let seed = tempfile::tempdir().expect("a folder");
    std::fs::write(seed.path().join("inbox.txt"), "new: ").expect("a file");
    let seed = seed.path().to_str().expect("a name");
    let calls = ["--call", r#"import {"text": "a"}"#, "--call", r#"import {"text": "b"}"#, "--seed", seed];
    let (code, report) = prove("json", "unsafe", &calls);
    assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
    let (code, report) = prove("json", "safe", &calls);
    assert_eq!((code, report["verdict"].as_str()), (0, Some("held")), "{report:#}");
    assert_eq!(std::fs::read_to_string(format!("{seed}/inbox.txt")).expect("it is there"), "new: ");
}

#[test]
fn a_file_that_a_server_needs_can_be_laid_down_and_nowhere_else() {
    let laid = r#"scratch: {"write": {"inbox.txt": "new: "}}"#;
    let named = ["--setup", laid, "--call", r#"import {"text": "a"}"#, "--call", r#"import {"text": "b"}"#];
    let (code, report) = prove("json", "unsafe", &named);
    assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{report:#}");
    let outside =
        named.map(|word| if word == laid { r#"scratch: {"write": {"../inbox.txt": "x"}}"# } else { word });
    let (code, report) = prove("json", "unsafe", &outside);
    assert_eq!((code, report["verdict"].as_str()), (3, Some("unknown")), "{report:#}");
}
