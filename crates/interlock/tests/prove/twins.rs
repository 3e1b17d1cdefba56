//! The reference server: what the calls of `twins.toml` break on its naive twin, they leave whole on the safe one.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

const INTERLOCK: &str = env!("CARGO_BIN_EXE_interlock");
const CALLS: &str = include_str!("twins.toml");

/// The verdict on each set of a plan, by name.
fn verdicts(plan: &str, options: &[&str], target: &[&str]) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, plan).expect("the plan is written");
    let output = Command::new(INTERLOCK)
        .args([
            "prove",
            "--no-save",
            "--format",
            "json",
            "--budget",
            "1800s",
            "--timeout",
            "120s",
            "--max-calls",
            "20000",
            "--plan",
        ])
        .arg(&path)
        .args(options)
        .args(target)
        // What a server leaves behind when it is killed goes with the folder.
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&output.stderr)));
    let sets = report.pointer("/sets").and_then(Value::as_array).expect("sets").iter();
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    sets.map(|set| (word(&set["name"]), format!("{}: {}", word(&set["verdict"]), word(&set["reason"]))))
        .collect()
}

/// A ledger that is started for each run, with its state in a file.
fn ledger<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&["--", INTERLOCK, "ledger", "--seed", "--state", "sqlite:{scratch}/ledger.db"], options].concat()
}

fn assert_all(verdicts: &BTreeMap<String, String>, expected: &str, sets: usize) {
    assert_eq!(verdicts.len(), sets, "{verdicts:#?}");
    assert!(verdicts.values().all(|verdict| verdict.starts_with(expected)), "{expected}: {verdicts:#?}");
}

#[test]
fn calls_that_meet_break_the_naive_twin_and_leave_the_safe_one_whole() {
    // The provider makes a charge and loses the answer, as networks do.
    let naive = verdicts(CALLS, &["--all"], &ledger(&["--unsafe", "--lose-charges", "1"]));
    assert_all(&naive, "broken", 6);
    let safe = verdicts(CALLS, &["--trials", "6"], &ledger(&["--lose-charges", "1"]));
    assert_all(&safe, "held", 6);
}

/// A transfer during which the server is killed, or its client goes.
fn cut_off(kind: &str, after: &[u32]) -> String {
    let set = |after: &u32| {
        format!(
            "[[set]]\nname = \"{kind} after {after} ms\"\nhazard = \"unprotected-multi-step\"\n\
             calls = ['transfer_credits {{\"fromUserId\": \"alice\", \"toUserId\": \"bob\", \"amount\": 10}}']\n\
             reads = ['get_account {{\"userId\": \"alice\"}}', 'get_account {{\"userId\": \"bob\"}}']\n\
             fault = {{ kind = \"{kind}\", after = \"{after}ms\" }}\n"
        )
    };
    after.iter().map(set).collect()
}

#[test]
fn a_transfer_that_is_cut_off_in_the_middle_loses_money_only_on_the_naive_twin() {
    for kind in ["kill", "close"] {
        // It thinks for 50 ms each time: about the rate, about how many are under way, about the balance, and then half way.
        let naive = verdicts(
            &cut_off(kind, &[165, 180, 195, 230]),
            &["--trials", "4"],
            &ledger(&["--unsafe", "--think", "50"]),
        );
        assert!(naive.values().any(|verdict| verdict.starts_with("broken")), "{naive:#?}");
        let safe = verdicts(&cut_off(kind, &[1, 4]), &["--trials", "4"], &ledger(&[]));
        assert_all(&safe, "held", 2);
    }
}

#[test]
fn a_rate_limit_is_overrun_only_on_the_naive_twin() {
    let calls = vec!["\"get_usage\""; 16].join(", ");
    let plan = format!("[[set]]\nname = \"rate\"\ncalls = [{calls}]\noracle = \"no-more-than-serial\"\n");
    // Slow enough that no more is allowed meanwhile, however long the calls take.
    let naive = verdicts(&plan, &[], &ledger(&["--rate", "1/min", "--unsafe"]));
    assert_all(&naive, "broken", 1);
    let safe = verdicts(&plan, &["--trials", "4"], &ledger(&["--rate", "1/min"]));
    assert_all(&safe, "held", 1);
}

/// A ledger over HTTP, which ends with this.
struct Listening {
    child: Child,
    url: String,
    _folder: TempDir,
}

impl Listening {
    fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(INTERLOCK)
            .args(["ledger", "--seed", "--listen", "127.0.0.1:0", "--in-flight", "8"])
            .args(options)
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the ledger starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("an output")).read_line(&mut url).expect("it says where");
        Self { child, url: url.trim().to_owned(), _folder: folder }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_flood_of_one_caller_is_let_in_only_by_the_naive_twin() {
    let calls = vec!["\"get_usage\""; 60].join(", ");
    let plan = format!("[[set]]\nname = \"flood\"\ncalls = [{calls}]\noracle = \"some-refused\"\n");
    let naive = Listening::new(&["--unsafe", "--think", "200"]);
    assert_all(&verdicts(&plan, &[], &["--url", &naive.url, "--reset", "true"]), "broken", 1);
    let safe = Listening::new(&[]);
    assert_all(&verdicts(&plan, &["--trials", "4"], &["--url", &safe.url, "--reset", "true"]), "held", 1);
}
