//! Workers: each takes an audit, runs it, and ends it.

mod child;
mod registry;
mod result;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::sync::{Notify, watch};

use self::child::Left;
use crate::{
    egress::Egress,
    jobs::{Claim, Done, Ended, Jobs, Progress, Report},
    tally::Tally,
    target::Allowed,
};

/// How long a worker that found nothing waits before it looks again.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a worker waits before it asks a store again that did not answer.
const STORE_PAUSE: Duration = Duration::from_secs(2);
/// How often old audits are forgotten.
const FORGET: Duration = Duration::from_secs(10 * 60);

/// What an audit may take.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// From its beginning to its report.
    pub time: Duration,
    /// In bytes, over the network.
    pub download: u64,
    /// In bytes, of memory for each process.
    pub memory: u64,
    /// In bytes, of one report.
    pub report: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { time: Duration::from_secs(300), download: 256 << 20, memory: 4 << 30, report: 64 << 20 }
    }
}

/// What workers of one process share.
pub struct Work {
    /// The audits.
    pub jobs: Jobs,
    /// What may be asked for; asked again, because another version or configuration may have queued it.
    pub allowed: Allowed,
    /// The way to the network.
    pub egress: Egress,
    /// What an audit may take.
    pub bounds: Bounds,
    /// This program.
    pub program: PathBuf,
    /// Where audits have their folders.
    pub scratch: PathBuf,
    /// What the clients may know of the environment: where programs, certificates and registries are.
    pub environment: BTreeMap<OsString, OsString>,
    /// Numbers.
    pub tally: Arc<Tally>,
    /// Wakes a worker when something was queued in this process.
    pub wake: Arc<Notify>,
    /// Told what happens, a line each.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Work {
    /// Takes audits until told to stop; the one under way then is given back.
    pub async fn run(&self, mut stop: watch::Receiver<bool>) {
        let mut forgot = Instant::now();
        while !*stop.borrow() {
            let claimed = tokio::select! {
                claimed = self.jobs.claim() => claimed,
                _ = stop.wait_for(|stop| *stop) => return,
            };
            let pause = match claimed {
                Ok(Some(claim)) => {
                    self.one(claim, &mut stop).await;
                    continue;
                }
                Ok(None) => PAUSE,
                Err(error) => {
                    (self.log)(&format!("the store is of no use: {error}"));
                    STORE_PAUSE
                }
            };
            if forgot.elapsed() > FORGET {
                forgot = Instant::now();
                if let Err(error) = self.jobs.forget(now()).await {
                    (self.log)(&format!("old audits could not be forgotten: {error}"));
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.wake.notified() => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
    }

    async fn one(&self, claim: Claim, stop: &mut watch::Receiver<bool>) {
        let id = claim.id;
        Tally::count(&self.tally.begun);
        if claim.tries > 1 {
            Tally::count(&self.tally.taken_over);
        }
        (self.log)(&format!("{id} begins, try {}", claim.tries));
        self.tally.running.fetch_add(1, Ordering::Relaxed);
        let begin = Instant::now();
        let gone = async {
            tokio::select! {
                () = claim.lost() => {}
                _ = stop.wait_for(|stop| *stop) => {}
            }
        };
        let outcome = self.audit(&claim, gone).await;
        self.tally.running.fetch_sub(1, Ordering::Relaxed);
        let mut done = Done {
            asked: claim.asked.clone(),
            ended: now(),
            took: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
            tries: claim.tries,
            score: None,
            grade: None,
            findings: BTreeMap::new(),
            failure: None,
        };
        let (counter, report) = match outcome {
            Ok((report, summary)) => {
                (done.score, done.grade, done.findings) = (summary.score, summary.grade, summary.findings);
                (&self.tally.reported, report)
            }
            // Dropping the claim gives it back, so that another begins at once.
            Err(Left::ToAnother) => {
                Tally::count(&self.tally.lost);
                (self.log)(&format!("{id} is left to another worker"));
                return;
            }
            Err(Left::Failed(why)) => {
                done.failure = Some(why);
                (&self.tally.failed, Report::new())
            }
        };
        match self.jobs.end(claim, &done, report).await {
            Ok(Ended::Once) => {
                Tally::count(counter);
                (self.log)(&format!(
                    "{id} ended{}",
                    done.failure.map(|why| format!(": {why}")).unwrap_or_default()
                ));
            }
            Ok(Ended::Before | Ended::Lost) => {
                Tally::count(&self.tally.lost);
                (self.log)(&format!("{id} was ended by another worker"));
            }
            Err(error) => (self.log)(&format!("{id} could not be ended, and will be begun again: {error}")),
        }
    }

    /// Runs an audit; a failure is a sentence for whoever asked.
    async fn audit(
        &self,
        claim: &Claim,
        gone: impl Future<Output = ()>,
    ) -> Result<(Report, result::Summary), Left> {
        let failed = Left::Failed;
        if claim.is_hopeless() {
            return Err(failed("the workers that tried it did not come back".to_owned()));
        }
        let progress = |progress: Progress| async move { self.jobs.progress(claim, &progress).await };
        progress(Progress { step: 0, of: 0, doing: "begins".to_owned() }).await;
        let folder = tempfile::Builder::new()
            .prefix("interlock-serve-")
            .tempdir_in(&self.scratch)
            .map_err(|error| failed(format!("there is no room for it: {error}")))?;
        let target = if claim.asked.uploaded {
            let bytes = self.jobs.upload(claim).await.map_err(|error| failed(error.to_string()))?;
            let bytes = bytes.ok_or_else(|| failed("the archive is not there any more".to_owned()))?;
            // A name of our own: what the caller calls it is only shown.
            let path = folder.path().join("archive.tar.gz");
            tokio::fs::write(&path, bytes).await.map_err(|error| failed(error.to_string()))?;
            child::Target {
                what: path.display().to_string(),
                called: claim.asked.target.clone(),
                hosts: Vec::new(),
            }
        } else {
            let reach = self.allowed.judge(&claim.asked.target).map_err(|why| failed(why.to_string()))?;
            let hosts = registry::hosts(&reach, self, folder.path()).await.map_err(failed)?;
            child::Target { what: claim.asked.target.clone(), called: claim.asked.target.clone(), hosts }
        };
        child::run(self, &target, folder.path(), &progress, gone).await?;
        result::read(folder.path(), self.bounds.report).map_err(failed)
    }
}

/// Milliseconds since 1970.
#[must_use]
pub fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}
