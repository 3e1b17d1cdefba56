//! Two outcomes beside each other: as a tree for the page, and as a list of paths for the terminal.

use interlock_model::{Evidence, LegalOutcome, Outcome, Seen};
use serde_json::{Value, json};

use super::{
    delta::{self, Delta},
    value, words,
};

/// A part of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What a call of the set answered.
    Answer(usize),
    /// What a read of the set answered.
    Read(usize),
}

/// One place where outcomes differ.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// Such as `reads[0]/entities/1`.
    pub(super) path: String,
    /// What was seen there.
    pub(super) observed: Side,
    /// What a serial order leads to.
    pub(super) legal: Side,
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Side {
    Value(Value),
    /// A value that is not there.
    Missing,
    /// No answer where one was due.
    NoAnswer,
    /// The order leaves this call out.
    NotMade,
}

impl Part {
    /// Its name in paths.
    pub(super) fn path(self) -> String {
        match self {
            Self::Answer(index) => format!("answers[{}]", words::letter(index)),
            Self::Read(index) => format!("reads[{index}]"),
        }
    }
}

impl Side {
    /// In a few words or as JSON.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Value(value) => value::compact(value),
            Self::Missing => "missing".to_owned(),
            Self::NoAnswer => "no answer".to_owned(),
            Self::NotMade => "not made".to_owned(),
        }
    }
}

/// The legal outcomes that what was observed can be held against, nearest first, and how many others there are. An order that leaves out
/// a call which was answered as if it had worked is none of them.
pub(super) fn comparable(evidence: &Evidence, most: usize) -> (Vec<&LegalOutcome>, usize) {
    let worked = |index: usize| matches!(evidence.observed.answers.get(index), Some(Seen::Result(_)));
    let calls = evidence.observed.answers.len();
    let keeps = |order: &Vec<usize>| (0..calls).all(|index| order.contains(&index) || !worked(index));
    let mut shown: Vec<&LegalOutcome> =
        evidence.legal.iter().filter(|legal| legal.orders.iter().any(keeps)).collect();
    if shown.is_empty() {
        shown = evidence.legal.iter().collect();
    }
    shown.truncate(most);
    let others = evidence.legal.len() - shown.len();
    (shown, others)
}

/// All parts of two outcomes: answers first, then reads.
pub(super) fn parts(observed: &Outcome, legal: &Outcome) -> Vec<(Part, Delta)> {
    let one = pairs(&observed.answers, &legal.answers, Part::Answer);
    one.into_iter().chain(pairs(&observed.reads, &legal.reads, Part::Read)).collect()
}

fn pairs(observed: &[Seen], legal: &[Seen], part: fn(usize) -> Part) -> Vec<(Part, Delta)> {
    let count = observed.len().max(legal.len());
    let nothing = Seen::Nothing;
    (0..count)
        .map(|index| {
            let of = |list: &'_ [Seen]| list.get(index).cloned().unwrap_or_else(|| nothing.clone());
            (part(index), seen(&of(observed), &of(legal)))
        })
        .collect()
}

fn seen(observed: &Seen, legal: &Seen) -> Delta {
    match (observed, legal) {
        (Seen::Nothing, Seen::Nothing) => Delta::Same(Value::Null),
        (Seen::Nothing, legal) => Delta::Missing(named(legal)),
        (observed, Seen::Nothing) => Delta::Extra(named(observed)),
        (Seen::Result(observed), Seen::Result(legal)) | (Seen::Error(observed), Seen::Error(legal)) => {
            match (without_echo(observed), without_echo(legal)) {
                (Some(observed), Some(legal)) if observed != legal => delta::between(&observed, &legal),
                _ => delta::between(observed, legal),
            }
        }
        (observed, legal) => Delta::Changed { observed: named(observed), legal: named(legal) },
    }
}

fn named(seen: &Seen) -> Value {
    match seen {
        Seen::Result(value) => value.clone(),
        Seen::Error(value) => json!({ "error": value }),
        Seen::Nothing => Value::Null,
    }
}

/// A result without its text, if that only says the structured content once more. The protocol asks servers to send both; text that is
/// no JSON becomes the only field of an object there.
fn without_echo(result: &Value) -> Option<Value> {
    let object = result.as_object()?;
    let structured = object.get("structuredContent")?;
    let [only] = object.get("content")?.as_array()?.as_slice() else { return None };
    let text = only.get("text")?;
    // Whoever compared outcomes may have read the text already.
    let inside = text.as_str().and_then(value::inside);
    let said = inside.as_ref().unwrap_or(text);
    let field = structured.as_object().filter(|fields| fields.len() == 1);
    let field = field.and_then(|fields| fields.values().next());
    let echoes = said == structured || field.is_some_and(|field| field == said || field == text);
    echoes.then(|| {
        let rest = object.iter().filter(|(key, _)| *key != "content");
        Value::Object(rest.map(|(key, value)| (key.clone(), value.clone())).collect())
    })
}

