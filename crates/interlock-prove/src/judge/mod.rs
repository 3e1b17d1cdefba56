//! Judging a run: is there an order of the calls, one after another, that comes to the same?

mod gaps;
mod numbers;
mod refusal;
mod shows;
mod stale;

use interlock_model::{CallSet, History, LegalOutcome, Oracle, Outcome, PlannedCall, Seen};
use serde_json::Value;

use self::{gaps::same_but_for_gaps, numbers::Numbers, refusal::is_told_otherwise};
pub(crate) use self::{refusal::sounds_refused, shows::Shows, stale::stale_window};
use crate::{
    files::is_files,
    serial::{Legal, Serial},
};

/// What a run is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Judgement {
    /// Some order explains it.
    Legal,
    /// Some order explains it without the calls that were refused, which they never are one after another.
    LegalWithout(Vec<usize>),
    /// It may be legal, but orders that leave calls out have not been run yet.
    NeedsPartial,
    /// No order explains it. In one sentence, what is wrong.
    Illegal(String),
}

/// Judges one outcome, masked already.
pub(crate) fn judge(set: &CallSet, serial: &Serial, history: &History, outcome: &Outcome) -> Judgement {
    match set.oracle {
        Oracle::Serial => by_orders(set, serial, history, outcome),
        Oracle::NoMoreThanSerial => {
            let (most, seen) = (serial.most_successes(), successes(outcome));
            if seen > most {
                Judgement::Illegal(format!(
                    "{seen} of {} calls succeed together, {most} one after another",
                    set.calls.len()
                ))
            } else {
                Judgement::Legal
            }
        }
        Oracle::SomeRefused => {
            let (count, at_once) = (set.calls.len(), at_once(serial, history));
            // A server that lets calls wait bounds them too, and one that is done before the next arrives has nothing to bound.
            if successes(outcome) == count && at_once >= count / 8 {
                Judgement::Illegal(format!(
                    "none of {count} calls of one caller is refused, and about {at_once} are worked on at once"
                ))
            } else {
                Judgement::Legal
            }
        }
        Oracle::Once => once(set, serial, outcome),
    }
}

/// How many calls the server worked on at once: what all take by themselves, over what they took together.
fn at_once(serial: &Serial, history: &History) -> usize {
    let alone = serial.latency.first().copied().unwrap_or_default().as_secs_f64();
    let together = history.span().as_secs_f64().max(f64::EPSILON);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate of a small number"
    )]
    let estimate = (alone * history.calls.len() as f64 / together) as usize;
    estimate.min(history.calls.len())
}

fn by_orders(set: &CallSet, serial: &Serial, history: &History, outcome: &Outcome) -> Judgement {
    let legal = serial.legal();
    let possible: Vec<&Legal> = legal.iter().filter(|legal| keeps_time(history, &legal.order)).collect();
    let is_full = |legal: &&&Legal| legal.order.len() == set.calls.len();
    if possible.iter().filter(is_full).any(|legal| same(&legal.outcome, outcome)) {
        return Judgement::Legal;
    }
    let numbers = Numbers::learn(legal.iter().filter(|legal| legal.order.len() == set.calls.len()));
    if possible.iter().filter(is_full).any(|legal| numbers.same(&legal.outcome, outcome)) {
        return Judgement::Legal;
    }
    // What was refused as it never is alone did not happen; what was not answered may have happened or not.
    let refused: Vec<usize> = indexes(outcome, |seen| {
        !serial.knows(seen) && (sounds_refused(seen) || is_told_otherwise(seen, serial.answers()))
    });
    let silent: Vec<usize> = indexes(outcome, |seen| *seen == Seen::Nothing);
    if !refused.is_empty() || !silent.is_empty() {
        if !serial.partial {
            return Judgement::NeedsPartial;
        }
        let explains = |legal: &&&Legal| {
            let left_out = |index: &usize| !legal.order.contains(index);
            refused.iter().all(left_out)
                && (0..set.calls.len())
                    .filter(left_out)
                    .all(|index| refused.contains(&index) || silent.contains(&index))
                && {
                    let (legal, made) =
                        (made(&legal.outcome, &legal.order, &silent), made(outcome, &legal.order, &silent));
                    same(&legal, &made) || numbers.same(&legal, &made)
                }
        };
        if possible.iter().any(|legal| explains(&legal)) {
            return Judgement::LegalWithout(refused);
        }
    }
    Judgement::Illegal(what_is_wrong(set, &legal, outcome))
}

