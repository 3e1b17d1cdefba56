//! `interlock prove` on small servers of our own, polite and rude. Python and Node are needed, and nothing that has to be installed for them.
//!
//! Each run has a folder for temporary files of its own, so that what is left behind can be seen.

mod apart;
mod ending;
mod http2;
mod naming;
mod plans;
mod quiet;
mod rude;
mod tasks;
mod twins;
mod verdicts;
mod windows;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// The server, behaving like this.
struct Counter {
    mode: &'static str,
    folder: TempDir,
}

/// What the program said and how it ended.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Counter {
    fn new(mode: &'static str) -> Self {
        Self { mode, folder: tempfile::tempdir().expect("a folder") }
    }

    fn temporary(&self) -> PathBuf {
        let path = self.folder.path().join("tmp");
        std::fs::create_dir_all(&path).expect("a folder");
        path
    }

    /// The program with these options in front of the server's command.
    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command
            .arg("prove")
            .args(options)
            .args([
                "--",
                "python3",
                concat!(env!("CARGO_MANIFEST_DIR"), "/tests/prove/counter.py"),
                self.mode,
            ])
            .arg("{scratch}/value")
            .current_dir(self.folder.path())
            .env("TMPDIR", self.temporary())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, options: &[&str]) -> Ended {
        let output = self.command(options).output().expect("the program starts");
        Ended {
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).expect("it writes UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("it writes UTF-8"),
        }
    }

    fn json(&self, options: &[&str]) -> (i32, Value) {
        // However slow the machine is, it is not the clock that ends it.
        let always = ["--format", "json", "--no-save", "--budget", "1800s"];
        let ended = self.run(&[&always, options].concat());
        let report = serde_json::from_str(&ended.stdout);
        (ended.code, report.unwrap_or_else(|_| panic!("no JSON: {} {}", ended.stdout, ended.stderr)))
    }

    /// The same, once more where a machine that is busy made something unknown of what is judged otherwise; three times at most.
    fn judged(&self, options: &[&str]) -> (i32, Value) {
        let is_judged = |(_, report): &(i32, Value)| {
            let sets = report["sets"].as_array().expect("sets");
            sets.iter().all(|set| set["verdict"] != "unknown")
        };
        let mut runs = std::iter::repeat_with(|| self.json(options)).take(3);
        runs.find(is_judged).expect("one of three runs is judged")
    }

    /// Nothing of it runs any more, and nothing lies around.
    fn assert_nothing_is_left(&self) {
        let left: Vec<_> = std::fs::read_dir(self.temporary()).expect("the folder").collect();
        assert!(left.is_empty(), "{left:?}");
        let ours = self.temporary().to_string_lossy().into_owned();
        let running: Vec<String> = processes().filter(|line| line.contains(&ours)).collect();
        assert!(running.is_empty(), "{running:?}");
    }
}

/// The command lines of all processes.
fn processes() -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    let lines = entries.filter_map(|entry| std::fs::read(Path::new(&entry.path()).join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
}

const TWO_ADDS: &[&str] =
    &["--call", "add {\"amount\": 1}", "--call", "add {\"amount\": 2}", "--read", "get"];
