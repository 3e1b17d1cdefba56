//! The words that every format for people shares.

use std::time::Duration;

use interlock_model::{
    Answer, CallSet, Confinement, Delivery, Explored, Learnt, LegalOutcome, Outcome, Perturbation,
    PlannedCall, ProofReport, Schedule, Seen, Verdict, Writers,
};

use crate::summary::counted;

/// More orders than this are counted.
const ORDERS: usize = 2;
/// More race windows than this are not named.
const WINDOWS: usize = 3;

/// The name of a call: `A` to `Z`, then `AA`, as columns of a table are named.
pub(super) fn letter(index: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = index;
    loop {
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or_default()));
        match (rest / 26).checked_sub(1) {
            Some(above) => rest = above,
            None => break,
        }
    }
    letters.iter().rev().collect()
}

/// A time with about three digits that count.
pub(super) fn time(time: Duration) -> String {
    let micros = time.as_nanos().div_ceil(1_000);
    let seconds = time.as_secs_f64();
    match micros {
        0 => "0 ms".to_owned(),
        1..1_000 => format!("{micros} µs"),
        1_000..9_995 => format!("{:.2} ms", seconds * 1e3),
        9_995..99_950 => format!("{:.1} ms", seconds * 1e3),
        99_950..999_500 => format!("{:.0} ms", seconds * 1e3),
        999_500..9_995_000 => format!("{seconds:.2} s"),
        9_995_000..60_000_000 => format!("{seconds:.1} s"),
        _ => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
    }
}

/// What is said first: what changed outside of the server's folder, and what the kernel did not refuse it; and whether it must not be
/// overlooked.
pub(super) fn isolation(isolation: &Confinement) -> Vec<(bool, String)> {
    let changed = isolation.changed.iter().map(|what| (true, format!("CHANGED OUTSIDE: {what}")));
    changed.chain(isolation.said.iter().map(|said| (false, said.clone()))).collect()
}

/// How much was tried: `48 calls, 12 trials (one-write), 20 schedules in 412 ms: all there are`.
pub(super) fn explored(explored: &Explored) -> String {
    let techniques: Vec<&str> = explored.techniques.iter().map(String::as_str).collect();
    let mut trials = number(explored.trials, "trial");
    if !techniques.is_empty() {
        trials = format!("{trials} ({})", techniques.join(", "));
    }
    let calls = number(explored.calls, "call");
    let mut schedules = number(explored.schedules, "schedule");
    if !explored.walked.is_zero() {
        schedules = format!("{schedules} in {}", time(explored.walked));
    }
    let all = if explored.exhausted { ": all there are" } else { ", not exhausted" };
    format!("{calls}, {trials}, {schedules}{all}")
}

fn number(number: u64, noun: &str) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

/// The verdict over a server, and how many of its writers were tried: `broken: 1 of 3 sets of calls; 2 of 5 writers tried`.
pub(super) fn headline(report: &ProofReport) -> String {
    let said = verdict_of(report);
    match report.writers {
        Some(Writers { tried, known }) if known > 0 => {
            format!("{said}; {tried} of {} tried", counted(known, "writer"))
        }
        _ => said,
    }
}

fn verdict_of(report: &ProofReport) -> String {
    let of = |verdict: Verdict| report.sets.iter().filter(|set| set.verdict == verdict).count();
    let verdict = report.verdict;
    let sets = counted(report.sets.len(), "set");
    if let Some(reason) = &report.reason {
        return format!("{verdict}: {reason}");
    }
    match (report.sets.len(), verdict) {
        (0, verdict) => format!("{verdict}: no calls were set against each other"),
        (all, verdict) if of(verdict) == all => format!("{verdict}: {sets} of calls"),
        (_, verdict) => {
            let others: Vec<String> = Verdict::ALL
                .iter()
                .rev()
                .filter(|other| **other != verdict && of(**other) > 0)
                .map(|other| format!("{} {other}", of(*other)))
                .collect();
            format!("{verdict}: {} of {sets} of calls; {}", of(verdict), others.join(", "))
        }
    }
}

/// An order of calls: `A, then B`.
fn order(order: &[usize], calls: usize) -> String {
    let letters: Vec<String> = order.iter().map(|index| letter(*index)).collect();
    match letters.as_slice() {
        [] => "no call at all".to_owned(),
        [only] if calls > 1 => format!("{only} alone"),
        letters => letters.join(", then "),
    }
}

/// The orders that lead to a legal outcome.
pub(super) fn orders(legal: &LegalOutcome, calls: usize) -> String {
    let mut words: Vec<String> = legal.orders.iter().take(ORDERS).map(|one| order(one, calls)).collect();
    if let Some(more @ 1..) = legal.orders.len().checked_sub(ORDERS) {
        words.push(counted(more, "more order"));
    }
    if words.is_empty() { "a serial order".to_owned() } else { words.join("; or ") }
}

/// How a call was answered, in a word or two.
pub(super) fn answer(answer: &Answer) -> &'static str {
    match answer {
        Answer::Result { .. } => "result",
        Answer::Error { .. } => "error",
        Answer::Missing { .. } => "no answer",
    }
}