/// Whether two outcomes are the same, apart from ids that were used up without being handed out.
fn same(legal: &Outcome, observed: &Outcome) -> bool {
    legal == observed || same_but_for_gaps(legal, observed)
}

/// What is left of an outcome when only the calls of an order that were answered count.
fn made(outcome: &Outcome, order: &[usize], silent: &[usize]) -> Outcome {
    let counts = |index: &usize| order.contains(index) && !silent.contains(index);
    let answers = outcome.answers.iter().enumerate().filter(|(index, _)| counts(index));
    Outcome { answers: answers.map(|(_, seen)| seen.clone()).collect(), reads: outcome.reads.clone() }
}

/// Copies of one request: the state must be what one of them makes, and nobody may be told something else than the first was.
fn once(set: &CallSet, serial: &Serial, outcome: &Outcome) -> Judgement {
    if !serial.partial {
        return Judgement::NeedsPartial;
    }
    let legal = serial.legal();
    let none = legal.iter().filter(|legal| legal.order.is_empty());
    let one = legal.iter().filter(|legal| legal.order.len() == 1);
    let mut enough = one.chain(none.filter(|_| successes(outcome) == 0));
    if enough.any(|legal| reads_are_same(set, &legal.outcome, outcome)) {
        Judgement::Legal
    } else {
        Judgement::Illegal(format!("{} copies of one request did more than one does", set.calls.len()))
    }
}

/// Whether what is read is the same. In files an id may be higher that no tool tells: a row that was written again is the same row.
fn reads_are_same(set: &CallSet, legal: &Outcome, observed: &Outcome) -> bool {
    let of = |outcome: &Outcome, in_files: bool| Outcome {
        answers: Vec::new(),
        reads: (outcome.reads.iter().zip(&set.reads))
            .filter(|(_, read)| is_files(read) == in_files)
            .map(|(seen, _)| seen.clone())
            .collect(),
    };
    legal.reads == observed.reads
        || (legal.reads.len() == observed.reads.len()
            && set.reads.len() == legal.reads.len()
            && of(legal, false) == of(observed, false)
            && same_but_for_gaps(&of(legal, true), &of(observed, true)))
}

/// Whether an order keeps calls apart that did not overlap.
fn keeps_time(history: &History, order: &[usize]) -> bool {
    order.iter().enumerate().all(|(at, later)| {
        let rest = order.get(at + 1..).unwrap_or_default();
        rest.iter().all(|after| !history.precedes(*after, *later))
    })
}

fn what_is_wrong(set: &CallSet, legal: &[Legal], outcome: &Outcome) -> String {
    let full = || legal.iter().filter(|legal| legal.order.len() == set.calls.len());
    let most = full().map(|legal| successes(&legal.outcome)).max().unwrap_or(0);
    let seen = successes(outcome);
    if seen > most {
        return format!("{seen} calls succeed together, {most} one after another");
    }
    let known_reads = full().any(|legal| legal.outcome.reads == outcome.reads);
    let known_answers = full().any(|legal| legal.outcome.answers == outcome.answers);
    let how = if known_answers {
        "every call is answered as if it had worked"
    } else {
        "and the calls are answered as in no order"
    };
    let lost = || gone(set, full(), outcome).or_else(|| undone(set, legal, outcome));
    match (known_answers, known_reads) {
        (answers, false) => match (lost(), answers) {
            (Some(what), true) => format!("{what} was acknowledged and is gone: {how}"),
            (Some(what), false) => format!("{what} was acknowledged and is gone, {how}"),
            (None, true) => format!("{how}, but what is read afterwards is no serial outcome"),
            (None, false) => "neither the answers nor what is read afterwards come from any order".into(),
        },
        (false, true) if outcome.reads.is_empty() => "the calls are answered as in no order".into(),
        (false, true) => "what is read afterwards is right, but the calls are answered as in no order".into(),
        (true, true) => "the answers and what is read afterwards belong to different orders".into(),
    }
}

/// What a call did, if the state is as if it had not been made although it was answered as one that worked.
fn undone(set: &CallSet, legal: &[Legal], outcome: &Outcome) -> Option<String> {
    let is_left_out = |index: &usize| {
        let mut without = legal
            .iter()
            .filter(|legal| legal.order.len() + 1 == set.calls.len() && !legal.order.contains(index));
        has_worked(outcome, *index) && without.any(|legal| legal.outcome.reads == outcome.reads)
    };
    let calls: Vec<&PlannedCall> =
        (0..set.calls.len()).filter(is_left_out).filter_map(|index| set.calls.get(index)).collect();
    let (call, others) = calls.split_first()?;
    let arguments: String = call.arguments.to_string().chars().take(LONGEST).collect();
    match others.is_empty() {
        true => Some(format!("what `{} {arguments}` did", call.tool)),
        // The state is that of one of them, whichever it is.
        false => Some(format!("what one of the calls of `{}` did", call.tool)),
    }
}

