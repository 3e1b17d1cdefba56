//! The one thread of a store that writes: it takes what waits, commits it together, and then answers.

use std::{
    collections::VecDeque,
    mem,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use interlock_sync::{clock::Clock, store::StoreError};
use rusqlite::{Connection, Error, Result};
use tokio::sync::mpsc;

use super::{
    connect::has_moved,
    fault::{at_commit, before_commit, is_busy, moved},
    job::Job,
    patience::full_jitter,
    tables::{Statements, Tables, Versions},
};

/// How many operations share a commit at most, so that the first does not wait long for the last.
const BATCH: usize = 512;

/// How many operations pass between two sweeps that the writer makes by itself.
const SWEEP_EVERY: usize = 256;

/// How many entries of each kind such a sweep removes at most. No operation leaves more than one to be swept, so it keeps up.
const SWEEP_MOST: usize = 1024;

/// What the thread works with.
pub(super) struct Desk<'c> {
    connection: &'c Connection,
    statements: Statements<'c>,
    space: i64,
    clock: Arc<dyn Clock>,
    jobs: mpsc::Receiver<Job>,
    /// What was taken from the queue and has not run.
    waiting: VecDeque<Job>,
    /// How long an operation waits for its turn before it is turned away.
    patience: Duration,
    commits: Arc<AtomicU64>,
    versions: Versions,
    until_sweep: usize,
    /// Whether what waits was run before, and one of it failed.
    one_failed: bool,
    /// Whether a commit failed in such a way that its end may be on the disk, where a crash would bring it to light.
    unsettled: bool,
}

