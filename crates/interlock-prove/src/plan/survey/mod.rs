//! The survey: what a server's tools do, found out by calling them.
//!
//! Every run is on a fresh instance, one call after another. First the readers are asked what there is; then each writer is called between two
//! looks at everything that may show its effect. What changed is its read-back. A writer that is refused because something has to be there first
//! gets another's call as set-up.

mod advice;
mod change;
mod learnt;
mod look;
mod more;
mod named;
mod setup;
mod write;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures_util::future::join_all;
use interlock_model::{Answer, Effectful, Learnt, PlannedCall, Surface, ToolSurface};
use serde_json::Value;

pub(crate) use self::advice::names_tool;
pub use self::named::{NamedCalls, ShownBy, shown_by};
use self::{learnt::Refusals, setup::Setups, write::Known};
use super::{
    arguments::{Pool, Sampler, things},
    denial::{begins_like_one, is_denied},
    listing::Listing,
    plain,
    restraint::Withheld,
};

/// Runs calls one after another on one fresh instance; a call may refer to the answers of those before it.
#[async_trait]
pub trait Runner: Send + Sync {
    /// The answers, one for each call; or why there are none, in words.
    async fn serial(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, String>;

    /// The same, with further calls behind them if what they are answered is worth it. The answers to those that were made.
    async fn serial_then(
        &self,
        calls: &[PlannedCall],
        then: &[PlannedCall],
        is_worth: &(dyn for<'a> Fn(&'a [Answer]) -> bool + Sync),
    ) -> Result<Vec<Answer>, String> {
        let all: Vec<PlannedCall> = calls.iter().chain(then).cloned().collect();
        let mut answers = self.serial(&all).await?;
        if !is_worth(answers.get(..calls.len()).unwrap_or_default()) {
            answers.truncate(calls.len());
        }
        Ok(answers)
    }

    /// Why a call would not be made, if so: it might do harm.
    fn withholds(&self, call: &PlannedCall) -> Option<Withheld>;

    /// Whether the instance's folder can be asked like a reader.
    fn shows_files(&self) -> bool {
        false
    }
}

/// What a survey may do.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// How many calls it may make.
    pub calls: usize,
    /// How long it may take; a run that has begun is finished.
    pub time: Duration,
    /// Whether the server is reached over a network.
    pub networked: bool,
    /// How many instances run beside each other.
    pub side_by_side: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        // A third of what a proof may spend by default.
        Self { calls: 666, time: Duration::from_secs(20), networked: false, side_by_side: 2 }
    }
}

/// What was found out.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// The tools.
    pub surface: Surface,
    /// What was not called, and why.
    pub notes: Vec<String>,
    /// How many calls it took.
    pub calls: usize,
    /// Tools that were not called because they look as if they could destroy something.
    pub left_alone: Vec<String>,
    /// Tools that time or calls did not suffice for.
    pub not_reached: Vec<String>,
    /// Tools that may write, of which no call that we know to make was accepted; and in which words they were refused.
    pub never_accepted: Vec<(String, String)>,
    /// Whether it ended before every tool was tried.
    pub cut_short: bool,
    /// A reader that shows on a fresh instance what was done on another.
    pub left_behind: Option<String>,
    /// What was learnt of the arguments of writers.
    pub learnt: Vec<Learnt>,
}

/// Finds out what the tools of a `tools/list` answer do.
pub async fn survey(tools: &[Value], runner: &dyn Runner, bounds: &Bounds) -> Survey {
    let mut surveyor = Surveyor::begin(tools, runner, bounds).await;
    surveyor.explore(|_| true, bounds.time).await;
    surveyor.end().await
}

/// A survey in parts: the readers are asked first, then writers are called as somebody wants to know what they do.
pub struct Surveyor<'r> {
    samplers: Vec<Arc<Sampler>>,
    /// Writers that were not called yet.
    open: Vec<Arc<Sampler>>,
    left_alone: Vec<String>,
    notes: Vec<String>,
    meter: Meter<'r>,
    seen: Seen,
    limit: Option<usize>,
    /// What the readers answered on a server on which nothing had been done yet.
    asked: Vec<(PlannedCall, Answer)>,
    bounds: Bounds,
    cut_short: bool,
}