/// Whether a call was answered as one that was not refused.
fn has_worked(outcome: &Outcome, index: usize) -> bool {
    let answer = outcome.answers.get(index);
    answer.is_some_and(|seen| matches!(seen, Seen::Result(_)) && !sounds_refused(seen))
}

/// Whether every call was answered as if it had worked, and what one of them brought along is nowhere: nothing says it plainer.
pub(crate) fn is_something_gone(set: &CallSet, serial: &Serial, outcome: &Outcome) -> bool {
    let legal = serial.legal();
    let full = legal.iter().filter(|legal| legal.order.len() == set.calls.len());
    set.oracle == Oracle::Serial
        && successes(outcome) == set.calls.len()
        && !outcome.answers.iter().any(sounds_refused)
        && gone(set, full, outcome).is_some()
}

/// A text that a call brought along, and that is read after every order and not now.
fn gone<'l>(set: &CallSet, full: impl Iterator<Item = &'l Legal>, outcome: &Outcome) -> Option<String> {
    let read = |outcome: &Outcome| {
        let said = outcome.reads.iter().filter_map(|seen| match seen {
            Seen::Result(value) | Seen::Error(value) => Some(value.to_string()),
            Seen::Nothing => None,
        });
        said.collect::<String>()
    };
    let (now, always): (String, Vec<String>) =
        (read(outcome), full.map(|legal| read(&legal.outcome)).collect());
    let mut brought = Vec::new();
    let worked = set.calls.iter().enumerate().filter(|(index, _)| has_worked(outcome, *index));
    worked.for_each(|(_, call)| texts(&call.arguments, 0, &mut brought));
    let is_gone = |text: &String| {
        let written = Value::from(text.as_str()).to_string();
        let written = written.trim_matches('"');
        (SHORTEST..=LONGEST).contains(&text.len())
            && !now.contains(written)
            && always.iter().all(|read| read.contains(written))
    };
    brought.into_iter().find(is_gone).map(|text| format!("`{text}`"))
}

/// Shorter texts are in anything, longer ones nobody reads.
const SHORTEST: usize = 3;
const LONGEST: usize = 60;

fn texts(value: &Value, depth: usize, found: &mut Vec<String>) {
    match value {
        // JSON in a text says what is in it.
        Value::String(text) if text.starts_with(['{', '[']) && depth < 16 => {
            match serde_json::from_str::<Value>(text) {
                Ok(inner) => texts(&inner, depth + 1, found),
                Err(_) => found.push(text.clone()),
            }
        }
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) if depth < 16 => items.iter().for_each(|item| texts(item, depth + 1, found)),
        Value::Object(fields) if depth < 16 => {
            fields.values().for_each(|field| texts(field, depth + 1, found))
        }
        _ => {}
    }
}

/// What is legal, for a report: one entry for each outcome, nearest to the observed one first.
pub(crate) fn legal_outcomes(set: &CallSet, serial: &Serial, observed: &Outcome) -> Vec<LegalOutcome> {
    let mut found: Vec<LegalOutcome> = Vec::new();
    for legal in serial.legal() {
        match found.iter_mut().find(|known| known.outcome == legal.outcome) {
            Some(known) => known.orders.push(legal.order),
            None => found.push(LegalOutcome { outcome: legal.outcome, orders: vec![legal.order] }),
        }
    }
    let distance = |legal: &LegalOutcome| {
        let differ = |one: &[Seen], two: &[Seen]| one.iter().zip(two).filter(|(one, two)| one != two).count();
        let left_out = legal.orders.iter().map(|order| set.calls.len() - order.len()).min().unwrap_or(0);
        (
            left_out,
            differ(&legal.outcome.answers, &observed.answers) + differ(&legal.outcome.reads, &observed.reads),
        )
    };
    found.sort_by_cached_key(distance);
    found
}

fn successes(outcome: &Outcome) -> usize {
    outcome.answers.iter().filter(|seen| matches!(seen, Seen::Result(_))).count()
}

