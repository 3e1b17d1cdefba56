//! The running server: what it lists, what calls show, and what the guard makes of it.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow};
use interlock_guard::policy::{self, ListedTool, Processes, Reach, Sharing, UpstreamConfig};
use interlock_model::{CallSet, ProofReport, Report, SetReport, Verdict};
use interlock_prove::{
    Ask, Budget, FILES, Patience, Request, Settled, Target,
    isolate::{Isolation, Kernel, Leave, watch::Watch},
    perturb,
    plan::{from::Found, restraint::Restraint},
    prove, settle, tools,
};
use interlock_report::{
    audit::{Live, Proved, Subject},
    proof,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{
    Audit,
    steps::{Steps, Stop},
    wanted::Start,
};
use crate::{
    ending::Ending,
    verbs::prove::{apart, target},
};

/// So long may what is under way take after the first interrupt.
const GRACE: Duration = Duration::from_secs(8);

/// Of the budget a part is kept for the races behind the guard, once there are any: what remains of it then, and at least this part.
const GUARD_SHARE: u32 = 3;

/// Nobody waits for a report longer than a minute, unless asked to. The last seconds of it are for what has to be ended and written.
const WITHIN: Duration = Duration::from_secs(50);
const LEAST_BUDGET: Duration = Duration::from_secs(24);
const MOST_BUDGET: Duration = Duration::from_secs(36);

/// How often each race is tried behind the guard.
const GUARD_TRIALS: u32 = 6;

/// The races that are tried once more behind the guard have at least this long.
const LEAST_SECOND: Duration = Duration::from_secs(8);

/// What the guard's configuration knows the folder of an instance by.
const SCRATCH: &str = "INTERLOCK_SCRATCH";

/// Where servers are started: one runtime and one look at the kernel for all of them.
pub(super) struct Bench {
    runtime: Runtime,
    helper: Vec<OsString>,
    kernel: Kernel,
    stop: Stop,
    interrupts: tokio::sync::watch::Receiver<u32>,
    changed_outside: bool,
    begin: Instant,
}

/// A server that answers.
pub(super) struct Place {
    settled: Settled,
    isolation: Arc<Isolation>,
    start: Start,
    tools: Vec<Value>,
    watch: Option<Watch>,
}

impl Place {
    /// What it was given so that it keeps its files where it may, for people.
    pub(super) fn given(&self) -> Option<String> {
        let Start { settings, command, .. } = &self.start;
        let given: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let command = command.join(" ");
        match given.as_slice() {
            [] => Some(format!("started with `{command}`")),
            given => Some(format!(
                "started with `{command}` and {}, so that it keeps its files in its own folder",
                given.join(" ")
            )),
        }
    }

    /// The names of the tools that it lists.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
        self.tools.iter().filter_map(name).collect()
    }
}

