//! Where the output goes: pipes that close, disks that are full, terminals with and without colour.

use std::{
    fs::File,
    io::Read,
    process::{Command, Stdio},
};

use crate::{Ended, interlock};

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    // The document is larger than what a pipe holds, so the program is still writing when its reader goes.
    let mut child = interlock(&["explain", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut first = [0; 1];
    let mut stdout = child.stdout.take().expect("its output");
    stdout.read_exact(&mut first).expect("it writes");
    drop(stdout);
    let ended = Ended::from(child.wait_with_output().expect("it ends"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

#[test]
fn a_full_disk_is_a_failure_that_is_told() {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = interlock(&["explain"]).stdout(full).output().expect("the program starts");
    let ended = Ended::from(output);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.starts_with("error: No space left on device"), "{}", ended.stderr);
}

#[test]
fn help_that_cannot_be_written_is_a_failure_too() {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let ended = Ended::from(interlock(&["--help"]).stdout(full).output().expect("the program starts"));
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.starts_with("error: No space left on device"), "{}", ended.stderr);
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    for arguments in ["explain", "explain lost-update"] {
        assert!(has_colour(&on_a_terminal(arguments, &[])), "{arguments}");
        assert!(!has_colour(&on_a_terminal(arguments, &[("NO_COLOR", "1")])), "{arguments}");
        assert!(!has_colour(&on_a_terminal(arguments, &[("TERM", "dumb")])), "{arguments}");
        assert!(
            has_colour(&on_a_terminal(arguments, &[("NO_COLOR", "")])),
            "an empty NO_COLOR asks for nothing"
        );
        let words: Vec<&str> = arguments.split(' ').collect();
        assert!(!has_colour(&crate::run(&words).stdout), "a pipe gets none");
    }
}

#[test]
fn errors_and_help_on_a_terminal_respect_no_color_too() {
    for arguments in ["explain nonsense", "frobnicate", "--help"] {
        assert!(has_colour(&on_a_terminal(arguments, &[])), "{arguments}");
        assert!(!has_colour(&on_a_terminal(arguments, &[("NO_COLOR", "1")])), "{arguments}");
    }
}

#[test]
fn a_pipe_gets_no_colour_from_a_program_whose_errors_go_to_a_terminal() {
    let help = on_a_terminal("--help | cat", &[("CLICOLOR_FORCE", "1"), ("PATH", "/usr/bin:/bin")]);
    assert!(!has_colour(&help), "{help:?}");
}

/// Runs the program on a terminal of its own, which `script` of util-linux makes.
fn on_a_terminal(arguments: &str, environment: &[(&str, &str)]) -> String {
    let program = format!("'{}' {arguments}", env!("CARGO_BIN_EXE_interlock"));
    let output = Command::new("/usr/bin/script")
        .args(["--quiet", "--command", &program, "/dev/null"])
        .env_clear()
        .env("TERM", "xterm-256color")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("util-linux is there");
    String::from_utf8(output.stdout).expect("it writes UTF-8")
}

fn has_colour(text: &str) -> bool {
    assert!(!text.is_empty());
    text.contains("\x1b[")
}
