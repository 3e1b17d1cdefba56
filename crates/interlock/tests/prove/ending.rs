//! Interrupted in the middle: children are ended, folders removed.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{Counter, TWO_ADDS, processes};

#[test]
fn an_interrupt_ends_what_was_started() {
    ends_what_was_started("-INT");
}

#[test]
fn so_does_whoever_ends_it_politely() {
    ends_what_was_started("-TERM");
}

#[test]
fn and_a_terminal_that_is_closed() {
    ends_what_was_started("-HUP");
}

fn ends_what_was_started(signal: &str) {
    let counter = Counter::new("safe");
    let mut command = counter.command(&[TWO_ADDS, &["--trials", "5000", "--budget", "120s"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let ours = counter.temporary().to_string_lossy().into_owned();
    let begin = Instant::now();
    while processes().filter(|line| line.contains(&ours)).count() == 0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no server was started");
        std::thread::sleep(Duration::from_millis(10));
    }
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    assert!(status.success());
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(2));
    counter.assert_nothing_is_left();
}
