//! Real processes: what they start is gone with them, and the polite ones may finish.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

use super::*;

fn sh(script: &str) -> (Process, Pipes) {
    let launch = Launch {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        folder: None,
    };
    Process::start(&launch, Arc::new(|_| {})).expect("there is a shell")
}

/// The first line of a script's output.
async fn line(stdout: ChildStdout) -> String {
    let mut text = String::new();
    BufReader::new(stdout).read_line(&mut text).await.expect("it writes");
    text.trim().to_owned()
}

fn runs(id: &str) -> bool {
    // A zombie whose parent is init or another group is not ours to reap, and does not run.
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test]
async fn what_a_server_starts_is_ended_with_it() {
    let (process, pipes) = sh("sleep 1000 & echo $!; wait");
    let child = line(pipes.stdout).await;
    assert!(runs(&child));
    drop(pipes.stdin);
    process.end(Duration::from_millis(200), &Phases::default()).await;
    while runs(&child) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_a_server_leaves_behind_when_it_ends_by_itself_is_killed_before_it_is_reaped() {
    let (process, pipes) = sh("sleep 1000 & echo $!");
    let child = line(pipes.stdout).await;
    process.ended().await;
    assert!(runs(&child));
    assert_eq!(process.kill().await.and_then(|status| status.code()), Some(0));
    while runs(&child) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_ends_when_its_input_does_is_not_signalled() {
    let (process, pipes) = sh("trap 'exit 7' TERM; cat >/dev/null; exit 3");
    drop(pipes.stdin);
    let status = process.end(Duration::from_secs(1000), &Phases::default()).await;
    assert_eq!(status.and_then(|status| status.code()), Some(3));
}

#[tokio::test]
async fn one_that_does_not_is_asked_and_may_clean_up() {
    let (process, mut pipes) =
        sh("trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
    let mut ready = [0; 6];
    pipes.stdout.read_exact(&mut ready).await.expect("it writes");
    let status = process.end(Duration::from_secs(2), &Phases::default()).await;
    assert_eq!(status.and_then(|status| status.code()), Some(7));
    assert_eq!(line(pipes.stdout).await, "cleaned");
}

#[tokio::test]
async fn one_that_does_not_listen_is_killed_at_once_when_there_is_no_time() {
    use std::os::unix::process::ExitStatusExt;
    let (process, mut pipes) = sh("trap '' TERM; echo ready; while :; do sleep 0.01; done");
    let mut ready = [0; 6];
    pipes.stdout.read_exact(&mut ready).await.expect("it writes");
    let phases = Phases::default();
    phases.advance(Phase::Now);
    let status = process.end(Duration::from_secs(100_000), &phases).await;
    assert_eq!(status.and_then(|status| status.signal()), Some(9));
}

#[tokio::test]
async fn dropped_it_is_gone() {
    let (process, pipes) = sh("sleep 1000 & echo $!; wait");
    let child = line(pipes.stdout).await;
    drop(process);
    while runs(&child) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_reason_of_an_end_has_the_status_and_the_last_words() {
    let (process, _pipes) = sh("echo 'no such database' >&2; exit 4");
    process.ended().await;
    assert_eq!(
        process.obituary().await.1,
        "its process ended with exit code 4; its last words:\n  | no such database"
    );
    let missing = Launch { command: vec!["/no/such/program".into()], env: BTreeMap::new(), folder: None };
    let failure = Process::start(&missing, Arc::new(|_| {})).unwrap_err();
    assert!(failure.reason.starts_with("cannot run `/no/such/program`: "), "{failure}");
}
