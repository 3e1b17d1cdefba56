//! Where runs are made: each on an instance of its own, one call after another or all together.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use interlock_model::{Answer, CallRecord, CallSet, Fault, History, IoTick, PlannedCall, Schedule};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    clock::Instant,
    connect::{Exchange, Reply},
    files::{self, is_files},
    isolate::{Isolation, Resolved, resolve},
    perturb::{self, Observed},
    plan::restraint::Restraint,
    request::{Progress, Request},
    target::{Hold, Instance, Patience, Pool, Target, Terms, orphans, unfill_answer},
    trouble::Trouble,
};

/// Makes runs, and counts the calls.
pub(crate) struct Lab {
    pub(crate) target: Arc<Target>,
    pub(crate) restraint: Arc<Restraint>,
    isolation: Arc<Isolation>,
    pool: Pool,
    calls: AtomicU64,
    /// What was fetched for the server.
    _stage: Option<TempDir>,
}

/// What one run came to, as it was.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// The calls of the set, in its order; one that was not made has no answer.
    pub(crate) history: History,
    /// What the reads said before the calls, where an invariant wants to know.
    pub(crate) before: Vec<Answer>,
    /// What they said afterwards.
    pub(crate) reads: Vec<Answer>,
    /// The instance's folder, which stands in its answers.
    pub(crate) folder: PathBuf,
    /// What was seen from inside.
    pub(crate) observed: Observed,
    /// What the server did that no server should.
    pub(crate) oddities: Vec<String>,
    /// How long it took once the instance was there.
    pub(crate) took: Duration,
}

/// How long is waited in a serial run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pauses {
    pub(crate) between: Duration,
    pub(crate) before_reads: Duration,
}

/// A folder that there is not.
const NO_ROOT: &str = "/no-folder";

/// The reason of a call that was not made.
pub(crate) const NOT_MADE: &str = "not made in this order";

impl Drop for Lab {
    fn drop(&mut self) {
        self.pool.end();
        orphans::end_confined();
    }
}

impl Lab {
    /// Finds what the command names, before the server stands elsewhere; `ahead` is how many instances are kept ready.
    pub(crate) async fn new(
        request: &Request,
        ahead: usize,
        progress: &dyn Progress,
    ) -> Result<Self, Trouble> {
        let Resolved { target, stage } = resolve(&request.target, &request.isolation, progress).await?;
        orphans::adopt();
        let target = Arc::new(target);
        let terms = Terms {
            isolation: Arc::clone(&request.isolation),
            restraint: Arc::clone(&request.restraint),
            patience: request.patience,
        };
        let pool = Pool::new(Arc::clone(&target), request.perturbations.clone(), terms, ahead);
        let restraint = Arc::clone(&request.restraint);
        let isolation = Arc::clone(&request.isolation);
        Ok(Self { target, restraint, isolation, pool, calls: AtomicU64::new(0), _stage: stage })
    }

    /// Calls that were sent so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The tools of the server.
    pub(crate) async fn tools(&self) -> Result<Vec<Value>, Trouble> {
        let mut instance = self.pool.take(Hold::Free).await?;
        let tools = instance.connection.tools(Patience::default().answer).await?;
        self.restraint.know_tools(&tools);
        self.give_back(instance);
        Ok(tools)
    }

    /// The ways in which requests can be delivered.
    pub(crate) async fn deliveries(&self) -> Result<Vec<interlock_model::Delivery>, Trouble> {
        let instance = loop {
            let had = self.isolation.own_folders();
            match self.pool.take(Hold::Free).await {
                // What it cannot write as it starts it may be given a copy of.
                Err(Trouble::Ended(words)) if self.is_given_more_to_start(&had, &words) => {}
                outcome => break outcome?,
            }
        };
        let deliveries = instance.connection.deliveries().to_vec();
        self.give_back(instance);
        Ok(deliveries)
    }

