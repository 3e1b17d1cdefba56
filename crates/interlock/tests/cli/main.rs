//! The real program, run as a person runs it, with nothing in its environment but what a test puts there.

mod bad_input;
mod cache;
#[cfg(target_os = "linux")]
mod doubts;
mod explain;
mod followed;
mod inspect;
mod scan;
mod streams;
mod usage;

use std::process::{Command, Output};

/// The program in an empty environment.
fn interlock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
    command.env_clear().args(arguments);
    command
}

/// What it said and how it ended.
struct Ended {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(arguments: &[&str]) -> Ended {
    Ended::from(interlock(arguments).output().expect("the program starts"))
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).expect("it writes UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("it writes UTF-8"),
        }
    }
}
