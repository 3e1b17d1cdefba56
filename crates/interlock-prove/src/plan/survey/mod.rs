//! The survey: what a server's tools do, found out by calling them.
//!
//! Every run is on a fresh instance, one call after another. First the readers are asked what there is; then each writer is called between two
//! looks at everything that may show its effect. What changed is its read-back. A writer that is refused because something has to be there first
//! gets another's call as set-up.

mod change;
mod look;
mod more;
mod setup;
mod write;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures_util::future::join_all;
use interlock_model::{Answer, Effectful, PlannedCall, Surface, ToolSurface};
use serde_json::Value;

use self::write::Known;
use super::{
    arguments::{Pool, Sampler, things},
    listing::Listing,
    restraint::Withheld,
};

/// Runs calls one after another on one fresh instance; a call may refer to the answers of those before it.
#[async_trait]
pub trait Runner: Send + Sync {
    /// The answers, one for each call; or why there are none, in words.
    async fn serial(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, String>;

    /// Why a call would not be made, if so: it might do harm.
    fn withholds(&self, call: &PlannedCall) -> Option<Withheld>;
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
    /// Whether it ended before every tool was tried.
    pub cut_short: bool,
    /// A reader that shows on a fresh instance what was done on another.
    pub left_behind: Option<String>,
}

/// Finds out what the tools of a `tools/list` answer do.
pub async fn survey(tools: &[Value], runner: &dyn Runner, bounds: &Bounds) -> Survey {
    let mut notes = Vec::new();
    let (samplers, left_alone) = usable(tools, runner, &mut notes);
    let meter = Meter { runner, left: bounds.calls.into(), end: Instant::now() + bounds.time };
    let (readers, others): (Vec<&Sampler>, Vec<&Sampler>) =
        samplers.iter().partition(|sampler| sampler.tool().looks_like_reader());
    let mut first = look::first(&readers, &meter).await;
    notes.append(&mut first.notes);
    // Whoever makes things comes first: others may need what it makes.
    let (makers, rest): (Vec<&Sampler>, Vec<&Sampler>) = others
        .into_iter()
        .chain(first.turned_out_to_write.iter().copied())
        .partition(|sampler| sampler.tool().looks_like_maker());
    let mut seen = Seen {
        pool: first.pool,
        readers: first.readers,
        longest: first.longest,
        took: first.took,
        known: BTreeMap::new(),
    };
    for group in [makers, rest] {
        let mut open = group;
        // What was refused gets a second chance when more is known of the others.
        for _ in 0..2 {
            open = seen.explore(&open, &meter, bounds).await;
        }
        for sampler in open {
            notes.push(format!(
                "`{}` is not called together: {}",
                sampler.tool().name,
                seen.why_not(sampler)
            ));
        }
    }
    let cut_short = meter.left() == 0;
    if cut_short {
        notes.push(
            "the survey ended before every tool was tried; a larger --budget or --max-calls goes on".into(),
        );
    }
    let surface = Surface {
        tools: samplers.iter().map(|sampler| seen.surface_of(sampler)).collect(),
        networked: bounds.networked,
        limit: first.limit,
    };
    let left_behind = match surface.writers().next() {
        Some(_) => look::left_behind(&first.asked, runner).await,
        // Whoever changes nothing leaves nothing behind; what changes is the world that it looks at.
        None => None,
    };
    Survey { surface, notes, calls: bounds.calls - meter.left(), left_alone, cut_short, left_behind }
}

/// The tools that can be called and may be; and the names of those that may not.
fn usable(tools: &[Value], runner: &dyn Runner, notes: &mut Vec<String>) -> (Vec<Sampler>, Vec<String>) {
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
                None => usable.push(sampler),
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

/// Counts the calls.
pub(super) struct Meter<'r> {
    runner: &'r dyn Runner,
    left: AtomicUsize,
    end: Instant,
}

impl Meter<'_> {
    fn left(&self) -> usize {
        self.left.load(SeqCst)
    }

    /// Why a call is not made, if so.
    fn withholds(&self, call: &PlannedCall) -> Option<String> {
        self.runner.withholds(call).map(|withheld| withheld.why)
    }

    /// Runs calls, if they may still be made.
    async fn run(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, String> {
        let paid = self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(calls.len()));
        if paid.is_err() || Instant::now() > self.end {
            self.left.store(0, SeqCst);
            return Err("the survey was over before it".into());
        }
        self.runner.serial(calls).await
    }
}

/// What is known so far.
struct Seen<'s> {
    pool: Pool,
    readers: Vec<&'s Sampler>,
    /// How many calls one run may have before the server refuses more.
    longest: usize,
    took: BTreeMap<String, Duration>,
    known: BTreeMap<String, Result<Known, String>>,
}

impl<'s> Seen<'s> {
    /// Calls each of these; gives back those that could not be called.
    async fn explore(
        &mut self,
        open: &[&'s Sampler],
        meter: &Meter<'_>,
        bounds: &Bounds,
    ) -> Vec<&'s Sampler> {
        let mut failed = Vec::new();
        for group in open.chunks(bounds.side_by_side.max(1)) {
            let found = join_all(group.iter().map(|sampler| write::explore(sampler, self, meter))).await;
            for (sampler, found) in group.iter().zip(found) {
                match &found {
                    Err(_) => failed.push(*sampler),
                    // What changes nothing that anybody can see may show what others change.
                    Ok(known) if known.effect == Effectful::Reads && known.setup.is_empty() => {
                        self.readers.push(sampler);
                    }
                    Ok(_) => {}
                }
                // The first reason is the real one; that the calls are used up is said apart.
                let name = sampler.tool().name.clone();
                if found.is_ok() || !self.known.contains_key(&name) {
                    self.known.insert(name, found);
                }
            }
        }
        failed
    }

    fn why_not(&self, sampler: &Sampler) -> String {
        match self.known.get(&sampler.tool().name) {
            Some(Err(why)) => why.clone(),
            _ => "it was not reached".into(),
        }
    }

    fn surface_of(&self, sampler: &Sampler) -> ToolSurface {
        let tool = sampler.tool();
        let mut surface = ToolSurface {
            name: tool.name.clone(),
            read_only: tool.read_only,
            destructive: tool.destructive,
            idempotent: tool.idempotent,
            idempotency_argument: sampler.idempotency_argument(),
            ..ToolSurface::default()
        };
        if let Some(Ok(known)) = self.known.get(&tool.name) {
            surface.effect = known.effect;
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

/// Whether a call was refused: by an error, or by a text that begins like one.
fn refused(answer: &Answer) -> Option<String> {
    match answer {
        Answer::Missing { reason } => Some(reason.clone()),
        Answer::Error { value, .. } => Some(change::said(value)),
        Answer::Result { value, .. } => {
            let said = change::said(value);
            let start = said.trim_start_matches(['"', ' ', '{', '[']).to_lowercase();
            ["error", "failed", "failure", "not found"]
                .iter()
                .any(|word| start.starts_with(word))
                .then_some(said)
        }
    }
}

#[cfg(test)]
mod tests;
