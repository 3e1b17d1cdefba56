//! The whole proof: every set gets its serial phase, then meets under one technique after another, until one breaks or the
//! budget ends.

mod case;
mod choose;
mod confirm;
mod ladder;
mod missed;
mod read_first;
mod replay;
mod shrink;
mod stages;
mod verdict;

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use interlock_model::{CallSet, Explored, Fingerprint, ProofReport, Verdict, Writers};

pub use self::replay::replay;
pub(crate) use self::{case::Case, ladder::Ladder};
use self::{choose::Chooser, verdict::Untried};
use crate::{
    files,
    lab::Lab,
    plan::survey::Bounds,
    request::{Budget, Progress, Proved, Request},
    target::Target,
    trouble::Trouble,
};

/// What all sets share.
pub(crate) struct Setting<'a> {
    pub(crate) lab: &'a Lab,
    pub(crate) budget: Budget,
    pub(crate) begin: Instant,
    pub(crate) side_by_side: usize,
    pub(crate) progress: &'a dyn Progress,
    /// Whether a race is shown, so that there is something to keep time back for.
    is_shown: AtomicBool,
}

/// How many concurrent runs each set gets in each round: all sets get a little before one gets much.
const ROUNDS: &[u32] = &[2, 6, u32::MAX];

/// How often somebody is asked whether it is enough.
const OFTEN: Duration = Duration::from_millis(100);