impl Bench {
    pub(super) fn new(stop: Stop) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let mut ending = runtime.block_on(async { Ending::with_terminal() })?;
        let (told, interrupts) = tokio::sync::watch::channel(0);
        let asked = stop.clone();
        runtime.spawn(async move {
            loop {
                ending.asked().await;
                asked.ask();
                told.send_modify(|count| *count += 1);
            }
        });
        let helper = apart::helper()?;
        let probed = helper.clone();
        let kernel = runtime.block_on(async {
            tokio::task::spawn_blocking(move || Kernel::of_this_machine(&probed)).await.unwrap_or_default()
        });
        Ok(Self { runtime, helper, kernel, stop, interrupts, changed_outside: false, begin: Instant::now() })
    }

    /// Ends everything, and says whether a server changed what is not its own.
    pub(super) fn end(self) -> bool {
        self.changed_outside
    }

    /// What is left of a minute that fetching is a part of, too.
    fn usual_budget(&self) -> Duration {
        WITHIN.saturating_sub(self.begin.elapsed()).clamp(LEAST_BUDGET, MOST_BUDGET)
    }

    /// Runs to the end, or to the second interrupt, or for a while after the first one.
    fn until_enough<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        let mut interrupts = self.interrupts.clone();
        self.runtime.block_on(async {
            tokio::select! {
                done = what => Some(done),
                () = async {
                    let _ = interrupts.wait_for(|count| *count > 0).await;
                    let second = interrupts.wait_for(|count| *count > 1);
                    let _ = tokio::time::timeout(GRACE, second).await;
                } => None,
            }
        })
    }

    /// Finds out what the server lists. A way to start it that was only found is tried in more than one form; what the first says counts.
    pub(super) fn open(&self, options: &Audit, start: &Start, steps: &Steps) -> Result<Place> {
        let mut first = None;
        for start in forms(start) {
            match self.open_as(options, &start, steps) {
                Ok(place) => return Ok(place),
                Err(why) if self.stop.is_asked() => return Err(why),
                Err(why) => first = first.or(Some(why)),
            }
        }
        Err(first.unwrap_or_else(|| anyhow!("there is no command")))
    }

    fn open_as(&self, options: &Audit, start: &Start, steps: &Steps) -> Result<Place> {
        let leave = Leave { in_place: false, network: options.network };
        let isolation = Arc::new(apart::isolation(self.helper.clone(), self.kernel.clone(), leave));
        let target = Target::Command {
            command: start.command.clone(),
            environment: start.environment.clone(),
            directory: start.directory.clone(),
        };
        let told = isolation.told(start.command.first().map(String::as_str).unwrap_or_default());
        let watch = apart::watch(&told, &start.directory, &isolation, &[]);
        let opened = self.until_enough(async {
            let settled = settle(&target, &isolation, steps).await?;
            let request = self.request(&settled.target, &isolation, Ask::Survey, Budget::default());
            let tools = tools(&request, steps).await?;
            Ok::<_, interlock_prove::Trouble>((settled, tools))
        });
        let (settled, tools) = opened.ok_or_else(|| anyhow!("it was interrupted"))??;
        Ok(Place { settled, isolation, start: start.clone(), tools, watch })
    }

    fn request(&self, target: &Target, isolation: &Arc<Isolation>, ask: Ask, budget: Budget) -> Request {
        let program = match target {
            Target::Command { command, .. } => command.first().cloned().unwrap_or_default(),
            Target::Url { .. } => String::new(),
        };
        Request {
            target: target.clone(),
            ask,
            isolation: Arc::clone(isolation),
            restraint: Arc::new(Restraint::new(isolation.told(&program), false)),
            perturbations: perturb::all(&target::inherited()),
            budget,
            patience: Patience::default(),
            // Every finding wants its own verdict.
            all: true,
            side_by_side: std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 4),
        }
    }

    /// Proves what was found and all else that writes, makes a policy of it, and tries the races again behind the guard.
    pub(super) fn prove(&mut self, options: &Audit, place: &Place, subject: &mut Subject, steps: &Steps) {
        steps.begin("proving");
        let findings = subject.scan.as_ref().map(|report| report.findings.as_slice()).unwrap_or_default();
        let findings: Vec<Found> =
            findings.iter().filter(|one| one.hardening.is_none()).map(Found::of).collect();
        let begin = Instant::now();
        let time = options.budget.unwrap_or_else(|| self.usual_budget());
        let kept_back = time / GUARD_SHARE;
        let budget = Budget { time, calls: u64::MAX, kept_back, ..Budget::default() };
        let request =
            self.request(&place.settled.target, &place.isolation, Ask::Everything { findings }, budget);
        let restraint = Arc::clone(&request.restraint);
        let proved = match self.until_enough(prove(request, steps)) {
            Some(Ok(proved)) => proved,
            Some(Err(trouble)) => {
                steps.skip(1);
                subject.live = Live::Unknown(trouble.to_string());
                return;
            }
            None => {
                subject.live = Live::Unknown("it was interrupted before anything was shown".to_owned());
                return;
            }
        };
        let mut report = proved.report;
        report.target = place.start.command.join(" ");
        if let Some(watch) = &place.watch {
            let changes = watch.end(&restraint.handed());
            report.notes.extend(changes.notes.iter().cloned());
            report.isolation.changed.clone_from(&changes.of_server);
            self.changed_outside |= !changes.of_server.is_empty();
        }
        if let Some(scan) = &mut subject.scan {
            proof::merge(scan, &report, &proved.findings);
        }
        let races: Vec<CallSet> = report
            .sets
            .iter()
            .filter(|set| set.verdict >= Verdict::Latent)
            .map(|set| set.set.clone())
            .collect();
        let scan = subject.scan.as_ref();
        let policy = suggested(&place.start.command, &place.start, &place.tools, scan);
        let behind = if races.is_empty() {
            steps.skip(1);
            Err("there is no race to stop".to_owned())
        } else if self.stop.is_asked() {
            Err("it was interrupted before that".to_owned())
        } else {
            steps.begin("trying the races again behind the guard");
            let time = time.saturating_sub(begin.elapsed()).max(kept_back);
            self.behind(time, place, scan, races, steps).map_err(|why| format!("{why:#}"))
        };
        subject.live = Live::Proved(Box::new(Proved {
            tools: place.names(),
            proof: report,
            made_for: proved.findings,
            policy: Some(policy),
            behind,
        }));
    }

    /// The races on the same server behind the guard, with the policy that was made for it.
    fn behind(
        &self,
        time: Duration,
        place: &Place,
        scan: Option<&Report>,
        races: Vec<CallSet>,
        steps: &Steps,
    ) -> Result<ProofReport> {
        let Target::Command { command, environment, directory } = &place.settled.target else {
            return Err(anyhow!("somebody else runs the server"));
        };
        let settled = Start { environment: environment.clone(), ..place.start.clone() };
        // Nothing of a configuration is filled in but what the environment says.
        let text =
            suggested(command, &settled, &place.tools, scan).replace("{scratch}", &format!("${{{SCRATCH}}}"));
        let folder = TempDir::with_prefix("interlock-audit-")?;
        let path = folder.path().join("guard.toml");
        fs::write(&path, text).context("the policy could not be written")?;
        let program = self.helper.first().map(|program| program.display().to_string()).unwrap_or_default();
        let guard = ["guard", "--config"].map(str::to_owned);
        let mut given = environment.clone();
        given.insert(SCRATCH.to_owned(), "{scratch}".to_owned());
        let target = Target::Command {
            command: [program].into_iter().chain(guard).chain([path.display().to_string()]).collect(),
            environment: given,
            directory: directory.clone(),
        };
        let begin = Instant::now();
        let again = |races, time| {
            let budget = Budget { time, calls: u64::MAX, trials: GUARD_TRIALS, ..Budget::default() };
            let request = self.request(&target, &place.isolation, Ask::Again(races), budget);
            let proved = self.until_enough(prove(request, steps));
            Ok::<_, anyhow::Error>(proved.ok_or_else(|| anyhow!("it was interrupted"))??.report)
        };
        let mut report = again(races, time)?;
        let refused: Vec<(usize, CallSet)> = read_first(&report);
        if !refused.is_empty() && !self.stop.is_asked() {
            let sets = refused.iter().map(|(_, set)| set.clone()).collect();
            let second = again(sets, time.saturating_sub(begin.elapsed()).max(LEAST_SECOND))?;
            take_over(&mut report, &refused, second);
        }
        Ok(report)
    }
}

