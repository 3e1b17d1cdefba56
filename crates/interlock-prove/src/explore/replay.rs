//! A saved schedule, run once more.

use std::time::Instant;

use interlock_model::{CallSet, ProofReport, Schedule, SetReport, Verdict};

use super::{Case, Ladder, Setting, case::unanswered, choose::Chosen, confirm::verdict_of};
use crate::{
    judge::Judgement,
    lab::Lab,
    request::{Progress, Request},
    trouble::Trouble,
};

/// Runs a set under one schedule so often, and says in how many runs no order explains the outcome. The serial phase comes first:
/// the server may have changed since.
pub async fn replay(
    request: Request,
    set: CallSet,
    schedule: Schedule,
    progress: &dyn Progress,
) -> Result<ProofReport, Trouble> {
    let target = request.target.name();
    let side_by_side = request.beside();
    let lab = Lab::new(&request, side_by_side, progress).await?;
    let begin = Instant::now();
    // A file is not a person: what it names is called as if nobody had, unless nothing can come of it or somebody gives leave.
    if request.restraint.isolation().is_complete() || request.restraint.allows_destructive() {
        request.restraint.know_by_hand([&set.setup, &set.calls, &set.reads].into_iter().flatten());
    }
    // Which tools only read is known from their list.
    let _ = lab.tools().await;
    let setting = Setting::new(&lab, request.budget, begin, side_by_side, progress);
    let mut case = Case::new(Chosen::by_hand(set), Ladder::none());
    progress.doing(&format!("{}: one after another", case.set.name));
    let (mut times, mut runs, mut shown) = (0, 0, None);
    let mut trouble = None;
    match case.serial.run(&lab, &case.set, true, side_by_side).await {
        Err(unstable) => trouble = Some(unstable.to_string()),
        Ok(()) if case.hopeless().is_some() => trouble = case.hopeless(),
        Ok(()) => {
            for run in 1..=request.budget.trials {
                if setting.spent() {
                    break;
                }
                progress.doing(&format!("{}: run {run} of {}", case.set.name, request.budget.trials));
                let run = match lab.together(&case.set, &schedule).await {
                    Ok(run) => run,
                    Err(error) => {
                        trouble = Some(error.to_string());
                        break;
                    }
                };
                runs += 1;
                case.explored.trials += 1;
                case.explored.techniques.insert(schedule.technique());
                if let Some(why) = unanswered(&case.set, &run) {
                    trouble = Some(why);
                    continue;
                }
                match case.judged(&setting, &run).await {
                    Ok(Judgement::Illegal(reason)) => {
                        times += 1;
                        shown = Some((verdict_of(&run), reason, run));
                    }
                    Ok(_) => {}
                    Err(unstable) => trouble = Some(unstable),
                }
            }
        }
    }
    let mut notes = Vec::new();
    if trouble.is_none() && runs < request.budget.trials {
        let left = request.budget.trials - runs;
        notes.push(format!(
            "{}; {left} of {} runs were not made",
            setting.why_spent(),
            request.budget.trials
        ));
    }
    case.explored.calls = lab.calls();
    let (verdict, reason, evidence) = match (shown, trouble) {
        (Some((verdict, reason, run)), _) => {
            let evidence = case.evidence(&schedule, &run, (times, runs));
            case.name(&evidence);
            (verdict, format!("it happens again, in {times} of {runs} runs: {reason}"), Some(evidence))
        }
        (None, Some(trouble)) => (Verdict::Unknown, trouble, None),
        (None, None) if runs == 0 => (Verdict::Unknown, "it was not run again".into(), None),
        (None, None) => (Verdict::Held, format!("it does not happen again, in {runs} runs"), None),
    };
    let set = SetReport { set: case.set, verdict, reason, explored: case.explored, evidence };
    let explored = set.explored.clone();
    let isolation = request.restraint.isolation().clone();
    let (sets, took) = (vec![set], begin.elapsed());
    Ok(ProofReport {
        target,
        verdict,
        reason: None,
        writers: None,
        isolation,
        sets,
        explored,
        took,
        notes,
        learnt: Vec::new(),
    })
}