    /// Keeps an instance on which nothing was called. One that somebody else runs is put back before every run.
    fn give_back(&self, instance: Instance) {
        if !self.target.networked() {
            self.pool.give_back(instance);
        }
    }

    /// Begins to start an instance with a hold that will be asked for.
    pub(crate) fn expect(&self, hold: &str) {
        self.pool.expect(self.pool.hold(hold));
    }

    /// Whether the folder of an instance can be read: it is ours, and the server keeps its files there.
    pub(crate) fn shows_files(&self) -> bool {
        !self.target.networked()
    }

    /// Calls one after another on one fresh instance, whatever they answer.
    pub(crate) async fn in_turn(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, Trouble> {
        self.in_turn_then(calls, &[], &|_| false).await
    }

    /// The same, with further calls behind them if what they are answered is worth it.
    pub(crate) async fn in_turn_then(
        &self,
        calls: &[PlannedCall],
        then: &[PlannedCall],
        is_worth: &(dyn for<'a> Fn(&'a [Answer]) -> bool + Sync),
    ) -> Result<Vec<Answer>, Trouble> {
        loop {
            let had = self.isolation.own_folders();
            let (answers, root) = self.in_turn_once(calls, then, is_worth).await?;
            if !self.is_given_more(&had, &answers, &root) {
                return Ok(answers);
            }
        }
    }