/// Proves, or says what was explored. An error means that nothing at all could be done.
pub async fn prove(request: Request, progress: &dyn Progress) -> Result<Proved, Trouble> {
    let target = request.target.name();
    let side_by_side = request.beside();
    let lab = Lab::new(&request, request.side_by_side, progress).await?;
    // What has to be fetched is fetched by now, and is no part of what the proof may take.
    let begin = Instant::now();
    progress.doing("starting the server");
    let deliveries = lab.deliveries().await?;
    let to_start = begin.elapsed();
    let mut notes = Vec::new();
    let bounds = Bounds {
        // A third for finding out what there is, the rest for proving.
        calls: usize::try_from(request.budget.calls / 3).unwrap_or(usize::MAX),
        time: request.budget.time / 3,
        networked: request.target.networked(),
        side_by_side,
    };
    let setting = Setting::new(&lab, request.budget, begin, side_by_side, progress);
    let ladder = Ladder::new(&lab.target, &request.perturbations, &deliveries, &mut notes);
    let mut chooser = Chooser::new(request.ask, &lab, bounds);
    let mut cases: Vec<Case> = Vec::new();
    let (mut no_writer, mut writers, mut learnt, mut never_accepted) = (None, None, Vec::new(), Vec::new());
    let is_cut_short = loop {
        let choice = match setting.within(chooser.next(progress, &mut notes)).await {
            Some(choice) => choice?,
            None if progress.enough() || !cases.is_empty() => break true,
            None => return Err(Trouble::Spent(request.budget.time, to_start)),
        };
        (no_writer, writers, learnt) = (choice.no_writer, choice.writers, choice.learnt);
        never_accepted = choice.never_accepted;
        let first = cases.len();
        for chosen in choice.sets {
            match unsuitable(&chosen.set, &request.target) {
                Some(why) => notes.push(format!("{}: {why}", chosen.set.name)),
                None => {
                    let windows = chosen.findings.iter().flat_map(|found| found.windows.clone()).collect();
                    let ladder = ladder.of(&chosen.set, request.budget.trials, windows);
                    cases.push(Case::new(chosen, ladder));
                }
            }
        }
        let end = rounds(&mut cases, first, choice.more, writers.as_ref(), &setting, request.all).await;
        if end == Rounds::Spent {
            notes.push(setting.why_spent());
        }
        if end != Rounds::Through || !choice.more {
            break choice.more;
        }
    };
    if cases.is_empty() && !progress.enough() {
        notes.push("no calls were found that could meet; name some with --call".into());
    }
    // That a request was answered twice is the reason of its set; what else is odd did no harm.
    let odd = |case: &'_ Case| {
        case.serial.oddities.iter().filter(|odd| !odd.contains("twice")).cloned().collect::<Vec<_>>()
    };
    let said: Vec<String> =
        cases.iter().flat_map(|case| odd(case).into_iter().chain(case.gave_up.clone())).collect();
    for why in &said {
        if !notes.contains(why) {
            notes.push(why.clone());
        }
    }
    let proven = cases.iter().any(|case| case.verdict() >= Verdict::Latent);
    match cases.iter().filter(|case| !case.was_tried()).count() {
        // Whoever stops at the first race knows that the others were not looked at.
        0 => {}
        _ if proven => {}
        1 => notes.push("1 more set of calls was not tried; a larger --budget or --max-calls goes on".into()),
        n => notes
            .push(format!("{n} more sets of calls were not tried; a larger --budget or --max-calls goes on")),
    }
    let tried: BTreeSet<String> = cases.iter().flat_map(Case::tried).collect();
    let untried = writers.as_ref().map(|writers| Untried::of(writers, &tried, &never_accepted, &cases));
    // Sets that never succeed say nothing of a server of which others were tried.
    if let Some(note) = idle(&cases) {
        notes.push(note);
        cases.retain(|case| case.is_idle().is_none());
    }
    cases.retain(Case::was_tried);
    let said: Vec<_> = cases.iter().map(verdict::Said::by).collect();
    let verdict = verdict::over(&said, writers.as_ref(), &tried);
    let (findings, sets): (Vec<_>, Vec<_>) =
        cases.into_iter().map(|case| (case.fingerprints(), case.report())).unzip();
    let slow = writers.as_ref().and_then(|writers| slow_to_start(to_start, writers.len(), side_by_side));
    // Readers that do not get into each other's way say nothing of those that write, and writers that do not nothing of others.
    let why = no_writer.or_else(|| untried.as_ref().and_then(Untried::why));
    let why = why.or_else(|| is_cut_short.then(|| CUT_SHORT.to_owned()));
    let (verdict, reason) = match why {
        Some(why) if verdict == Verdict::Held => (Verdict::Unknown, Some(why)),
        why => {
            notes.extend(why.filter(|_| !proven || request.all));
            (verdict, None)
        }
    };
    notes.extend(slow.filter(|_| !proven && setting.left().is_zero()));
    if verdict == Verdict::Held && writers.is_some() && sets.iter().any(|set| is_on_files_of_one(&set.set)) {
        notes.push(ONE_PROCESS.into());
    }
    let counted = |writers: &BTreeSet<String>| {
        let left = untried.as_ref().map_or(0, Untried::count);
        Writers { tried: writers.len().saturating_sub(left), known: writers.len() }
    };
    let writers = writers.as_ref().map(counted);
    let mut explored = Explored { calls: lab.calls(), ..Explored::default() };
    explored.exhausted = !sets.is_empty();
    for set in &sets {
        explored.trials += set.explored.trials;
        explored.schedules += set.explored.schedules;
        explored.walked += set.explored.walked;
        explored.techniques.extend(set.explored.techniques.iter().cloned());
        explored.exhausted &= set.explored.exhausted;
    }
    notes.extend(lab.notes());
    let isolation = request.restraint.isolation().clone();
    let took = begin.elapsed();
    let report =
        ProofReport { target, verdict, reason, writers, isolation, sets, explored, took, notes, learnt };
    Ok(Proved { report, findings })
}

/// One line for all sets that never succeed, where there are others.
fn idle(cases: &[Case]) -> Option<String> {
    let idle: Vec<(&Case, &str)> = cases.iter().filter_map(|case| Some((case, case.is_idle()?))).collect();
    let (_, why) = idle.first()?;
    let were_tried = |case: &Case| case.was_tried() && case.is_idle().is_none();
    if !cases.iter().any(were_tried) {
        return None;
    }
    let named: Vec<&str> = idle.iter().take(MOST_NAMED).map(|(case, _)| case.set.name.as_str()).collect();
    let others = if idle.len() > MOST_NAMED { " and others" } else { "" };
    Some(format!("{}{others}: {why}", named.join(", ")))
}