impl<'r> Surveyor<'r> {
    /// Asks the readers of a `tools/list` answer.
    pub async fn begin(tools: &[Value], runner: &'r dyn Runner, bounds: &Bounds) -> Self {
        let mut notes = Vec::new();
        let (samplers, left_alone) = usable(tools, runner, &mut notes);
        let meter = Meter {
            runner,
            left: bounds.calls.into(),
            end: Instant::now() + bounds.time,
            is_over: AtomicBool::new(false),
            refusals: Mutex::default(),
            setups: Mutex::default(),
        };
        let (readers, others): (Vec<_>, Vec<_>) =
            samplers.iter().cloned().partition(|sampler| sampler.tool().looks_like_reader());
        let mut first =
            look::first(&readers, others.is_empty(), &meter, bounds.networked || bounds.side_by_side < 2)
                .await;
        notes.append(&mut first.notes);
        let mut open: Vec<Arc<Sampler>> = others.into_iter().chain(first.turned_out_to_write).collect();
        // Whoever changes a part of something reads it first, and may lose what another has changed; what only takes away loses least.
        open.sort_by_key(|sampler| match sampler.tool() {
            tool if tool.undoes().is_some() => 2,
            tool if tool.looks_like_editor() => 0,
            _ => 1,
        });
        let seen = Seen {
            pool: first.pool,
            readers: first.readers,
            longest: first.longest,
            took: first.took,
            known: BTreeMap::new(),
            makers: samplers
                .iter()
                .filter(|sampler| sampler.tool().looks_like_maker())
                .map(|sampler| sampler.tool().name.clone())
                .collect(),
        };
        Self {
            samplers,
            open,
            left_alone,
            notes,
            meter,
            seen,
            limit: first.limit,
            asked: first.asked,
            bounds: bounds.clone(),
            cut_short: false,
        }
    }

    /// Whether there is a writer that was not called yet.
    pub fn has_open(&self, is_meant: impl Fn(&Listing) -> bool) -> bool {
        self.open.iter().any(|sampler| is_meant(sampler.tool()))
    }

    /// The writers that were not called yet.
    pub fn open(&self) -> Vec<String> {
        self.open.iter().map(|sampler| sampler.tool().name.clone()).collect()
    }

    /// Calls the first tools that make things, as many as are called beside each other. Those that do not work yet stay open, as if they had not
    /// been called: they may need what others make.
    pub async fn explore_first_makers(&mut self, time: Duration) {
        self.meter.end = Instant::now() + time;
        self.meter.is_over.store(false, SeqCst);
        let is_maker = |sampler: &&Arc<Sampler>| sampler.tool().looks_like_maker();
        let first: Vec<Arc<Sampler>> =
            self.open.iter().filter(is_maker).take(self.bounds.side_by_side.max(1)).cloned().collect();
        let failed = self.seen.explore(&first, &self.meter, &self.bounds).await;
        for sampler in &failed {
            self.seen.known.remove(&sampler.tool().name);
        }
        let worked = |sampler: &Arc<Sampler>| self.seen.known.contains_key(&sampler.tool().name);
        self.open.retain(|sampler| !worked(sampler));
    }

    /// Calls the writers that are meant and were not called yet, for so long. What time did not suffice for stays open.
    pub async fn explore(&mut self, is_meant: impl Fn(&Listing) -> bool, time: Duration) {
        self.meter.end = Instant::now() + time;
        self.meter.is_over.store(false, SeqCst);
        let (meant, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.open).into_iter().partition(|sampler| is_meant(sampler.tool()));
        self.open = left;
        // Whoever makes things comes first: others may need what it makes.
        let (makers, rest): (Vec<_>, Vec<_>) =
            meant.into_iter().partition(|sampler| sampler.tool().looks_like_maker());
        let mut failed_all: Vec<Arc<Sampler>> = Vec::new();
        for group in [makers, rest] {
            let mut failed = group;
            // What was refused gets a second chance when more is known of the others.
            for _ in 0..2 {
                failed = self.seen.explore(&failed, &self.meter, &self.bounds).await;
            }
            // `add_task_to_request` says that it makes something, and needs what a tool makes that does not say so.
            failed_all = self.seen.explore(&failed_all, &self.meter, &self.bounds).await;
            failed_all.append(&mut failed);
        }
        for sampler in failed_all {
            let name = &sampler.tool().name;
            if self.meter.left() == 0 && !self.seen.was_tried(name) {
                self.seen.known.remove(name);
                self.open.push(sampler);
            } else if self.meter.left() == 0 && sampler.tool().looks_like_writer() {
                // What it needs first may have been among what there was no time for.
                self.open.push(sampler);
            } else {
                let why = self.seen.why_not(&sampler);
                self.notes.push(format!("`{name}` is not called together: {why}"));
            }
        }
        self.cut_short = self.meter.left() == 0;
    }

