//! The throwaway servers are real, and gone afterwards: after a drop, a panic, and the death of the test process.

use std::{
    env,
    io::{BufRead, BufReader},
    net::TcpStream,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit::service::{Postgres, Redis};

#[test]
fn redis_answers_and_is_gone_when_dropped() {
    let redis = Redis::start().unwrap();
    let (address, pid) = (redis.address(), redis.pid());
    assert!(address.ip().is_loopback());
    assert!(TcpStream::connect(address).is_ok());
    assert!(runs(pid));
    drop(redis);
    assert!(!runs(pid));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn two_of_a_kind_do_not_meet() {
    let (one, other) = (Redis::start().unwrap(), Redis::start().unwrap());
    assert_ne!(one.url(), other.url());
}

#[test]
fn postgres_answers_and_is_gone_when_dropped() {
    let postgres = Postgres::start().unwrap();
    let pid = postgres.pid();
    assert!(postgres.address().ip().is_loopback());
    postgres.query("create table notes (id int primary key)").unwrap();
    postgres.query("insert into notes values (1), (2)").unwrap();
    assert_eq!(postgres.query("select count(*) from notes").unwrap(), "2");
    assert!(postgres.query("insert into notes values (1)").is_err(), "a refused statement is an error");
    drop(postgres);
    assert!(!runs(pid));
}

#[test]
fn a_server_is_gone_when_its_test_fails() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let failed = std::thread::spawn(move || {
        let redis = Redis::start().unwrap();
        sender.send(redis.pid()).unwrap();
        panic!("this test fails on purpose");
    });
    assert!(failed.join().is_err());
    assert!(!runs(receiver.recv().unwrap()));
}

/// Runs itself a second time as a process that starts a server and is then killed, which no `Drop` survives.
#[test]
#[expect(clippy::disallowed_methods, reason = "the second run must be told apart from the first")]
fn a_server_is_gone_when_its_test_process_is_killed() {
    const HOLD: &str = "INTERLOCK_TESTKIT_HOLD";
    if env::var_os(HOLD).is_some() {
        let redis = Redis::start().unwrap();
        // Written past the test harness, which keeps what a test prints until it ends.
        std::io::Write::write_all(&mut std::io::stderr(), format!("\nserver {}\n", redis.pid()).as_bytes())
            .unwrap();
        loop {
            std::thread::park();
        }
    }
    let mut holder = Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_server_is_gone_when_its_test_process_is_killed", "--nocapture"])
        .env(HOLD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stderr.take().unwrap()).lines();
    let pid =
        lines.map_while(Result::ok).find_map(|line| line.strip_prefix("server ")?.parse().ok()).unwrap();
    assert!(runs(pid));
    holder.kill().unwrap();
    holder.wait().unwrap();
    let start = Instant::now();
    while runs(pid) {
        assert!(start.elapsed() < Duration::from_secs(60), "the server {pid} outlived its test process");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn runs(pid: u32) -> bool {
    PathBuf::from(format!("/proc/{pid}")).exists()
}
