//! One instance of a server: fresh, connected, with a hold on it if one is wanted.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use interlock_model::{Answer, PlannedCall, Schedule};
use serde_json::Value;
use tokio::process::Command;

use super::{Patience, Scratch, Target, fill, process::Process, scratch::fill_value};
use crate::{
    connect::{Connection, Exchange, Http, Request, Wire},
    files::{self, is_files, seeds},
    isolate::Isolation,
    launch::Launch,
    perturb::{Leash, Perturb},
    plan::{plain, restraint::Restraint},
    trouble::Trouble,
};

/// On what terms instances are started and called.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) isolation: Arc<Isolation>,
    pub(crate) restraint: Arc<Restraint>,
    pub(crate) patience: Patience,
}

pub(crate) struct Instance {
    pub(crate) connection: Connection,
    pub(crate) leash: Option<Box<dyn Leash>>,
    // Dropped after the process, so that nothing writes into a folder that is being removed.
    process: Option<Process>,
    scratch: Arc<Scratch>,
    terms: Terms,
    /// What the set-up calls said, which later calls may refer to.
    said: Vec<Value>,
    /// Whether a tool was called that may change something. Until then all that is read was there before.
    touched: bool,
    /// Folders beside the server's code of which it has a copy.
    folders: Vec<PathBuf>,
}

impl Instance {
    /// Starts a command, or puts a running server back, and shakes hands.
    pub(crate) async fn start(
        target: &Target,
        hold: Option<&dyn Perturb>,
        terms: &Terms,
    ) -> Result<Self, Trouble> {
        let scratch = Arc::new(Scratch::new()?);
        let folders = terms.isolation.own_folders();
        if let Some(seed) = &terms.isolation.seed {
            seeds::copy(seed, &scratch.server)?;
        }
        if let Target::Url { reset, .. } = target {
            put_back(reset, terms.patience.start).await?;
        }
        let ours = scratch.ours.clone();
        Self::on(target, scratch, hold.map(|hold| (hold, ours.as_path())), terms, folders).await
    }

    /// Starts the command again on the folder of an earlier instance.
    pub(crate) async fn again(self, target: &Target) -> Result<Self, Trouble> {
        let Self { scratch, terms, process, said, touched, folders, .. } = self;
        drop(process);
        Ok(Self { said, touched, ..Self::on(target, scratch, None, &terms, folders).await? })
    }

    /// Another process on the folder of this one, as another client of it has; with a hold of its own, if one is wanted.
    pub(crate) async fn beside(&self, target: &Target, hold: Option<&dyn Perturb>) -> Result<Self, Trouble> {
        let ours = hold.map(|_| self.scratch.ours_beside()).transpose()?;
        let hold = hold.zip(ours.as_deref());
        let folders = self.folders.clone();
        let beside = Self::on(target, Arc::clone(&self.scratch), hold, &self.terms, folders).await?;
        Ok(Self { said: self.said.clone(), touched: self.touched, ..beside })
    }

    async fn on(
        target: &Target,
        scratch: Arc<Scratch>,
        hold: Option<(&dyn Perturb, &Path)>,
        terms: &Terms,
        folders: Vec<PathBuf>,
    ) -> Result<Self, Trouble> {
        let (wire, process, leash) = match target {
            Target::Command { .. } => {
                let mut launch = launch(target, &scratch.server);
                terms.isolation.move_in(&mut launch, &scratch);
                let leash = hold.map(|(hold, ours)| hold.attach(&mut launch, ours)).transpose()?;
                let copies = scratch.copies_of(&folders)?;
                let wrapped = terms.isolation.wrapped(&launch, &scratch.root, &copies);
                let (process, stdio) = Process::start(&launch, wrapped, &scratch)?;
                (Wire::Stdio(stdio), Some(process), leash)
            }
            Target::Url { address, headers, .. } => {
                (Wire::Http(Box::new(Http::new(address.clone(), headers.clone()))), None, None)
            }
        };
        let mut process = process;
        match Connection::open(wire, terms.patience.start).await {
            Ok(connection) => {
                let terms = terms.clone();
                let said = Vec::new();
                Ok(Self { connection, leash, process, scratch, terms, said, touched: false, folders })
            }
            Err(trouble) => Err(explain(trouble, process.as_mut()).await),
        }
    }

    /// The folder of the server.
    pub(crate) fn folder(&self) -> &Path {
        &self.scratch.server
    }

    /// All that is the instance's.
    pub(crate) fn root(&self) -> &Path {
        &self.scratch.root
    }

    /// The folders that it has copies of, and the copies.
    pub(crate) fn copies(&self) -> Vec<(PathBuf, PathBuf)> {
        self.scratch.copies_of(&self.folders).unwrap_or_default()
    }

    /// One call, waited for.
    pub(crate) async fn call(&mut self, call: &PlannedCall) -> Result<Exchange, Trouble> {
        let call = self.filled(call)?;
        match self.connection.call(&call, self.terms.patience.answer).await {
            Ok(exchange) => {
                if let Ok((_, reply)) = &exchange.answer {
                    self.terms.restraint.learn(&plain(reply.value()), !self.touched);
                }
                Ok(exchange)
            }
            Err(trouble) => Err(explain(trouble, self.process.as_mut()).await),
        }
    }

