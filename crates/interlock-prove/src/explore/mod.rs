//! The whole proof: every set gets its serial phase, then meets under one technique after another, until one breaks or the
//! budget ends.

mod case;
mod choose;
mod confirm;
mod ladder;
mod replay;
mod shrink;

use std::time::{Duration, Instant};

use interlock_model::{CallSet, Explored, Fingerprint, ProofReport, Verdict};

use self::choose::Choice;
pub use self::replay::replay;
pub(crate) use self::{case::Case, ladder::Ladder};
use crate::{
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
}

/// How many concurrent runs each set gets in each round: all sets get a little before one gets much.
const ROUNDS: &[u32] = &[2, 6, u32::MAX];

/// Proves, or says what was explored. An error means that nothing at all could be done.
pub async fn prove(request: Request, progress: &dyn Progress) -> Result<Proved, Trouble> {
    let target = request.target.name();
    let side_by_side = request.beside();
    let lab = Lab::new(&request, request.side_by_side, progress).await?;
    // What has to be fetched is fetched by now, and is no part of what the proof may take.
    let begin = Instant::now();
    progress.doing("starting the server");
    let deliveries = lab.deliveries().await?;
    let mut notes = Vec::new();
    let bounds = Bounds {
        // A third for finding out what there is, the rest for proving.
        calls: usize::try_from(request.budget.calls / 3).unwrap_or(usize::MAX),
        time: request.budget.time / 3,
        networked: request.target.networked(),
        side_by_side,
    };
    let left = request.budget.time.saturating_sub(begin.elapsed());
    let chosen = choose::choose(request.ask, &lab, bounds, progress, &mut notes);
    let chosen = tokio::time::timeout(left, chosen).await.map_err(|_| Trouble::Spent(request.budget.time))?;
    let Choice { sets, no_writer } = chosen?;
    if sets.is_empty() {
        notes.push("no calls were found that could meet; name some with --call".into());
    }
    let setting = Setting { lab: &lab, budget: request.budget, begin, side_by_side, progress };
    let ladder = Ladder::new(&lab.target, &request.perturbations, &deliveries, &mut notes);
    let mut cases: Vec<Case> = Vec::new();
    for chosen in sets {
        match unsuitable(&chosen.set, &request.target) {
            Some(why) => notes.push(format!("{}: {why}", chosen.set.name)),
            None => {
                let ladder = ladder.of(&chosen.set, request.budget.trials);
                cases.push(Case::new(chosen, ladder));
            }
        }
    }
    'rounds: for round in ROUNDS {
        for index in 0..cases.len() {
            // A finding that was shown by one set needs no other.
            let shown: Vec<Fingerprint> = broken(&cases);
            let Some(case) = cases.get_mut(index) else { continue };
            let wanted = case.fingerprints();
            if !wanted.is_empty() && wanted.iter().all(|finding| shown.contains(finding)) {
                continue;
            }
            case.advance(&setting, *round).await;
            if case.verdict() >= Verdict::Latent && !request.all {
                break 'rounds;
            }
            if setting.spent() {
                notes.push(setting.why_spent());
                break 'rounds;
            }
        }
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
    let tried = cases.into_iter().filter(Case::was_tried);
    let (findings, sets): (Vec<_>, Vec<_>) = tried.map(|case| (case.fingerprints(), case.report())).unzip();
    let verdict = Verdict::worst(sets.iter().map(|set| set.verdict));
    // Readers that do not get into each other's way say nothing of those that write.
    let (verdict, reason) = match no_writer {
        Some(why) if verdict == Verdict::Held => (Verdict::Unknown, Some(why)),
        why => {
            notes.extend(why);
            (verdict, None)
        }
    };
    let mut explored = Explored { calls: lab.calls(), ..Explored::default() };
    explored.exhausted = !sets.is_empty();
    for set in &sets {
        explored.trials += set.explored.trials;
        explored.schedules += set.explored.schedules;
        explored.walked += set.explored.walked;
        explored.techniques.extend(set.explored.techniques.iter().cloned());
        explored.exhausted &= set.explored.exhausted;
    }
    let isolation = request.restraint.isolation().clone();
    let took = begin.elapsed();
    let report = ProofReport { target, verdict, reason, isolation, sets, explored, took, notes };
    Ok(Proved { report, findings })
}

/// The findings that are shown already.
fn broken(cases: &[Case]) -> Vec<Fingerprint> {
    let proven = cases.iter().filter(|case| case.verdict() >= Verdict::Latent);
    proven.flat_map(Case::fingerprints).collect()
}

impl Setting<'_> {
    /// Whether the budget is used up.
    pub(crate) fn spent(&self) -> bool {
        self.progress.enough()
            || self.begin.elapsed() >= self.budget.time
            || self.lab.calls() >= self.budget.calls
    }

    /// How much time is left.
    pub(crate) fn left(&self) -> Duration {
        self.budget.time.saturating_sub(self.begin.elapsed())
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