fn indexes(outcome: &Outcome, wanted: impl Fn(&Seen) -> bool) -> Vec<usize> {
    outcome.answers.iter().enumerate().filter(|(_, seen)| wanted(seen)).map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use interlock_model::PlannedCall;
    use serde_json::json;

    use super::*;
    use crate::files::read_of_files;

    #[test]
    fn a_row_that_is_written_again_under_another_id_is_no_second_one() {
        let tool = PlannedCall::new("list", json!({}));
        let set = CallSet { reads: vec![tool, read_of_files()], ..CallSet::default() };
        let outcome = |shown: Value, rows: Value| Outcome {
            answers: Vec::new(),
            reads: vec![Seen::Result(shown), Seen::Result(json!({ "rows": rows }))],
        };
        let one = outcome(json!(["a"]), json!([{"id": 1, "name": "a"}]));
        assert!(reads_are_same(&set, &one, &outcome(json!(["a"]), json!([{"id": 2, "name": "a"}]))));
        let two = json!([{"id": 1, "name": "a"}, {"id": 2, "name": "a"}]);
        assert!(!reads_are_same(&set, &one, &outcome(json!(["a"]), two)), "another row");
        let told = |id: u64| outcome(json!([{ "id": id }]), json!([{ "id": id }]));
        assert!(!reads_are_same(&set, &told(1), &told(2)), "an id that a tool tells");
    }

    #[test]
    fn what_is_gone_is_named_as_the_call_named_it() {
        let call = |name: &str| PlannedCall::new("add", json!({ "notes": [{ "name": name }] }));
        let set = CallSet { calls: vec![call("note-a"), call("say \"b\"")], ..CallSet::default() };
        let outcome = |names: &[&str]| Outcome {
            answers: vec![Seen::Result(json!("ok")); 2],
            reads: vec![Seen::Result(json!({ "notes": names }))],
        };
        let legal =
            |order: [usize; 2], names: &[&str]| Legal { order: order.into(), outcome: outcome(names) };
        let legal = [legal([0, 1], &["note-a", "say \"b\""]), legal([1, 0], &["say \"b\"", "note-a"])];
        let said = |names: &[&str]| what_is_wrong(&set, &legal, &outcome(names));
        assert!(
            said(&["note-a"]).starts_with("`say \"b\"` was acknowledged and is gone"),
            "{}",
            said(&["note-a"])
        );
        assert!(said(&["say \"b\""]).starts_with("`note-a` was"));
        assert!(said(&["note-a", "note-a", "say \"b\""]).contains("no serial outcome"), "nothing is gone");
    }

    #[test]
    fn what_a_call_changed_is_named_where_the_state_is_as_if_it_had_not_been_made() {
        let done = |title: &str| PlannedCall::new("complete", json!({ "title": title }));
        let set = CallSet { calls: vec![done("a"), done("b")], ..CallSet::default() };
        let outcome = |answers: [u32; 2], a: &str, b: &str| Outcome {
            answers: answers.iter().map(|count| Seen::Result(json!({ "done": count }))).collect(),
            reads: vec![Seen::Result(json!({ "a": a, "b": b }))],
        };
        let legal = |order: &[usize], outcome: Outcome| Legal { order: order.into(), outcome };
        let legal = [
            legal(&[0, 1], outcome([1, 2], "done", "done")),
            legal(&[1, 0], outcome([2, 1], "done", "done")),
            legal(&[0], outcome([1, 0], "done", "open")),
            legal(&[1], outcome([0, 1], "open", "done")),
        ];
        let said = |answers: [u32; 2], a: &str, b: &str| what_is_wrong(&set, &legal, &outcome(answers, a, b));
        assert_eq!(
            said([1, 2], "done", "open"),
            "what `complete {\"title\":\"b\"}` did was acknowledged and is gone: every call is answered as if it had worked"
        );
        assert_eq!(
            said([1, 1], "open", "done"),
            "what `complete {\"title\":\"a\"}` did was acknowledged and is gone, and the calls are answered as in no order"
        );
        assert!(said([1, 1], "open", "open").starts_with("neither the answers"), "both are gone");
        assert_eq!(
            said([1, 1], "done", "done"),
            "what is read afterwards is right, but the calls are answered as in no order"
        );
        let unread = |order: &[usize], answers: [u32; 2]| Legal {
            order: order.into(),
            outcome: Outcome { reads: Vec::new(), ..outcome(answers, "", "") },
        };
        let legal = [unread(&[0, 1], [1, 2]), unread(&[1, 0], [2, 1])];
        let observed = Outcome { reads: Vec::new(), ..outcome([1, 1], "", "") };
        assert_eq!(
            what_is_wrong(&set, &legal, &observed),
            "the calls are answered as in no order",
            "nothing was read, so nothing is said of what would be"
        );
    }
}