/// Until a writer has met itself, so many instances are started for it, about.
const STARTS_PER_WRITER: u32 = 14;
/// A server that starts faster needs no other budget than others.
const SLOW: Duration = Duration::from_millis(700);

/// What budget a server needs that is slow to start.
fn slow_to_start(took: Duration, writers: usize, side_by_side: usize) -> Option<String> {
    let starts = STARTS_PER_WRITER.saturating_mul(u32::try_from(writers).unwrap_or(u32::MAX));
    let needed = took.saturating_mul(starts) / u32::try_from(side_by_side.max(1)).unwrap_or(1);
    let minutes = needed.as_secs().div_ceil(60).max(2);
    (took >= SLOW).then(|| {
        format!(
            "an instance takes {:.1} s to start, so that all of it takes about --budget {minutes}m",
            took.as_secs_f32()
        )
    })
}

/// What is said of a server that holds and whose state is in files.
const ONE_PROCESS: &str = "this is about calls of one client: each client of a server on standard streams has a process of its own, and --two-processes lets two of them \
     meet on one folder";

/// Whether the calls of a set went to one process, and changed files that another could change as well.
fn is_on_files_of_one(set: &CallSet) -> bool {
    files::processes(set) == 1 && set.reads.iter().any(files::is_files)
}

/// Why nothing is said of a server of which only a part was looked at.
const CUT_SHORT: &str = "it ended before all tools were looked at; a larger --budget goes on";

/// So many are named in one sentence.
const MOST_NAMED: usize = 5;

/// Why the rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounds {
    /// Each set had its turns.
    Through,
    /// One race is enough, and there is one.
    Shown,
    /// The budget is used up.
    Spent,
}

/// When no more than this part of the time is left, it is found out whether what held by then would have shown a loss.
const KEPT_FOR_LOOKS: u32 = 5;

/// Lets the sets meet that were chosen last, those from `first` on, and then all of them in the later rounds, which there are only if no more are
/// chosen after these: every set gets a little before one gets much. While more are to come, these have no more than their share of the time.
async fn rounds(
    cases: &mut [Case],
    first: usize,
    more: bool,
    writers: Option<&BTreeSet<String>>,
    setting: &Setting<'_>,
    all: bool,
) -> Rounds {
    let share = setting.begin.elapsed() + setting.left() / 2;
    for (turn, round) in ROUNDS.iter().enumerate() {
        let is_first = turn == 0;
        if !is_first && more {
            break;
        }
        // What held by now counts only where a loss would have shown; that is found out before the budget goes to more of the same.
        if let Some(writers) = writers.filter(|_| !is_first) {
            look_what_would_be_missed(cases, writers, setting).await;
        }
        let mut is_looked_at = more || !is_first;
        for index in if is_first { first } else { 0 }..cases.len() {
            if !is_looked_at && setting.left() < setting.budget.time / KEPT_FOR_LOOKS {
                is_looked_at = true;
                if let Some(writers) = writers {
                    look_what_would_be_missed(cases, writers, setting).await;
                }
            }
            // A finding that was shown by one set needs no other.
            let shown: Vec<Fingerprint> = broken(cases);
            let Some(case) = cases.get_mut(index) else { continue };
            let wanted = case.fingerprints();
            if !wanted.is_empty() && wanted.iter().all(|finding| shown.contains(finding)) {
                continue;
            }
            case.advance(setting, *round).await;
            let is_shown = case.verdict() >= Verdict::Latent;
            setting.is_shown.fetch_or(is_shown, Relaxed);
            if is_shown && !all {
                return Rounds::Shown;
            }
            if setting.spent() {
                return Rounds::Spent;
            }
            if more && setting.begin.elapsed() >= share {
                return Rounds::Through;
            }
        }
    }
    Rounds::Through
}