    /// A set-up call, which has to work.
    pub(crate) async fn set_up(&mut self, call: &PlannedCall) -> Result<(), Trouble> {
        if is_files(call) {
            files::lay(call, self.folder())?;
            self.said.push(Value::Null);
            return Ok(());
        }
        match self.call(call).await?.answer {
            Ok((_, reply)) if reply.is_error() => Err(Trouble::SetUp(call.tool.clone(), reply.text())),
            Ok((_, reply)) => {
                self.said.push(plain(reply.value()));
                Ok(())
            }
            Err(why) => Err(Trouble::SetUp(call.tool.clone(), why)),
        }
    }

    /// Keeps what a call said for those that refer to it.
    pub(crate) fn note(&mut self, exchange: &Exchange) {
        self.said.push(exchange.answer.as_ref().map_or(Value::Null, |(_, reply)| plain(reply.value())));
    }

    /// Gets requests ready.
    pub(crate) fn prepare(&mut self, calls: &[PlannedCall]) -> Result<Vec<Request>, Trouble> {
        let mut filled = Vec::new();
        for call in calls {
            filled.push(self.filled(call)?);
        }
        let calls = filled;
        Ok(calls.iter().map(|call| self.connection.prepare(call)).collect())
    }

    /// Sends them as the schedule says.
    pub(crate) async fn together(
        &mut self,
        requests: &[Request],
        schedule: &Schedule,
        patience: Option<Duration>,
    ) -> Result<Vec<Exchange>, Trouble> {
        let patience = patience.unwrap_or(self.terms.patience.answer);
        match self.connection.together(requests, schedule, patience).await {
            Ok(exchanges) => Ok(exchanges),
            Err(trouble) => Err(explain(trouble, self.process.as_mut()).await),
        }
    }

    /// Tells the process to end, and does not wait for it.
    pub(crate) fn signal_end(&self) {
        if let Some(process) = &self.process {
            process.signal_end();
        }
    }

    /// Ends the process now.
    pub(crate) async fn kill(&mut self) {
        if let Some(process) = &mut self.process {
            process.kill().await;
        }
    }

    /// Leaves as a client does, collects what is still said, and waits for the process to end.
    pub(crate) async fn close(&mut self, requests: &[Request], exchanges: &mut [Exchange]) {
        self.connection.leave();
        let patience = self.terms.patience.answer;
        self.connection.late(requests, exchanges, patience).await;
        if let Some(process) = &mut self.process {
            process.wait(patience).await;
        }
    }

    /// How the process ended, if it has.
    pub(crate) async fn last_words(&mut self) -> String {
        match &mut self.process {
            Some(process) => process.last_words().await,
            None => String::new(),
        }
    }

    /// A call as it is sent. All that is sent comes by here, and is judged by what it says then.
    fn filled(&mut self, planned: &PlannedCall) -> Result<PlannedCall, Trouble> {
        let folder = self.folder();
        let call = planned
            .filled(&self.said)
            .map_err(|error| Trouble::SetUp(planned.tool.clone(), error.to_string()))?;
        let call = PlannedCall {
            arguments: fill_value(&call.arguments, folder),
            meta: fill_value(&call.meta, folder),
            tool: call.tool,
        };
        let restraint = &self.terms.restraint;
        let may = restraint.let_go(planned, &call, folder);
        may.map_err(|why| Trouble::Withheld(call.tool.clone(), why))?;
        self.touched |= restraint.may_change(&call.tool);
        Ok(call)
    }
}

impl Exchange {
    /// The answer as a history keeps it.
    pub(crate) fn answer(&self, since: crate::clock::Instant) -> Answer {
        match &self.answer {
            Ok((at, reply)) => {
                let (at, value) = (at.since(since), reply.value().clone());
                if reply.is_error() { Answer::Error { at, value } } else { Answer::Result { at, value } }
            }
            Err(reason) => Answer::Missing { reason: reason.clone() },
        }
    }
}

/// How an instance with this folder is started.
pub(crate) fn launch(target: &Target, scratch: &Path) -> Launch {
    let Target::Command { command, environment, directory } = target else { return Launch::default() };
    let mut words = command.iter().map(|word| OsString::from(fill(word, scratch)));
    Launch {
        program: words.next().unwrap_or_default(),
        arguments: words.collect(),
        environment: environment
            .iter()
            .map(|(key, value)| (key.into(), fill(value, scratch).into()))
            .collect(),
        scratch: scratch.to_owned(),
        directory: directory.clone(),
    }
}

/// Adds what the process had to say to a trouble that follows from its end.
async fn explain(trouble: Trouble, process: Option<&mut Process>) -> Trouble {
    match (trouble, process) {
        (Trouble::Ended(_) | Trouble::Io(_), Some(process)) => Trouble::Ended(process.last_words().await),
        (Trouble::Junk(line, after), Some(process)) => {
            Trouble::Junk(line, format!("{after}{}", process.last_words().await))
        }
        (trouble, _) => trouble,
    }
}

async fn put_back(reset: &str, patience: Duration) -> Result<(), Trouble> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(reset).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(patience, command.output())
        .await
        .map_err(|_| Trouble::Reset(format!("it did not end within {} s", patience.as_secs_f32())))??;
    if output.status.success() {
        return Ok(());
    }
    let words: String =
        String::from_utf8_lossy(&output.stderr).chars().filter(|c| !c.is_control()).take(200).collect();
    Err(Trouble::Reset(format!("{} {words}", output.status)))
}
