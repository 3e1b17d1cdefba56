//! Making a proof smaller: fewer calls, then no perturbation, then no offsets.

use interlock_model::{CallSet, Evidence, Fault, Oracle, Perturbation, Schedule, Verdict};

use super::{Case, Setting, confirm::verdict_of};

/// How often a smaller form may fail to happen before it counts as not enough.
const TRIES: u32 = 4;

/// What was shown. A smaller form may say more or less of the server than a larger one: whether it is natural belongs to each.
pub(super) struct Shown {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    pub(super) evidence: Evidence,
}

/// The smallest form that still happens, within the budget. What is broken is not made smaller at the price of being only latent.
pub(super) async fn shrink(case: &mut Case, setting: &Setting<'_>, shown: Shown) -> Shown {
    let mut shown = shown;
    if case.set.oracle == Oracle::Serial && case.set.fault == Fault::None {
        while case.set.calls.len() > 2 && !setting.spent() {
            let Some((smaller, still)) = fewer_calls(case, setting, &shown).await else { break };
            let explored = std::mem::take(&mut case.explored);
            *case = smaller;
            case.explored.trials += explored.trials;
            case.explored.techniques.extend(explored.techniques);
            shown = still;
        }
    }
    for schedule in simpler(&shown.evidence.schedule) {
        if setting.spent() {
            break;
        }
        if let Some(still) = happens(case, setting, &schedule, shown.verdict).await {
            shown = still;
            break;
        }
    }
    shown
}

/// The same schedule with one call less.
async fn fewer_calls(case: &Case, setting: &Setting<'_>, shown: &Shown) -> Option<(Case, Shown)> {
    for left_out in 0..case.set.calls.len() {
        let mut calls = case.set.calls.clone();
        calls.remove(left_out);
        let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
        let set = CallSet { name: names.join(" + "), calls: calls.clone(), ..case.set.clone() };
        setting.progress.doing(&format!("{}: is it enough?", set.name));
        let mut smaller = case.of_calls(set);
        let serial = smaller.serial.run(setting.lab, &smaller.set, true, setting.side_by_side).await;
        if serial.is_err() {
            continue;
        }
        let mut schedule = shown.evidence.schedule.clone();
        if left_out < schedule.offsets.len() {
            schedule.offsets.remove(left_out);
        }
        if let Some(still) = happens(&mut smaller, setting, &schedule, shown.verdict).await {
            return Some((smaller, still));
        }
    }
    None
}

/// Schedules that ask less of whoever reads them, the simplest first.
fn simpler(schedule: &Schedule) -> Vec<Schedule> {
    let mut found = Vec::new();
    let plain = Schedule { delivery: schedule.delivery, ..Schedule::default() };
    if let Perturbation::NodeOrder { choices } = &schedule.perturbation {
        // A shorter list of choices has fewer context switches: beyond its end, whoever went last goes on.
        for length in 0..choices.len() {
            let choices = choices.iter().take(length).copied().collect();
            found.push(Schedule { perturbation: Perturbation::NodeOrder { choices }, ..schedule.clone() });
        }
    }
    if schedule.offsets.iter().any(|offset| !offset.is_zero()) {
        found.push(Schedule { offsets: Vec::new(), ..schedule.clone() });
    }
    if schedule.perturbation != Perturbation::None && !found.contains(&plain) {
        found.insert(0, plain);
    }
    found
}

/// Whether a schedule leads to an illegal outcome twice in a few runs, and one that is no less than a verdict.
async fn happens(
    case: &mut Case,
    setting: &Setting<'_>,
    schedule: &Schedule,
    least: Verdict,
) -> Option<Shown> {
    let (mut times, mut shown) = (0, None);
    for tried in 1..=TRIES {
        let Ok(run) = setting.lab.together(&case.set, schedule).await else { continue };
        case.explored.trials += 1;
        let verdict = verdict_of(&run);
        if verdict >= least
            && let Some(reason) = case.is_illegal(setting, &run).await
        {
            times += 1;
            let evidence = case.evidence(schedule, &run, (times, tried));
            shown = Some(Shown { verdict, reason, evidence });
        }
        if times == 0 && tried == TRIES / 2 {
            break;
        }
    }
    shown.filter(|_| times >= 2)
}