/// Finds out of each writer whether its calls met others in a set in which a loss would have shown.
async fn look_what_would_be_missed(cases: &mut [Case], writers: &BTreeSet<String>, setting: &Setting<'_>) {
    let mut open: BTreeSet<String> = writers.clone();
    for tried in cases.iter().flat_map(Case::tried) {
        open.remove(&tried);
    }
    for case in cases {
        if open.is_empty() || setting.spent() {
            return;
        }
        case.look_what_it_would_miss(setting, &open).await;
        for tried in case.tried() {
            open.remove(&tried);
        }
    }
}

/// The findings that are shown already.
fn broken(cases: &[Case]) -> Vec<Fingerprint> {
    let proven = cases.iter().filter(|case| case.verdict() >= Verdict::Latent);
    proven.flat_map(Case::fingerprints).collect()
}

impl<'a> Setting<'a> {
    pub(crate) fn new(
        lab: &'a Lab,
        budget: Budget,
        begin: Instant,
        side_by_side: usize,
        progress: &'a dyn Progress,
    ) -> Self {
        Self { lab, budget, begin, side_by_side, progress, is_shown: AtomicBool::new(false) }
    }

    /// Whether the budget is used up.
    pub(crate) fn spent(&self) -> bool {
        self.progress.enough() || self.left().is_zero() || self.lab.calls() >= self.budget.calls
    }

    /// How much time is left.
    pub(crate) fn left(&self) -> Duration {
        let kept_back = if self.is_shown.load(Relaxed) { self.budget.kept_back } else { Duration::default() };
        self.budget.time.saturating_sub(kept_back).saturating_sub(self.begin.elapsed())
    }

    /// What comes of a future before the time is over and before whoever waits has had enough.
    async fn within<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        let had_enough = async {
            while !self.progress.enough() {
                tokio::time::sleep(OFTEN).await;
            }
        };
        tokio::select! {
            done = tokio::time::timeout(self.left(), what) => done.ok(),
            () = had_enough => None,
        }
    }

    fn why_spent(&self) -> String {
        if self.progress.enough() {
            "stopped by whoever waited".to_owned()
        } else if self.lab.calls() >= self.budget.calls {
            format!("stopped after {} calls", self.lab.calls())
        } else {
            format!("stopped after {} s", self.begin.elapsed().as_secs())
        }
    }
}

/// Why a set cannot be run on a target.
fn unsuitable(set: &CallSet, target: &Target) -> Option<&'static str> {
    let fault = set.fault != interlock_model::Fault::None;
    match target {
        Target::Url { .. } if fault => Some("a server that somebody else runs is not killed or closed"),
        _ if set.calls.is_empty() => Some("there is no call in it"),
        _ if set.calls.len() > MOST_CALLS => Some("there are too many calls in it"),
        _ => None,
    }
}

/// However a plan is written, no more calls than this are under way at once.
const MOST_CALLS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_slow_to_start_is_told_what_budget_it_needs() {
        let told = |millis, writers| slow_to_start(Duration::from_millis(millis), writers, 2);
        assert_eq!(told(200, 9), None, "others need no other budget");
        let slow = told(6_300, 3).unwrap();
        assert_eq!(slow, "an instance takes 6.3 s to start, so that all of it takes about --budget 3m");
        assert!(told(900, 1).unwrap().ends_with("--budget 2m"), "less than that nobody is told");
        let spent = Trouble::Spent(Duration::from_secs(12), Duration::from_millis(6_300)).to_string();
        assert!(spent.contains("took all of the 12 s, of which an instance takes 6.3 s to start"), "{spent}");
    }

    #[test]
    fn state_in_files_of_one_process_is_what_another_may_change() {
        let set = CallSet { reads: vec![files::read_of_files()], ..CallSet::default() };
        assert!(is_on_files_of_one(&set));
        assert!(!is_on_files_of_one(&files::in_processes(set)));
        assert!(!is_on_files_of_one(&CallSet::default()));
    }
}
