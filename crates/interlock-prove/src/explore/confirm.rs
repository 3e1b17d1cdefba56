//! An illegal outcome is looked at again before anything is called broken.

use interlock_model::{Evidence, Oracle, Perturbation, Schedule, Verdict};

use super::{Case, Setting, case::unanswered};
use crate::{
    judge::{Judgement, is_something_gone, legal_outcomes, stale_window},
    lab::Run,
    serial::{Invariants, Unstable, outcome_of},
};

/// What a second look came to.
pub(super) enum Confirmed {
    /// It happened again.
    Again(Verdict, String, Box<Evidence>),
    /// It did not, in as many runs as that.
    NotAgain(String),
    /// More serial runs show that it is legal.
    LegalAfterAll,
    /// More serial runs show that the server cannot be compared with itself.
    Unstable(String),
}

/// So many further runs of the same schedule are made at least.
const AT_LEAST: u32 = 5;
/// Where something that was acknowledged is gone, and is gone in all of them, so many are enough: with the orders that are run beside them, what
/// comes and goes whatever is done would have to come four times together and not once in eight runs in turn.
const LEAST_PLAIN: u32 = 3;
/// And so many at most, if it does not happen again.
const AT_MOST: u32 = 15;

/// Why nothing is said of a server that is not done when it has answered.
const LATE: &str = "what is read depends on how long one waits after the calls; they cannot be compared";

/// How many runs one after another are held against calls that met so often with so many wrong outcomes: what is as rare in turn, such as another
/// order of a folder's entries, shall be seen there too (by the rule of three, with 95 %).
fn serial_runs_wanted(times: u32, runs: u32) -> usize {
    usize::try_from(runs.max(runs.saturating_mul(3).div_ceil(times.max(1)))).unwrap_or(usize::MAX)
}

/// What an illegal run makes of a server.
pub(super) fn verdict_of(run: &Run) -> Verdict {
    if run.observed.unnatural { Verdict::Latent } else { Verdict::Broken }
}

impl Case {
    /// Runs every order again, those that leave calls out as well if they had a part in the judgement; judges again; then lets it happen again; then runs the orders as often
    /// as the calls met, so that what happens now and then whatever is done is not taken for a race.
    pub(super) async fn confirm(
        &mut self,
        setting: &Setting<'_>,
        schedule: &Schedule,
        run: Run,
    ) -> Confirmed {
        setting.progress.doing(&format!("{}: no order explains it; looking again", self.set.name));
        self.slow_down(&run);
        let is_plain = self.is_plain(&run);
        let is_settled = is_plain
            && !self.serial.settles_late(setting.lab, &self.set).await
            && self.serial.settle().is_ok();
        if !is_settled && let Some(end) = self.look_thoroughly(setting, &run).await {
            return end;
        }
        let least = if is_plain { LEAST_PLAIN } else { AT_LEAST };
        let (mut shown, mut times, mut runs): (Option<Run>, u32, u32) = (None, 0, 0);
        // As many again where not all of them are wrong.
        while runs < least || (times < runs && runs < AT_LEAST) || (times == 0 && runs < AT_MOST) {
            if setting.spent() && runs > 0 {
                break;
            }
            runs += 1;
            let Ok(run) = setting.lab.together(&self.set, schedule).await else { continue };
            self.explored.trials += 1;
            if self.is_illegal(setting, &run).await.is_some() {
                times += 1;
                // What the runtime itself may do says more than what it may not.
                if shown.as_ref().is_none_or(|shown| shown.observed.unnatural || !run.observed.unnatural) {
                    shown = Some(run);
                }
            }
        }
        let not_again = || {
            let technique = schedule.technique();
            Confirmed::NotAgain(format!(
                "an outcome that no order explains was seen once ({technique}), and not again in {runs} runs"
            ))
        };
        let Some(run) = shown else { return not_again() };
        self.slow_down(&run);
        if let Some(hold) = self.onlooker().filter(|_| schedule.perturbation == Perturbation::None) {
            setting.lab.expect(hold);
        }
        // Those that were run before the calls met count; each is run once more after it, in case the server became another meanwhile.
        let wanted = serial_runs_wanted(times, runs);
        loop {
            if let Err(unstable) = self.serial.again(setting.lab, &self.set, setting.side_by_side).await {
                return Confirmed::Unstable(unstable.to_string());
            }
            if self.serial.full_runs(&self.set) >= wanted {
                break;
            }
        }
        if let Err(unstable) = self.serial.look_at_parts(setting.lab, &self.set, setting.side_by_side).await {
            return Confirmed::Unstable(unstable.to_string());
        }
        match self.judged(setting, &run).await {
            Ok(Judgement::Illegal(reason)) => {
                let evidence = self.evidence(schedule, &run, (times, runs));
                Confirmed::Again(verdict_of(&run), reason, Box::new(evidence))
            }
            Ok(_) => Confirmed::LegalAfterAll,
            Err(unstable) => Confirmed::Unstable(unstable),
        }
    }

