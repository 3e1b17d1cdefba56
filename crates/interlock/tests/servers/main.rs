//! `interlock prove` on real servers: the official ones from npm, and some of those whose races are known. This is the short form of
//! `cargo xtask bench prove`, which runs them all and runs them longer.
#![cfg(target_os = "linux")]

mod official;
mod twins;
mod versions;

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use interlock_testkit::packages;
use serde_json::Value;
use tempfile::TempDir;

/// What prove said.
struct Said {
    code: i32,
    report: Value,
}

impl Said {
    /// What stands at a place in the report; nothing if it is not there.
    fn at(&self, place: &str) -> &Value {
        self.report.pointer(place).unwrap_or(&Value::Null)
    }

    /// That it is a race, and nothing weaker than that.
    #[track_caller]
    fn assert_broken(&self) {
        assert_eq!((self.code, self.at("/verdict").as_str()), (1, Some("broken")), "{:#}", self.report);
    }

    /// That it held, after so many runs together.
    #[track_caller]
    fn assert_held(&self, trials: u64) {
        assert_eq!((self.code, self.at("/verdict").as_str()), (0, Some("held")), "{:#}", self.report);
        assert!(self.at("/explored/trials").as_u64() >= Some(trials), "{:#}", self.report);
    }
}

/// Where the servers are.
fn source(file: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../interlock-testkit/servers/");
    format!("{path}{file}")
}

/// Where a package was installed.
fn installed(name: &str) -> PathBuf {
    packages::installed(env!("CARGO_TARGET_TMPDIR"), name)
}

/// Prove with these options, on this server.
fn prove(options: &[&str], command: &[&str]) -> Said {
    let mut prove = Command::new(env!("CARGO_BIN_EXE_interlock"));
    // However slow the machine is, it is not the clock that ends it.
    prove.args(["prove", "--format", "json", "--budget", "1800s", "--timeout", "120s"]).args(options);
    if !command.is_empty() {
        prove.arg("--").args(command);
    }
    let output = prove.stdin(Stdio::null()).output().expect("the program starts");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{prove:?} wrote no JSON: {}", String::from_utf8_lossy(&output.stderr));
    });
    Said { code: output.status.code().expect("it was not killed"), report }
}

/// The variable that tells the Node servers where their packages are.
fn modules() -> String {
    format!("SERVER_MODULES={}", installed("node").display())
}

/// Prove on one of the Node servers, over stdio.
fn node(name: &str, twin: &[&str], options: &[&str]) -> Said {
    let modules = modules();
    let options = [&["--no-save", "--env", &modules], options].concat();
    let file = source(&format!("node/{name}.mjs"));
    prove(&options, &[&["node", &file, "--data", "{scratch}"], twin].concat())
}

/// Prove on one of the Python servers, over stdio.
fn python(packages: &str, name: &str, twin: &[&str], options: &[&str]) -> Said {
    let program = installed(packages).join("bin/python").display().to_string();
    let file = source(&format!("python/{name}.py"));
    let command = [&[&program, "-B", &file, "--data", "{scratch}"], twin].concat();
    prove(&[&["--no-save"], options].concat(), &command)
}

/// A server on loopback that ends with this.
struct Listening {
    child: Child,
    url: String,
    _data: TempDir,
}

impl Listening {
    /// Starts one of the Node servers.
    fn node(name: &str, twin: &[&str]) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let mut child = Command::new("node")
            .args([&source(&format!("node/{name}.mjs")), "--listen", "0", "--data"])
            .arg(data.path())
            .args(twin)
            .env("SERVER_MODULES", installed("node"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node starts");
        let mut url = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut url).expect("a line");
        Self { child, url: url.trim().to_owned(), _data: data }
    }

    fn prove(&self, options: &[&str]) -> Said {
        let reset = format!("'{}' '{}'", source("reset.sh"), self.url);
        prove(&[&["--no-save", "--url", &self.url, "--reset", &reset], options].concat(), &[])
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