    /// What is known of the tools by now.
    pub fn surface(&self) -> Surface {
        Surface {
            tools: self.samplers.iter().map(|sampler| self.seen.surface_of(sampler)).collect(),
            networked: self.bounds.networked,
            limit: self.limit,
        }
    }

    /// What was learnt by now of the arguments of the tools that were called as writers.
    pub fn learnt(&self) -> Vec<Learnt> {
        let refusals = self.meter.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        self.samplers.iter().filter_map(|sampler| refusals.of(sampler, &self.seen)).collect()
    }

    /// Tools that may write, of which no call that we know to make was accepted. What is withheld was not refused by the server, and what reaches
    /// out or says that it reads changes nothing here.
    fn never_accepted(&self) -> Vec<(String, String)> {
        let refusals = self.meter.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let may_write = |sampler: &&Arc<Sampler>| {
            let (tool, open) = (sampler.tool(), self.open());
            !tool.looks_like_reader() && tool.reaches_out().is_none() && !open.contains(&tool.name)
        };
        let never = |sampler: &Arc<Sampler>| {
            let name = &sampler.tool().name;
            let why = self.seen.known.get(name)?.as_ref().err()?;
            let words = refusals.first_of(name);
            let words = words.or_else(|| why.starts_with(write::NO_ARGUMENTS).then(|| why.clone()))?;
            Some((name.clone(), words))
        };
        self.samplers.iter().filter(may_write).filter_map(never).collect()
    }

    /// Tools that are not called because they look as if they could destroy something.
    pub fn left_alone(&self) -> &[String] {
        &self.left_alone
    }

    /// A reader that shows on a fresh instance what was done on another. Whoever changes nothing leaves nothing behind; what changes then
    /// is the world that it looks at.
    pub async fn left_behind(&self) -> Option<String> {
        self.surface().writers().next()?;
        look::left_behind(&self.asked, self.meter.runner).await
    }

    /// What is known when nothing more is to be called.
    pub async fn end(mut self) -> Survey {
        let left_behind = self.left_behind().await;
        self.close(left_behind)
    }

    /// The same where it is known what instances leave behind.
    pub fn close(&mut self, left_behind: Option<String>) -> Survey {
        let mut notes = std::mem::take(&mut self.notes);
        for sampler in &self.open {
            let name = &sampler.tool().name;
            let why = match self.seen.known.get(name) {
                Some(Err(why)) if why != OVER => format!("{why}; {OVER} could be called otherwise"),
                _ => OVER.to_owned(),
            };
            notes.push(format!("`{name}` is not called together: {why}"));
        }
        if self.cut_short {
            notes.push(
                "the survey ended before every tool was tried; a larger --budget or --max-calls goes on"
                    .into(),
            );
        }
        Survey {
            surface: self.surface(),
            notes,
            calls: self.bounds.calls - self.meter.left.load(SeqCst),
            left_alone: self.left_alone.clone(),
            not_reached: self.open(),
            never_accepted: self.never_accepted(),
            cut_short: self.cut_short,
            left_behind,
            learnt: self.learnt(),
        }
    }
}