impl<'c> Desk<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        space: i64,
        clock: Arc<dyn Clock>,
        jobs: mpsc::Receiver<Job>,
        patience: Duration,
        commits: Arc<AtomicU64>,
    ) -> Self {
        let waiting = VecDeque::with_capacity(BATCH);
        let (versions, until_sweep, one_failed, unsettled) = (Versions::default(), SWEEP_EVERY, false, false);
        Self {
            connection,
            statements: Statements::new(connection),
            space,
            clock,
            jobs,
            waiting,
            patience,
            commits,
            versions,
            until_sweep,
            one_failed,
            unsettled,
        }
    }

    /// Works until nobody can hand anything over any more, and all that was handed over is done.
    pub(super) fn work(mut self) {
        while let Some(job) = self.jobs.blocking_recv() {
            self.waiting.push_back(job);
            while !self.waiting.is_empty() {
                if self.begin() {
                    self.settle();
                }
            }
        }
    }

    /// Takes the file's write lock, and all that wait for it; `false` if it came to nothing, and then nobody waits any more.
    fn begin(&mut self) -> bool {
        let mut round = 0;
        loop {
            self.gather(BATCH);
            if self.waiting.is_empty() {
                return false;
            }
            match self.execute("BEGIN IMMEDIATE").and_then(|()| has_moved(self.connection)) {
                Ok(false) => break,
                Ok(true) => return self.refuse(moved),
                Err(error) if is_busy(&error) => thread::sleep(full_jitter(round)),
                Err(error) => {
                    let error = Arc::new(error);
                    return self.refuse(|| before_commit("no transaction could begin", Arc::clone(&error)));
                }
            }
            round += 1;
        }
        // Others may have come meanwhile.
        self.gather(BATCH);
        true
    }

    /// Takes what is in the queue, as long as not more wait than these, and turns away what has waited too long.
    ///
    /// What is turned away has not run and never will, and its caller is told so before it stops waiting: else it would be in doubt
    /// for no reason.
    fn gather(&mut self, most: usize) {
        while self.waiting.len() < most
            && let Ok(job) = self.jobs.try_recv()
        {
            self.waiting.push_back(job);
        }
        let waits_too_long = |job: &Job| job.waited() >= self.patience;
        while self.waiting.front().is_some_and(waits_too_long)
            && let Some(job) = self.waiting.pop_front()
        {
            let reason = "another process has the file, or too many operations are waiting for it".into();
            job.answer(Err(StoreError::Unavailable { reason, source: None }));
        }
    }

    /// Runs what waits, and commits once.
    ///
    /// Hardly ever does an operation fail, and to be able to take back one alone costs as much as the operation itself. So they are run
    /// together first. If one fails, all are taken back, none is answered, and they are run again each apart from the others.
    fn settle(&mut self) {
        self.versions = Versions::default();
        let done = if mem::take(&mut self.one_failed) {
            match self.run_each_apart() {
                Some(done) => done,
                None => return,
            }
        } else if let Err(_told_when_it_fails_alone) = self.run_together() {
            self.roll_back();
            self.one_failed = true;
            return;
        } else {
            mem::take(&mut self.waiting).into()
        };
        self.commit_and_answer(done);
    }

    /// Also runs what comes meanwhile. Callers that were answered together ask again at about the same time, and those who are a little
    /// later than the first would else wait for its commit before they get their own.
    fn run_together(&mut self) -> Result<()> {
        let (mut ran, mut end) = (VecDeque::with_capacity(BATCH), Ok(()));
        while end.is_ok()
            && let Some(mut job) = self.waiting.pop_front()
        {
            end = self.guarded(|tables| job.run(tables));
            ran.push_back(job);
            if self.waiting.is_empty() {
                self.gather(BATCH.saturating_sub(ran.len()));
            }
        }
        ran.append(&mut self.waiting);
        self.waiting = ran;
        end
    }

    /// Runs what waits, and answers those that fail; `None` if nothing is left to commit.
    fn run_each_apart(&mut self) -> Option<Vec<Job>> {
        let mut done = Vec::with_capacity(self.waiting.len());
        while let Some(mut job) = self.waiting.pop_front() {
            match self.apart(|tables| job.run(tables)) {
                Ok(()) => done.push(job),
                Err(error) => job.answer(Err(before_commit("the operation was taken back", Arc::new(error)))),
            }
            // After some failures SQLite takes the whole transaction back by itself.
            if self.connection.is_autocommit() {
                let reason = "another operation of the same transaction failed";
                answer(done, || StoreError::Unavailable { reason: reason.into(), source: None });
                return None;
            }
        }
        Some(done)
    }

    fn commit_and_answer(&mut self, done: Vec<Job>) {
        self.sweep_now_and_then(done.len());
        match self.commit() {
            Ok(()) => done.into_iter().for_each(|job| job.answer(Ok(()))),
            Err(error) => {
                let error = Arc::new(error);
                self.unsettled |= at_commit(&error).is_in_doubt();
                self.roll_back();
                answer(done, || at_commit(&error));
            }
        }
    }

    /// Does something that is taken back if it fails, and nothing else with it.
    fn apart(&self, work: impl FnOnce(&Tables<'_, '_>) -> Result<()>) -> Result<()> {
        self.execute("SAVEPOINT operation")?;
        let end = self.guarded(work);
        let taken_back = if end.is_err() { self.execute("ROLLBACK TO operation") } else { Ok(()) };
        let closed = taken_back.and_then(|()| self.execute("RELEASE operation"));
        if closed.is_err() {
            self.roll_back();
        }
        end
    }

    /// Does something. A bug that one request brings out must not end the thread on which all others depend.
    fn guarded(&self, work: impl FnOnce(&Tables<'_, '_>) -> Result<()>) -> Result<()> {
        let tables = self.tables();
        panic::catch_unwind(AssertUnwindSafe(|| work(&tables))).unwrap_or(Err(Error::UnwindingPanic))
    }

    fn tables(&self) -> Tables<'_, 'c> {
        Tables::new(self.connection, self.space, &self.versions, self.clock.now()).with(&self.statements)
    }

    /// Commits. Nothing is written if nothing changed, unless a commit before this one is unsettled: then something is, so that what
    /// may be left of that one on the disk is overwritten before anybody is told that it did not take effect.
    fn commit(&mut self) -> Result<()> {
        if self.unsettled {
            self.tables().touch()?;
        }
        self.tables().keep_versions()?;
        self.execute("COMMIT")?;
        self.unsettled = false;
        self.commits.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn sweep_now_and_then(&mut self, ran: usize) {
        self.until_sweep = match self.until_sweep.checked_sub(ran) {
            Some(left) => left,
            None => {
                // Whoever needs to know asks for a sweep. This one may fail; the next will find more.
                let _ = self.apart(|tables| tables.sweep(SWEEP_MOST).map(drop));
                SWEEP_EVERY
            }
        };
    }

    /// Ends a transaction that came to nothing, and says why to all that wait.
    fn refuse(&mut self, why: impl Fn() -> StoreError) -> bool {
        self.roll_back();
        answer(self.waiting.drain(..), why);
        false
    }

    /// Ends the transaction if there is one. Should that fail, the next one cannot begin and says so.
    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            let _ = self.execute("ROLLBACK");
        }
    }

    fn execute(&self, sql: &'static str) -> Result<()> {
        self.statements.run(sql, |statement| statement.execute([])).map(drop)
    }
}

fn answer(jobs: impl IntoIterator<Item = Job>, why: impl Fn() -> StoreError) {
    jobs.into_iter().for_each(|job| job.answer(Err(why())));
}