    /// Whether what happened needs no explaining: every call was acknowledged, and what one of them brought along is nowhere. Of everything else,
    /// another order or another number, it has to be known better whether it happens in turn as well.
    fn is_plain(&self, run: &Run) -> bool {
        self.set.invariants.is_empty() && is_something_gone(&self.set, &self.serial, &self.masked(run))
    }

    /// Runs every order more often and looks late at what they lead to. What that says of the server, unless the outcome is as wrong as before.
    async fn look_thoroughly(&mut self, setting: &Setting<'_>, run: &Run) -> Option<Confirmed> {
        // Where no call was refused and all were answered, only orders of all calls can explain what was seen.
        let everything = self.serial.partial;
        match self.serial.run(setting.lab, &self.set, everything, setting.side_by_side).await {
            Ok(()) => {}
            // What was seen was judged by a read that is no judge; without it the calls meet again.
            Err(Unstable::Differs(why)) => {
                return Some(match self.without_noise(setting, why).await {
                    Ok(()) => Confirmed::LegalAfterAll,
                    Err(unstable) => Confirmed::Unstable(unstable.to_string()),
                });
            }
            Err(unstable) => return Some(Confirmed::Unstable(unstable.to_string())),
        }
        match self.judged(setting, run).await {
            Ok(Judgement::Illegal(_)) => {}
            Ok(_) => return Some(Confirmed::LegalAfterAll),
            Err(unstable) => return Some(Confirmed::Unstable(unstable)),
        }
        if self.set.reads.is_empty() || !self.serial.settles_late(setting.lab, &self.set).await {
            return None;
        }
        // A server that writes its files by and by is judged by what its tools show.
        Some(match self.without_late_files(setting).await {
            Some(Ok(())) => Confirmed::LegalAfterAll,
            Some(Err(unstable)) => Confirmed::Unstable(unstable.to_string()),
            None => Confirmed::Unstable(LATE.into()),
        })
    }

    /// Why no order explains a run, if that is so. One in which a call was not answered shows nothing: it may still be under way while the
    /// state is read.
    pub(super) async fn is_illegal(&mut self, setting: &Setting<'_>, run: &Run) -> Option<String> {
        if unanswered(&self.set, run).is_some() {
            return None;
        }
        match self.judged(setting, run).await {
            Ok(Judgement::Illegal(reason)) => Some(reason),
            _ => None,
        }
    }

    /// A limit that fills up again lets more calls through in a longer time. So that the orders have as much of it as a run had, they
    /// pause between the calls.
    fn slow_down(&mut self, run: &Run) {
        if self.set.oracle == Oracle::NoMoreThanSerial {
            let gaps = u32::try_from(self.set.calls.len().saturating_sub(1)).unwrap_or(u32::MAX).max(1);
            self.serial.pause = self.serial.pause.max(run.history.span() / gaps);
        }
    }

    /// The same again with somebody looking on, so that the operations can be shown. What is shown is always one run.
    pub(super) async fn looked_into(&mut self, setting: &Setting<'_>, evidence: Evidence) -> Evidence {
        let Some(hold) = self.onlooker().filter(|_| evidence.schedule.perturbation == Perturbation::None)
        else {
            return evidence;
        };
        setting.progress.doing(&format!("{}: looking on", self.set.name));
        for _ in 0..AT_LEAST {
            let Ok(run) = setting.lab.watched(&self.set, &evidence.schedule, hold).await else { break };
            if !run.history.ticks.is_empty() && self.is_illegal(setting, &run).await.is_some() {
                return self.evidence(&evidence.schedule, &run, evidence.again);
            }
        }
        evidence
    }

    fn violated(&self, run: &Run) -> Vec<String> {
        let invariants = Invariants::of(&self.set).ok();
        let broken = invariants.and_then(|known| known.first_broken(run, &outcome_of(run)).ok().flatten());
        broken.into_iter().collect()
    }

    pub(super) fn evidence(&self, schedule: &Schedule, run: &Run, again: (u32, u32)) -> Evidence {
        let observed = self.masked(run);
        Evidence {
            history: run.history.clone(),
            schedule: schedule.clone(),
            legal: legal_outcomes(&self.set, &self.serial, &observed),
            observed,
            violated: self.violated(run),
            stale: stale_window(&run.history),
            again,
            replay: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rarely_wrong_is_held_against_more_runs_in_turn() {
        assert_eq!(serial_runs_wanted(5, 5), 5);
        assert_eq!(serial_runs_wanted(3, 6), 6);
        assert_eq!(serial_runs_wanted(1, 6), 18);
    }
}