/// The tools that can be called and may be; and the names of those that may not.
fn usable(tools: &[Value], runner: &dyn Runner, notes: &mut Vec<String>) -> (Vec<Arc<Sampler>>, Vec<String>) {
    let (mut usable, mut left_alone) = (Vec::new(), Vec::new());
    for listing in tools.iter().filter_map(Listing::read) {
        let name = listing.name.clone();
        match Sampler::new(listing) {
            Err(why) => notes.push(format!("`{name}` is not called: {why}")),
            Ok(sampler) => match needs_leave(&sampler, runner) {
                Some(why) => {
                    notes.push(format!("`{name}` is not called: {why}"));
                    left_alone.push(name);
                }
                None => usable.push(Arc::new(sampler)),
            },
        }
    }
    (usable, left_alone)
}

/// Why a tool is not called at all unless somebody says so, as its plainest call shows. The others are judged each by itself.
fn needs_leave(sampler: &Sampler, runner: &dyn Runner) -> Option<String> {
    let arguments = sampler.sample(&Default::default(), &Pool::default()).unwrap_or_default();
    let withheld = runner.withholds(&PlannedCall::new(&sampler.tool().name, arguments))?;
    withheld.needs_leave.then_some(withheld.why)
}

/// Why a call is not made once the survey's share is used up.
const OVER: &str = "the survey was over before it";

/// Counts the calls.
pub(super) struct Meter<'r> {
    runner: &'r dyn Runner,
    left: AtomicUsize,
    end: Instant,
    /// Whether a run was not made because of the time.
    is_over: AtomicBool,
    /// What was refused, for whoever corrects it.
    refusals: Mutex<Refusals>,
    /// What is known of set-ups.
    setups: Mutex<Setups>,
}

impl Meter<'_> {
    /// How many calls may still be made.
    fn left(&self) -> usize {
        if self.is_over.load(SeqCst) { 0 } else { self.left.load(SeqCst) }
    }

    fn shows_files(&self) -> bool {
        self.runner.shows_files()
    }

    /// Why a call is not made, if so.
    fn withholds(&self, call: &PlannedCall) -> Option<String> {
        self.runner.withholds(call).map(|withheld| withheld.why)
    }

    /// Runs calls, if they may still be made.
    async fn run(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, String> {
        self.run_then(calls, &[], &|_| false).await
    }

    /// The same, with further calls behind them if what they are answered is worth it.
    async fn run_then(
        &self,
        calls: &[PlannedCall],
        then: &[PlannedCall],
        is_worth: &(dyn for<'a> Fn(&'a [Answer]) -> bool + Sync),
    ) -> Result<Vec<Answer>, String> {
        if Instant::now() > self.end {
            self.is_over.store(true, SeqCst);
        }
        if self.is_over.load(SeqCst) {
            return Err(OVER.into());
        }
        let paid = self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(calls.len() + then.len()));
        if paid.is_err() {
            self.left.store(0, SeqCst);
            return Err(OVER.into());
        }
        let answers = match then {
            [] => self.runner.serial(calls).await?,
            then => self.runner.serial_then(calls, then, is_worth).await?,
        };
        self.left.fetch_add((calls.len() + then.len()).saturating_sub(answers.len()), SeqCst);
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        for (call, answer) in calls.iter().zip(&answers) {
            if let Some(words) = refused(answer) {
                refusals.learn(call, words);
            }
        }
        drop(refusals);
        Ok(answers)
    }
}

/// What is known so far.
struct Seen {
    pool: Pool,
    readers: Vec<Arc<Sampler>>,
    /// How many calls one run may have before the server refuses more.
    longest: usize,
    took: BTreeMap<String, Duration>,
    known: BTreeMap<String, Result<Known, String>>,
    /// Tools that say by their names that they make something, in the server's order.
    makers: Vec<String>,
}