/// The sets of which nothing could be said, each with its reads before the calls as well: a guard that demands to have been read first
/// refuses the calls of somebody who has not.
fn read_first(report: &ProofReport) -> Vec<(usize, CallSet)> {
    let with_reads = |(at, set): (usize, &SetReport)| {
        let reads: Vec<_> = set.set.reads.iter().filter(|read| read.tool != FILES).cloned().collect();
        let unknown = set.verdict == Verdict::Unknown && !reads.is_empty();
        let setup = set.set.setup.iter().cloned().chain(reads).collect();
        unknown.then(|| (at, CallSet { setup, ..set.set.clone() }))
    };
    report.sets.iter().enumerate().filter_map(with_reads).collect()
}

/// What the second try of some sets has shown takes the place of what the first has not. They keep the calls by which they are known.
fn take_over(report: &mut ProofReport, tried: &[(usize, CallSet)], second: ProofReport) {
    for found in second.sets.into_iter().filter(|set| set.verdict != Verdict::Unknown) {
        let first =
            tried.iter().find(|(_, set)| set.calls == found.set.calls && set.setup == found.set.setup);
        if let Some(first) = first.and_then(|(at, _)| report.sets.get_mut(*at)) {
            let set = std::mem::take(&mut first.set);
            *first = SetReport { set, reason: format!("read first: {}", found.reason), ..found };
        }
    }
    report.verdict = Verdict::worst(report.sets.iter().map(|set| set.verdict));
}

/// The forms in which a server is tried to be started: told where to keep its files, then as it is, then with its folder as its only
/// argument, which servers of files want.
fn forms(start: &Start) -> Vec<Start> {
    let told = Start {
        environment: start.environment.clone().into_iter().chain(start.settings.clone()).collect(),
        ..start.clone()
    };
    let plain = Start { settings: BTreeMap::new(), ..start.clone() };
    let mut forms = vec![told.clone()];
    if !start.settings.is_empty() {
        forms.push(plain);
    }
    if !start.is_given {
        let command = told.command.iter().cloned().chain(["{scratch}".to_owned()]).collect();
        forms.push(Start { command, ..told });
    }
    forms
}

/// A configuration of the guard made of what the server lists and what was found.
fn suggested(command: &[String], start: &Start, tools: &[Value], scan: Option<&Report>) -> String {
    let upstream = UpstreamConfig {
        name: "server".to_owned(),
        reach: Reach::Command {
            command: command.to_vec(),
            env: BTreeMap::clone(&start.environment),
            folder: None,
        },
        is_required: true,
        prefix: String::new(),
        sharing: Sharing::One,
        processes: Processes::default(),
    };
    let tools = ListedTool::all_of(&json!({ "tools": tools }));
    let findings = scan.map(|report| report.findings.as_slice()).unwrap_or_default();
    policy::suggest(&[upstream], &tools, findings)
}
