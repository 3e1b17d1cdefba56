//! What a scan found, with the step that it names held open: a gap of microseconds is shown, and one that is locked is reported back as doubtful.

use std::{
    fs,
    process::{Command, Output},
};

use serde_json::{Value, json};

/// The line of a source that ends with this mark.
fn line(source: &str, mark: &str) -> usize {
    let at = source.lines().position(|line| line.ends_with(mark));
    at.expect("a line with the mark") + 1
}

/// A scan's report with one finding at high, in these two lines.
fn scanned(name: &str, source: &str, gap: &str) -> Value {
    let (look, act) = (line(source, &format!("looks in {gap}")), line(source, &format!("acts in {gap}")));
    let step = |call: &str, line: usize| json!({"call": call, "file": name, "line": line, "step": "goes on"});
    json!({
        "version": 1, "score": 85, "grade": "B",
        "coverage": {"files": 1, "functions": 1, "handlers": 1, "tools": [], "notes": []},
        "findings": [{
            "hazard": "lost-update", "severity": "high", "confidence": "high",
            "reach": if gap == "process" { "cross-process" } else { "in-process" },
            "file": name, "line": look, "end_line": look, "function": "add", "tools": ["add"],
            "message": "an update is lost",
            "witness": [step("A", look), step("B", look), step("B", act), step("A", act)],
            "remedy": {"code": "", "policy": []}, "fingerprint": "the-one",
        }],
    })
}

/// What comes of a server with that finding: the report, and the scan with what was proved.
fn prove(program: &str, name: &str, gap: &str, mode: &str) -> (i32, Value, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let server = format!("{}/tests/prove/{name}", env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(&server).expect("a source");
    let [scan, merged] = ["scan.json", "merged.json"].map(|name| folder.path().join(name));
    fs::write(&scan, scanned(name, &source, gap).to_string()).expect("a file");
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_interlock"))
        .args(["prove", "--format", "json", "--no-save", "--budget", "1800s", "--trials", "4"])
        .args(
            [scan.as_os_str(), merged.as_os_str()]
                .into_iter()
                .zip(["--from", "--merge"])
                .flat_map(|(path, option)| [option.into(), path.to_owned()]),
        )
        .args(["--", program, &server, "{scratch}/count", gap, mode])
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let report = serde_json::from_slice(&stdout);
    let report = report.unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&stderr)));
    let merged = fs::read_to_string(merged).expect("the scan again");
    (status.code().expect("it was not killed"), report, serde_json::from_str(&merged).expect("JSON"))
}

const SERVERS: [(&str, &str); 2] = [("python3", "windows.py"), ("node", "windows.mjs")];

#[test]
fn a_gap_that_hardly_ever_shows_is_shown_where_a_scan_names_its_lines() {
    for (program, name) in SERVERS {
        for gap in ["process", "thread"] {
            let (code, report, merged) = prove(program, name, gap, "unsafe");
            assert_eq!((code, report["verdict"].as_str()), (1, Some("broken")), "{name} {gap}: {report:#}");
            assert_eq!(merged["findings"][0]["proof"]["verdict"], "broken", "{name} {gap}: {merged:#}");
        }
    }
}

#[test]
fn what_holds_while_its_step_is_held_open_is_doubtful() {
    for (program, name) in SERVERS {
        for gap in ["process", "thread"] {
            let (code, report, merged) = prove(program, name, gap, "safe");
            assert_eq!((code, report["verdict"].as_str()), (0, Some("held")), "{name} {gap}: {report:#}");
            let reasons: Vec<&str> = report["sets"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|set| set["reason"].as_str())
                .collect();
            let is_doubtful = |reason: &&str| reason.contains("finding the-one, told at high, is doubtful");
            assert!(reasons.iter().any(is_doubtful), "{name} {gap}: {reasons:?}");
            let merged = merged["findings"][0]["proof"]["reason"].as_str();
            assert!(merged.is_some_and(|reason| is_doubtful(&reason)), "{name} {gap}: {merged:?}");
        }
    }
}