/// How the calls were made to meet.
pub(super) fn schedule(schedule: &Schedule) -> String {
    let mut words = match schedule.delivery {
        Delivery::OneWrite => "all requests in one write",
        Delivery::Connections => "a connection for each call, requests sent at the same time",
        Delivery::LastBytes => "a connection for each call, the last bytes sent together",
        Delivery::Http2 => "HTTP/2 streams whose last frames left in one write",
    }
    .to_owned();
    for (index, offset) in schedule.offsets.iter().enumerate().filter(|(_, offset)| !offset.is_zero()) {
        words.push_str(&format!("; {} {} later", letter(index), time(*offset)));
    }
    match &schedule.perturbation {
        Perturbation::None => {}
        Perturbation::SlowFiles { seed } => words.push_str(&format!("; slow files, seed {seed}")),
        Perturbation::PythonSwitches { seed } => {
            words.push_str(&format!("; Python's threads switched more often, seed {seed}"));
        }
        Perturbation::NodeOrder { choices } => {
            let choices: Vec<String> = choices.iter().take(40).map(ToString::to_string).collect();
            words.push_str(&format!("; Node's operations let go in a given order ({})", choices.join(" ")));
        }
        Perturbation::HeldWindow { windows } => {
            let places: Vec<String> = windows
                .iter()
                .take(WINDOWS)
                .map(|window| format!("{}:{}", window.file, window.first))
                .collect();
            let others = if windows.len() > WINDOWS { " and elsewhere" } else { "" };
            words.push_str(&format!("; the step behind {}{others} held open", places.join(", ")));
        }
    }
    words
}

/// In how many further runs it happened again.
pub(super) fn again((times, runs): (u32, u32)) -> String {
    match runs {
        0 => "not run again".to_owned(),
        1 => format!("{times} of 1 more run"),
        runs => format!("{times} of {runs} more runs"),
    }
}

/// How many calls of an outcome ended in which way: what is left to say where no serial outcome stands beside it.
pub(super) fn tally(outcome: &Outcome) -> String {
    let count = |wanted: fn(&Seen) -> bool| outcome.answers.iter().filter(|seen| wanted(seen)).count();
    format!(
        "{} succeeded, {} refused or failed, {} without an answer",
        counted(count(|seen| matches!(seen, Seen::Result(_))), "call"),
        count(|seen| matches!(seen, Seen::Error(_))),
        count(|seen| matches!(seen, Seen::Nothing)),
    )
}

/// What is said where the outcome shows a race and does not say of what kind.
pub(super) const NO_HAZARD: &str = "from outside it cannot be told which hazard this is: no order explains the outcome, and nothing in it is \
                                    simply gone, doubled or half. One lock over these calls stops it whatever it is";

/// What the stale window says.
pub(super) fn stale(call: usize, from: Duration, to: Duration) -> String {
    let name = letter(call);
    format!(
        "what {name} read at {} was changed by another call before {name} acted on it at {}",
        time(from),
        time(to)
    )
}

/// The name of a set, or what it is made of if nobody gave it one.
pub(super) fn name(set: &CallSet) -> String {
    if set.name.is_empty() {
        set.calls.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>().join(" + ")
    } else {
        set.name.clone()
    }
}

/// What was learnt of one tool: the call that worked, and where its values come from.
#[must_use]
pub(crate) fn learnt(learnt: &Learnt) -> String {
    let Some(works) = &learnt.works else {
        return format!("{}: no call that we know to make worked", learnt.tool);
    };
    let sources: Vec<String> =
        learnt.sources.iter().map(|(argument, from)| format!("{argument} is {from}")).collect();
    let first: Vec<String> = learnt.setup.iter().map(written).collect();
    let mut said = written(works);
    if !sources.is_empty() {
        said += &format!(": {}", sources.join(", "));
    }
    if !first.is_empty() {
        let were = if first.len() == 1 { "was" } else { "were" };
        said += &format!("; {} {were} called first", first.join(", "));
    }
    said
}

/// The calls of a tool that were refused, and in what words.
pub(crate) fn refused(learnt: &Learnt) -> impl Iterator<Item = String> {
    learnt.refused.iter().map(|(call, said)| format!("refused: {}: {said}", written(call)))
}

/// A call as `--call` takes it.
fn written(call: &PlannedCall) -> String {
    if call.arguments.is_null() { call.tool.clone() } else { format!("{} {}", call.tool, call.arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_named_as_the_columns_of_a_table() {
        assert_eq!([0, 1, 25, 26, 51, 52, 701, 702].map(letter).join(" "), "A B Z AA AZ BA ZZ AAA");
        assert!(!letter(usize::MAX).is_empty());
    }

    #[test]
    fn times_have_about_three_digits() {
        let words = |nanos: u64| time(Duration::from_nanos(nanos));
        let times = [
            0,
            1,
            310_000,
            999_999,
            4_206_000,
            9_999_999,
            42_060_000,
            99_990_000,
            420_600_000,
            3_020_000_000,
            42_000_000_000,
        ];
        assert_eq!(
            times.map(words).join(", "),
            "0 ms, 1 µs, 310 µs, 1.00 ms, 4.21 ms, 10.0 ms, 42.1 ms, 100 ms, 421 ms, 3.02 s, 42.0 s"
        );
        assert_eq!(time(Duration::from_secs(125)), "2 min 5 s");
        assert!(!time(Duration::MAX).is_empty());
    }
}