    /// Whether answers complain of a folder that the server may not write, of which instances have a copy from now on: then what was seen is not
    /// how the server is. `had` are the folders of which it had one.
    fn is_given_more<'a>(
        &self,
        had: &[PathBuf],
        answers: impl IntoIterator<Item = &'a Answer>,
        root: &Path,
    ) -> bool {
        let complains = self.isolation.gives_copies() && self.isolation.own.learn(answers, root);
        self.are_given_more(complains, had)
    }

    /// The same of what a server says as it ends while it is started. Its own folder is gone with it then.
    fn is_given_more_to_start(&self, had: &[PathBuf], words: &str) -> bool {
        let complains =
            self.isolation.gives_copies() && self.isolation.own.learn_from(words, Path::new(NO_ROOT));
        self.are_given_more(complains, had)
    }

    fn are_given_more(&self, complains: bool, had: &[PathBuf]) -> bool {
        let is_new = complains && self.isolation.own_folders() != had;
        if is_new {
            // Those that are ready have no copy.
            self.pool.end();
        }
        is_new
    }

    /// What there is to say of folders beside the server's code.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.isolation.own.notes()
    }

    async fn in_turn_once(
        &self,
        calls: &[PlannedCall],
        then: &[PlannedCall],
        is_worth: &(dyn for<'a> Fn(&'a [Answer]) -> bool + Sync),
    ) -> Result<(Vec<Answer>, PathBuf), Trouble> {
        let mut instance = self.pool.take(Hold::Free).await?;
        let begin = Instant::now();
        let mut answers = Vec::new();
        for (at, call) in calls.iter().chain(then).enumerate() {
            if at == calls.len() && !is_worth(&answers) {
                break;
            }
            // Whoever is silent once is not asked again, or all of the time would be spent on waiting.
            if let Some(silent @ Answer::Missing { .. }) = answers.last().cloned() {
                answers.push(silent);
                continue;
            }
            let exchange = self.call(&mut instance, call).await?;
            instance.note(&exchange);
            answers.push(unfill_answer(exchange.answer(begin), instance.folder()));
        }
        instance.kill().await;
        Ok((answers, instance.root().to_owned()))
    }

    /// The calls of a set in one order, each waited for, with a pause between them if one is wanted; those that the order leaves out are not made.
    pub(crate) async fn serial(
        &self,
        set: &CallSet,
        order: &[usize],
        pauses: Pauses,
    ) -> Result<Run, Trouble> {
        loop {
            let had = self.isolation.own_folders();
            let run = self.serial_once(set, order, pauses).await?;
            let answers = run.history.calls.iter().map(|call| &call.answer).chain(&run.reads);
            if !self.is_given_more(&had, answers, run.folder.parent().unwrap_or(&run.folder)) {
                return Ok(run);
            }
        }
    }

    async fn serial_once(&self, set: &CallSet, order: &[usize], pauses: Pauses) -> Result<Run, Trouble> {
        let mut instance = self.pool.take(Hold::Free).await?;
        let begin = Instant::now();
        let before = self.begin(&mut instance, set).await?;
        let mut others = self.others(&instance, set, Hold::Free).await?;
        let start = Instant::now();
        let mut exchanges: Vec<Option<Exchange>> = vec![None; set.calls.len()];
        for (at, index) in order.iter().enumerate() {
            if at > 0 && !pauses.between.is_zero() {
                tokio::time::sleep(pauses.between).await;
            }
            if let (Some(call), Some(slot)) = (set.calls.get(*index), exchanges.get_mut(*index)) {
                let callee = match index.checked_rem(others.len() + 1).and_then(|at| at.checked_sub(1)) {
                    Some(at) => others.get_mut(at).unwrap_or(&mut instance),
                    None => &mut instance,
                };
                *slot = Some(self.call(callee, call).await?);
            }
        }
        let calls = set.calls.iter().zip(exchanges);
        let calls = calls.map(|(call, exchange)| match exchange {
            Some(exchange) => record(call, &exchange, start),
            None => CallRecord {
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                sent: Duration::ZERO,
                answer: Answer::Missing { reason: NOT_MADE.into() },
            },
        });
        let history = History { calls: calls.collect(), ticks: Vec::new() };
        // What does not outlive the process must not be expected of it afterwards either.
        let instance = match set.fault {
            Fault::None => instance,
            Fault::Kill { .. } => {
                instance.kill().await;
                instance.again(&self.target).await?
            }
            Fault::Close { .. } => {
                instance.close(&[], &mut []).await;
                instance.again(&self.target).await?
            }
        };
        if !pauses.before_reads.is_zero() {
            tokio::time::sleep(pauses.before_reads).await;
        }
        self.end(instance, others, set, begin, history, before, Observed::default()).await
    }

    /// The processes that calls of a set go to beside the first.
    async fn others(&self, instance: &Instance, set: &CallSet, hold: Hold) -> Result<Vec<Instance>, Trouble> {
        let mut others = Vec::new();
        // There is only one of a server that somebody else runs.
        if !self.target.networked() {
            for _ in 1..files::processes(set) {
                others.push(instance.beside(&self.target, self.pool.kind(hold)).await?);
            }
        }
        Ok(others)
    }

    /// The calls of a set together.
    pub(crate) async fn together(&self, set: &CallSet, schedule: &Schedule) -> Result<Run, Trouble> {
        self.meet(set, schedule, schedule.perturbation.name()).await
    }

    /// The same, looked at through a hold that does not disturb.
    pub(crate) async fn watched(
        &self,
        set: &CallSet,
        schedule: &Schedule,
        hold: &str,
    ) -> Result<Run, Trouble> {
        self.meet(set, schedule, hold).await
    }

    async fn meet(&self, set: &CallSet, schedule: &Schedule, hold: &str) -> Result<Run, Trouble> {
        let hold = self.pool.hold(hold);
        let mut instance = self.pool.take(hold).await?;
        let begin = Instant::now();
        let before = self.begin(&mut instance, set).await?;
        let others = self.others(&instance, set, hold).await?;
        if !others.is_empty() {
            return self.meet_in_processes(set, schedule, begin, before, instance, others).await;
        }
        let requests = instance.prepare(&set.calls)?;
        let ids: Vec<i64> = requests.iter().map(|request| request.id).collect();
        if let Some(leash) = &mut instance.leash {
            leash.arm(&schedule.perturbation, &ids).await.map_err(Trouble::Loose)?;
        }
        let start = Instant::now();
        self.count(requests.len());
        let patience = match set.fault {
            Fault::None => None,
            Fault::Kill { after } | Fault::Close { after } => Some(after),
        };
        let mut exchanges = instance.together(&requests, schedule, patience).await?;
        let mut observed = Observed::default();
        if let Some(leash) = &mut instance.leash {
            observed = leash.disarm().await?;
        }
        let instance = match set.fault {
            Fault::None => instance,
            Fault::Kill { .. } => {
                instance.kill().await;
                instance.again(&self.target).await?
            }
            Fault::Close { .. } => {
                instance.close(&requests, &mut exchanges).await;
                instance.again(&self.target).await?
            }
        };
        let start = exchanges.iter().map(|exchange| exchange.sent).min().unwrap_or(start);
        let calls = set.calls.iter().zip(&exchanges).map(|(call, exchange)| record(call, exchange, start));
        let call =
            |tick: &perturb::Tick| tick.request.and_then(|id| ids.iter().position(|known| *known == id));
        let ticks = observed.ticks.iter().map(|tick| io_tick(tick, call(tick), start, &instance)).collect();
        let history = History { calls: calls.collect(), ticks };
        self.end(instance, Vec::new(), set, begin, history, before, observed).await
    }

    /// The calls together, in turn on each of several processes.
    async fn meet_in_processes(
        &self,
        set: &CallSet,
        schedule: &Schedule,
        begin: Instant,
        before: Vec<Answer>,
        instance: Instance,
        others: Vec<Instance>,
    ) -> Result<Run, Trouble> {
        let mut all: Vec<Instance> = std::iter::once(instance).chain(others).collect();
        let count = all.len();
        self.count(set.calls.len());
        let meet = all.iter_mut().enumerate().map(|(process, instance)| async move {
            let own = |(index, call): (usize, &PlannedCall)| {
                (index % count == process).then(|| (index, call.clone()))
            };
            let (indexes, calls): (Vec<usize>, Vec<PlannedCall>) =
                set.calls.iter().enumerate().filter_map(own).unzip();
            let requests = instance.prepare(&calls)?;
            let ids: Vec<i64> = requests.iter().map(|request| request.id).collect();
            Ok::<_, Trouble>((instance, indexes, requests, ids))
        });
        let mut parts = Vec::new();
        for part in join_all(meet).await {
            let (instance, indexes, requests, ids) = part?;
            // All have to be held before the first call is sent.
            if let Some(leash) = &mut instance.leash {
                leash.arm(&schedule.perturbation, &ids).await.map_err(Trouble::Loose)?;
            }
            parts.push((instance, indexes, requests, ids));
        }
        let meet = parts.into_iter().map(|(instance, indexes, requests, ids)| async move {
            let offsets = indexes.iter().filter_map(|index| schedule.offsets.get(*index).copied()).collect();
            let schedule = Schedule { offsets, ..schedule.clone() };
            let exchanges = instance.together(&requests, &schedule, None).await?;
            let seen = match &mut instance.leash {
                Some(leash) => leash.disarm().await?,
                None => Observed::default(),
            };
            Ok::<_, Trouble>((indexes, exchanges, ids, seen))
        });
        let mut exchanges: Vec<(usize, Exchange)> = Vec::new();
        let (mut observed, mut ticks) = (Observed::default(), Vec::new());
        for part in join_all(meet).await {
            let (indexes, part, ids, seen) = part?;
            let of = |id: i64| ids.iter().position(|known| *known == id);
            let call =
                |tick: &perturb::Tick| tick.request.and_then(of).and_then(|at| indexes.get(at).copied());
            ticks.extend(seen.ticks.iter().map(|tick| (tick.clone(), call(tick))));
            exchanges.extend(indexes.iter().copied().zip(part));
            observed.ticks.extend(seen.ticks);
            observed.unnatural |= seen.unnatural;
            observed.diverged = observed.diverged.or(seen.diverged);
        }
        exchanges.sort_by_key(|(index, _)| *index);
        ticks.sort_by_key(|(tick, _)| tick.at);
        let start = exchanges.iter().map(|(_, exchange)| exchange.sent).min().unwrap_or(begin);
        let calls = set.calls.iter().zip(&exchanges);
        let calls = calls.map(|(call, (_, exchange))| record(call, exchange, start)).collect();
        let others = all.split_off(1);
        let Some(instance) = all.pop() else { return Err(Trouble::Ended(String::new())) };
        let ticks = ticks.iter().map(|(tick, call)| io_tick(tick, *call, start, &instance)).collect();
        let history = History { calls, ticks };
        self.end(instance, others, set, begin, history, before, observed).await
    }

    async fn begin(&self, instance: &mut Instance, set: &CallSet) -> Result<Vec<Answer>, Trouble> {
        for call in &set.setup {
            self.count(usize::from(!is_files(call)));
            instance.set_up(call).await?;
        }
        if set.invariants.is_empty() {
            return Ok(Vec::new());
        }
        self.read(instance, set).await
    }

    #[expect(clippy::too_many_arguments, reason = "all that is known of a run comes together here")]
    async fn end(
        &self,
        instance: Instance,
        others: Vec<Instance>,
        set: &CallSet,
        begin: Instant,
        history: History,
        before: Vec<Answer>,
        observed: Observed,
    ) -> Result<Run, Trouble> {
        // What several processes have done is what the next client sees: none of them, each of which may remember what it has read before.
        let (mut instance, first) = match others.is_empty() {
            true => (instance, None),
            false => (instance.beside(&self.target, None).await?, Some(instance)),
        };
        let reads = match self.read(&mut instance, set).await {
            Ok(reads) => reads,
            Err(trouble) => {
                let _ = instance.last_words().await;
                return Err(trouble);
            }
        };
        let folder = instance.folder().to_owned();
        let oddities = instance.connection.oddities().to_vec();
        let took = Instant::now().since(begin);
        instance.kill().await;
        for mut other in first.into_iter().chain(others) {
            other.kill().await;
        }
        Ok(Run { history, before, reads, folder, observed, oddities, took })
    }

    async fn read(&self, instance: &mut Instance, set: &CallSet) -> Result<Vec<Answer>, Trouble> {
        let begin = Instant::now();
        let mut answers = Vec::new();
        for read in &set.reads {
            answers.push(self.call(instance, read).await?.answer(begin));
        }
        Ok(answers)
    }

    async fn call(&self, instance: &mut Instance, call: &PlannedCall) -> Result<Exchange, Trouble> {
        if is_files(call) {
            files::lay(call, instance.folder())?;
            return Ok(files_of(instance));
        }
        self.count(1);
        instance.call(call).await
    }

    fn count(&self, calls: usize) {
        self.calls.fetch_add(u64::try_from(calls).unwrap_or_default(), Ordering::Relaxed);
    }
}

/// The instance's folder, as if a tool had shown it.
fn files_of(instance: &Instance) -> Exchange {
    let sent = Instant::now();
    let found = json!({ "structuredContent": files::read_all(instance.folder(), &instance.copies()) });
    Exchange { sent, answer: Ok((Instant::now(), Reply::Result(found))) }
}

/// What was seen from inside, as a history tells it. People know the folder as the one that everything is in.
fn io_tick(tick: &perturb::Tick, call: Option<usize>, start: Instant, instance: &Instance) -> IoTick {
    let folder = instance.folder().display().to_string();
    let on = tick.on.replace(&format!("{folder}/"), "").replace(&folder, "{scratch}");
    IoTick { call, at: tick.at.since(start), kind: tick.kind, on }
}

fn record(call: &PlannedCall, exchange: &Exchange, start: Instant) -> CallRecord {
    CallRecord {
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        sent: exchange.sent.since(start),
        answer: exchange.answer(start),
    }
}
