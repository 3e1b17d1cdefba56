//! The throwaway servers are real, and gone afterwards: after a drop, a panic, and the death of the test process.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit::service::{Postgres, Redis, Setup};

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
fn a_killed_redis_that_is_durable_has_everything_when_it_is_started_again() {
    let mut redis = Redis::start_as(Setup { durable: true, own_clock: true, ..Setup::default() }).unwrap();
    let (address, first) = (redis.address(), redis.pid());
    assert_eq!(ask(address, "SET note kept"), "+OK");
    redis.kill().unwrap();
    assert!(!runs(first) && TcpStream::connect(address).is_err());
    redis.restart().unwrap();
    assert_ne!(redis.pid(), first);
    assert_eq!(ask(address, "GETRANGE note 0 3"), "$4", "the length of what was noted");

    let seconds = || ask(address, "EVAL \"return tonumber(redis.call('TIME')[1])\" 0");
    let number = |text: String| text.trim_start_matches(':').parse::<i64>().unwrap();
    let before = number(seconds());
    redis.shift_clock(-7_200).unwrap();
    assert!(number(seconds()) < before - 3_600);
    redis.shift_clock(7_200).unwrap();
    assert!(number(seconds()) > before + 3_600);
    drop(redis);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_killed_postgres_has_everything_when_it_is_started_again_and_its_clock_can_be_shifted() {
    let mut postgres = Postgres::start_as(Setup { own_clock: true, ..Setup::default() }).unwrap();
    postgres.query("create table notes as select 1 as id").unwrap();
    let first = postgres.pid();
    postgres.kill().unwrap();
    assert!(!runs(first) && postgres.query("select 1").is_err());
    postgres.restart().unwrap();
    assert_eq!(postgres.query("select count(*) from notes").unwrap(), "1");

    let years = |postgres: &Postgres| -> i64 {
        postgres.query("select extract(year from clock_timestamp())::int").unwrap().parse().unwrap()
    };
    let before = years(&postgres);
    postgres.shift_clock(-3 * 366 * 24 * 3_600).unwrap();
    assert!(years(&postgres) < before);
    postgres.shift_clock(3 * 366 * 24 * 3_600).unwrap();
    assert!(years(&postgres) > before);
    let pid = postgres.pid();
    drop(postgres);
    assert!(!runs(pid));
}

/// The first line of what Redis answers to a command.
fn ask(address: SocketAddr, command: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(format!("{command}\r\n").as_bytes()).expect("it reads");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("it answers");
    line.trim_end().to_owned()
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
        Write::write_all(&mut std::io::stderr(), format!("\nserver {}\n", redis.pid()).as_bytes()).unwrap();
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