impl Seen {
    /// Calls each of these; gives back those that could not be called.
    async fn explore(
        &mut self,
        open: &[Arc<Sampler>],
        meter: &Meter<'_>,
        bounds: &Bounds,
    ) -> Vec<Arc<Sampler>> {
        let mut failed = Vec::new();
        for group in open.chunks(bounds.side_by_side.max(1)) {
            let found = join_all(group.iter().map(|sampler| write::explore(sampler, self, meter))).await;
            for (sampler, found) in group.iter().zip(found) {
                match &found {
                    Err(_) => failed.push(Arc::clone(sampler)),
                    // It may need what a tool makes of which nothing is known yet.
                    Ok(known) if known.effect == Effectful::Unknown && sampler.tool().looks_like_writer() => {
                        failed.push(Arc::clone(sampler));
                    }
                    // What changes nothing that anybody can see may show what others change.
                    Ok(known) if known.effect == Effectful::Reads && known.setup.is_empty() => {
                        self.readers.push(Arc::clone(sampler));
                    }
                    Ok(_) => {}
                }
                // The first reason is the real one; that the calls are used up is said apart.
                let name = sampler.tool().name.clone();
                let is_better = match (&found, self.known.get(&name)) {
                    (_, None) => true,
                    // What is seen no more of after a set-up needs none.
                    (Ok(found), Some(Ok(_))) => found.effect != Effectful::Unknown,
                    (found, Some(_)) => found.is_ok(),
                };
                if is_better {
                    self.known.insert(name, found);
                }
            }
        }
        failed
    }

    /// Whether the server was asked, and refused it or did nothing that is seen.
    fn was_tried(&self, name: &str) -> bool {
        self.known.get(name).is_some_and(|known| !known.as_ref().is_err_and(|why| why == OVER))
    }

    fn why_not(&self, sampler: &Sampler) -> String {
        match self.known.get(&sampler.tool().name) {
            Some(Err(why)) => why.clone(),
            Some(Ok(_)) => "no call that we know to make changes anything that can be read".into(),
            None => "it was not reached".into(),
        }
    }

    fn surface_of(&self, sampler: &Sampler) -> ToolSurface {
        let tool = sampler.tool();
        let mut surface = ToolSurface {
            name: tool.name.clone(),
            read_only: tool.read_only,
            destructive: tool.destructive,
            idempotent: tool.idempotent,
            ..ToolSurface::default()
        };
        let known = self.known.get(&tool.name).and_then(|known| known.as_ref().ok());
        let works = known.and_then(|known| known.samples.first());
        let is_keyed = known.is_none_or(|known| known.is_keyed);
        let is_key = |argument: &String| is_keyed || sampler.promises_once(argument);
        surface.idempotency_argument = sampler.idempotency_argument(works).filter(is_key);
        if let Some(Ok(known)) = self.known.get(&tool.name) {
            surface.effect = known.effect;
            // What is only counted by being called again cannot be called again without being counted.
            if !known.reads.is_empty() && known.reads.iter().all(|read| read.tool == tool.name) {
                surface.idempotent = surface.idempotent.filter(|is_so| !is_so);
                surface.idempotency_argument = None;
            }
            surface.samples = known.samples.clone();
            surface.others = known.others.clone();
            surface.once = known.once.clone();
            surface.setup = known.setup.clone();
            surface.reads = known.reads.clone();
            surface.took = known.took;
            let things = known.samples.first().map(|call| things(&call.arguments)).unwrap_or_default();
            let things = things.into_iter().filter(|(named, _)| !named.is_other);
            surface.things = things.map(|(_, value)| text(&value)).collect();
        } else if let Some(call) =
            self.readers.iter().find(|reader| reader.tool().name == tool.name).and_then(|reader| {
                let arguments = reader.sample(&Default::default(), &self.pool)?;
                Some(PlannedCall::new(&tool.name, arguments))
            })
        {
            surface.effect = Effectful::Reads;
            surface.samples = vec![call];
            surface.took = self.took.get(&tool.name).copied().unwrap_or_default();
        }
        surface
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether a call was refused: by an error, by a field that says so, or by a text that begins like one.
fn refused(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Missing { reason } => Some(reason.clone()),
        Answer::Error { value, .. } => Some(change::said(value)),
        Answer::Result { value, .. } => {
            let said = change::said(value);
            let is_denied = match plain(value) {
                Value::Object(fields) => is_denied(&fields),
                Value::String(text) => begins_like_one(&text),
                _ => begins_like_one(&said),
            };
            is_denied.then_some(said)
        }
    }
}

#[cfg(test)]
mod tests;
