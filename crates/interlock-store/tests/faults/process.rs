//! Processes of ours that do the work: this test program, started again with orders in its environment.

use std::{
    env,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::{Pid, Signal, getpid, kill_process, set_parent_process_death_signal};

use crate::{caller, client, holder};

const ORDERS: &str = "INTERLOCK_FAULTS_ORDERS";

/// What a process is to do.
#[derive(Debug, Clone)]
pub(crate) struct Orders {
    pub(crate) role: Role,
    pub(crate) url: String,
    pub(crate) namespace: String,
    pub(crate) folder: PathBuf,
    pub(crate) id: u64,
    /// Where it kills itself, and at which time it comes by.
    pub(crate) failpoint: Option<(Failpoint, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    /// Of a lease.
    Holder,
    /// Of what an admitted call has.
    Caller,
}

const ROLES: &[(Role, &str)] =
    &[(Role::Client, "client"), (Role::Holder, "holder"), (Role::Caller, "caller")];

/// Between which two steps a client dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failpoint {
    /// The intent is in the journal, and nothing was sent.
    BeforeSending,
    /// It is on its way, and the answer has not been seen.
    AfterSending,
    /// The answer is there, and the journal does not know it.
    BeforeNoting,
    /// The attempt is dispatched, and the effect has not begun.
    BeforeEffect,
    /// The effect has happened, and the store does not know it.
    AfterEffect,
}

pub(crate) const FAILPOINTS: &[(Failpoint, &str)] = &[
    (Failpoint::BeforeSending, "clients killed before sending"),
    (Failpoint::AfterSending, "clients killed after sending"),
    (Failpoint::BeforeNoting, "clients killed before noting the answer"),
    (Failpoint::BeforeEffect, "clients killed before the effect"),
    (Failpoint::AfterEffect, "clients killed after the effect"),
];

impl Orders {
    /// The journal of the process.
    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join(format!("journal-{}", self.id))
    }

    /// What stands for the world outside: a file to which each effect appends its key.
    pub(crate) fn effects(&self) -> PathBuf {
        self.folder.join("effects")
    }

    fn text(&self) -> String {
        let role = ROLES.iter().find(|(known, _)| *known == self.role).unwrap().1;
        let (point, time) = self.failpoint.map_or(("none", 0), |(point, time)| {
            (FAILPOINTS.iter().find(|(known, _)| *known == point).unwrap().1, time)
        });
        let folder = self.folder.display();
        format!("{role}\t{}\t{}\t{folder}\t{}\t{point}\t{time}", self.url, self.namespace, self.id)
    }

    fn of_text(text: &str) -> Self {
        let fields: Vec<&str> = text.split('\t').collect();
        let point = FAILPOINTS.iter().find(|(_, name)| *name == fields[5]).map(|(point, _)| *point);
        Self {
            role: ROLES.iter().find(|(_, name)| *name == fields[0]).unwrap().0,
            url: fields[1].into(),
            namespace: fields[2].into(),
            folder: fields[3].into(),
            id: fields[4].parse().unwrap(),
            failpoint: point.map(|point| (point, fields[6].parse().unwrap())),
        }
    }
}

/// Does what the environment says, if it says something.
#[expect(clippy::disallowed_methods, reason = "the second run must be told apart from the first")]
pub(crate) fn obeyed() -> bool {
    let Ok(orders) = env::var(ORDERS) else { return false };
    // Also a process that is stopped ends with the one that would have let it go on.
    set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    let orders = Orders::of_text(&orders);
    let dismissed = Arc::new(AtomicBool::new(false));
    let hears = Arc::clone(&dismissed);
    std::thread::spawn(move || {
        // The end of the input is the end of the work.
        let _ = std::io::stdin().read_to_end(&mut vec![]);
        hears.store(true, Ordering::SeqCst);
    });
    match orders.role {
        Role::Client => crate::block_on(client::work(orders, dismissed)),
        Role::Holder => crate::block_on(holder::hold(orders)),
        Role::Caller => crate::block_on(caller::call(orders)),
    }
    true
}

/// Ends this process as `kill -9` does.
pub(crate) fn die() -> ! {
    kill_process(getpid(), Signal::KILL).unwrap();
    loop {
        std::thread::park();
    }
}

/// A process at work; killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
    pub(crate) orders: Orders,
}

impl Worker {
    pub(crate) fn start(orders: Orders) -> Self {
        let entry = "clients_that_nothing_happens_to_settle_everything";
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", entry, "--nocapture", "--test-threads=1"])
            .env(ORDERS, orders.text())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, orders }
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its own end; whether that was a good one.
    pub(crate) fn ends_well(&mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    /// Lets it finish what it is at.
    pub(crate) fn dismiss(&mut self) {
        self.input = None;
    }

    /// Waits for a line that starts with a word, and returns the rest.
    pub(crate) fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "it ended without saying `{word}`");
            if let Some(rest) = line.strip_prefix(word) {
                return rest.trim().to_owned();
            }
        }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        // It has not been waited for, so its id is still its own; it may have ended.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // If it has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
