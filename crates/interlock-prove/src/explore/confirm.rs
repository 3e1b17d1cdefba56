//! An illegal outcome is looked at again before anything is called broken.

use interlock_model::{Evidence, Perturbation, Schedule, Verdict};

use super::{Case, Setting};
use crate::{
    judge::{Judgement, legal_outcomes, stale_window},
    lab::Run,
    serial::{Invariants, outcome_of},
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
/// And so many at most, if it does not happen again.
const AT_MOST: u32 = 15;

impl Case {
    /// Runs every order again, those that leave calls out as well; judges again; then lets it happen again.
    pub(super) async fn confirm(
        &mut self,
        setting: &Setting<'_>,
        schedule: &Schedule,
        run: Run,
    ) -> Confirmed {
        setting.progress.doing(&format!("{}: no order explains it; looking again", self.set.name));
        let many = self.set.oracle != interlock_model::Oracle::Serial && self.set.calls.len() > 4;
        let again = self.serial.run(setting.lab, &self.set, !many, setting.side_by_side).await;
        if let Err(unstable) = again {
            return Confirmed::Unstable(unstable.to_string());
        }
        let mut shown = match self.judged(setting, &run).await {
            Ok(Judgement::Illegal(reason)) => (run, reason),
            Ok(_) => return Confirmed::LegalAfterAll,
            Err(unstable) => return Confirmed::Unstable(unstable),
        };
        let (mut times, mut runs) = (0, 0);
        while runs < AT_LEAST || (times == 0 && runs < AT_MOST) {
            if setting.spent() && runs > 0 {
                break;
            }
            runs += 1;
            let Ok(run) = setting.lab.together(&self.set, schedule).await else { continue };
            self.explored.trials += 1;
            if let Ok(Judgement::Illegal(reason)) = self.judged(setting, &run).await {
                times += 1;
                shown = (run, reason);
            }
        }
        if times == 0 {
            return Confirmed::NotAgain(format!(
                "an outcome that no order explains was seen once ({}), and not again in {runs} runs",
                schedule.technique()
            ));
        }
        let (run, reason) = shown;
        let verdict = if run.observed.unnatural { Verdict::Latent } else { Verdict::Broken };
        Confirmed::Again(verdict, reason, Box::new(self.evidence(schedule, &run, (times, runs))))
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
            if let Ok(Judgement::Illegal(_)) = self.judged(setting, &run).await
                && !run.history.ticks.is_empty()
            {
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
