//! `interlock audit` with real parts: the bundled servers, servers of our own in Python, repositories made with the ordinary `git`, and the files of MCP clients.
#![cfg(target_os = "linux")]

mod clients;
mod demo;
mod git;
mod hostile;
mod interrupts;
mod live;
mod packages;
mod ssh;
mod terminal;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

const INTERLOCK: &str = env!("CARGO_BIN_EXE_interlock");

/// A folder in which the program is started, with a home of its own.
struct Desk {
    folder: TempDir,
}

/// What the program said, wrote and how it ended.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
    /// The JSON report, if there is one.
    report: Value,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["home", "tmp", "work"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, with the folders that lead to it.
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(INTERLOCK);
        command
            .arg("audit")
            .args(arguments)
            .current_dir(self.path("work"))
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env_remove("CI")
            .stdin(Stdio::null());
        command
    }

    /// An audit whose JSON report is read. The budget is what a busy machine needs for what the tests ask.
    fn audit(&self, arguments: &[&str]) -> Ended {
        self.audit_in(&[], arguments)
    }

    /// The same with this in its environment.
    fn audit_in(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Ended {
        let report = self.path("report.json");
        let before = ["--output", report.to_str().expect("a name"), "--budget", "90s"];
        let mut command = self.command(&[&before, arguments].concat());
        let output = command.envs(environment.iter().copied()).output().expect("the program starts");
        let text = fs::read_to_string(&report).unwrap_or_default();
        Ended {
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).expect("it writes UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("it writes UTF-8"),
            report: serde_json::from_str(&text).unwrap_or_default(),
        }
    }

    /// What is left in the folder for temporary files.
    fn left_behind(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("tmp")).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Ended {
    fn at(&self, place: &str) -> &Value {
        self.report.pointer(place).unwrap_or(&Value::Null)
    }

    /// What is told of one server: each entry as `standing hazard tools behind`.
    fn entries(&self, subject: usize) -> Vec<String> {
        let entries = self.at(&format!("/subjects/{subject}/entries"));
        let line = |entry: &Value| {
            let word = |name: &str| entry[name].as_str().unwrap_or("-").to_owned();
            let tools: Vec<&str> =
                entry["tools"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            format!("{} {} {} {}", word("standing"), word("hazard"), tools.join("+"), word("behind_guard"))
        };
        entries.as_array().into_iter().flatten().map(line).collect()
    }
}

/// Copies a folder of the repository.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// The example server that has hazards.
fn example() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/credits-server")).to_owned()
}