/// The places where outcomes differ.
pub(super) fn list(observed: &Outcome, legal: &Outcome) -> Vec<Difference> {
    let mut out = Vec::new();
    for (part, delta) in parts(observed, legal) {
        let path = part.path();
        match (part, delta) {
            (Part::Answer(_), Delta::Missing(legal)) => {
                out.push(Difference { path, observed: Side::NoAnswer, legal: Side::Value(legal) });
            }
            (Part::Answer(_), Delta::Extra(observed)) => {
                out.push(Difference { path, observed: Side::Value(observed), legal: Side::NotMade });
            }
            (_, delta) => walk(&mut out, path, delta),
        }
    }
    out
}

fn walk(out: &mut Vec<Difference>, path: String, delta: Delta) {
    match delta {
        Delta::Same(_) => {}
        Delta::Changed { observed, legal } => {
            out.push(Difference { path, observed: Side::Value(observed), legal: Side::Value(legal) });
        }
        Delta::Missing(legal) => {
            out.push(Difference { path, observed: Side::Missing, legal: Side::Value(legal) });
        }
        Delta::Extra(observed) => {
            out.push(Difference { path, observed: Side::Value(observed), legal: Side::Missing });
        }
        Delta::Object(entries) => {
            for (key, delta) in entries {
                walk(out, format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), delta);
            }
        }
        Delta::List(items) => {
            for (place, delta) in items {
                walk(out, format!("{path}/{place}"), delta);
            }
        }
        Delta::Text(inner) => walk(out, path, *inner),
        Delta::Lines(lines) => {
            for (place, delta) in lines {
                walk(out, format!("{path} line {}", place + 1), delta);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(answers: Vec<Seen>, reads: Vec<Seen>) -> Outcome {
        Outcome { answers, reads }
    }

    fn shown(observed: &Outcome, legal: &Outcome) -> Vec<String> {
        let line =
            |one: &Difference| format!("{}: {} | {}", one.path, one.observed.words(), one.legal.words());
        list(observed, legal).iter().map(line).collect()
    }

    #[test]
    fn a_value_is_named_by_the_path_that_leads_to_it() {
        let observed = outcome(vec![], vec![Seen::Result(json!({"entities": ["a"], "x/y~z": 1}))]);
        let legal = outcome(vec![], vec![Seen::Result(json!({"entities": ["a", "b"], "x/y~z": 2}))]);
        assert_eq!(
            shown(&observed, &legal),
            ["reads[0]/entities/1: missing | \"b\"", "reads[0]/x~1y~0z: 1 | 2"]
        );
    }

    #[test]
    fn an_answer_that_is_not_there_is_told_from_a_call_that_is_not_made() {
        let result = Seen::Result(json!("ok"));
        let observed = outcome(vec![Seen::Nothing, result.clone(), Seen::Error(json!("busy"))], vec![]);
        let legal = outcome(vec![result.clone(), Seen::Nothing, result], vec![]);
        assert_eq!(
            shown(&observed, &legal),
            [
                "answers[A]: no answer | \"ok\"",
                "answers[B]: \"ok\" | not made",
                "answers[C]: {\"error\":\"busy\"} | \"ok\"",
            ]
        );
    }

    #[test]
    fn an_order_without_a_call_that_worked_is_nothing_to_compare_with() {
        let legal =
            |order: &[usize]| LegalOutcome { outcome: Outcome::default(), orders: vec![order.to_vec()] };
        let compared = |answers: Vec<Seen>| {
            let evidence = Evidence {
                history: Default::default(),
                schedule: Default::default(),
                observed: outcome(answers, vec![]),
                legal: vec![legal(&[1]), legal(&[0, 1]), legal(&[1, 0])],
                violated: vec![],
                stale: None,
                again: (0, 0),
                replay: None,
            };
            let (shown, others) = comparable(&evidence, 2);
            let orders: Vec<Vec<usize>> = shown.iter().flat_map(|legal| legal.orders.clone()).collect();
            (orders, others)
        };
        let worked = || Seen::Result(json!("ok"));
        assert_eq!(compared(vec![worked(), worked()]), (vec![vec![0, 1], vec![1, 0]], 1));
        assert_eq!(compared(vec![Seen::Error(json!("busy")), worked()]), (vec![vec![1], vec![0, 1]], 1));
    }

    #[test]
    fn text_that_is_said_twice_differs_once() {
        let result = |text: &str| {
            let content = json!([{"type": "text", "text": text}]);
            Seen::Result(json!({ "content": content, "structuredContent": {"content": text} }))
        };
        let (observed, legal) =
            (outcome(vec![], vec![result("one\ntwo")]), outcome(vec![], vec![result("ONE\ntwo")]));
        assert_eq!(
            shown(&observed, &legal),
            ["reads[0]/structuredContent/content line 1: \"one\" | \"ONE\""]
        );
    }

    #[test]
    fn what_a_server_says_twice_differs_once() {
        for as_text in [true, false] {
            let result = |names: &[&str]| {
                let graph = json!({ "entities": names });
                let text = if as_text { json!(graph.to_string()) } else { graph.clone() };
                let content = json!([{"type": "text", "text": text}]);
                Seen::Result(json!({ "content": content, "structuredContent": graph }))
            };
            let (observed, legal) =
                (outcome(vec![], vec![result(&["a"])]), outcome(vec![], vec![result(&["a", "b"])]));
            assert_eq!(shown(&observed, &legal), ["reads[0]/structuredContent/entities/1: missing | \"b\""]);
        }
    }
}
