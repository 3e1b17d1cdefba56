//! Ids that a server counts up: a call that was refused, or tried again inside, has used one up, and those behind it are higher than in any
//! order. Nobody is harmed by a number that is left out, so outcomes that differ in nothing else are the same.

use std::collections::BTreeMap;

use interlock_hazards::words;
use interlock_model::{Outcome, Seen};
use serde_json::{Map, Value};

/// Last words of the names of fields that hold such an id.
const FIELDS: &[&str] = &[
    "id", "ids", "seq", "sequence", "rowid", "oid", "pk", "number", "nr", "ticket", "invoice", "version",
    "revision", "rev",
];
/// Words in front of such an id in a text.
const BEFORE: &[&str] = &["id", "seq", "sequence", "rowid", "number", "nr"];
/// Answers are as deep as servers make them; they were cut at this depth when they came in.
const DEEPEST: usize = 128;

/// Whether an outcome is a legal one whose ids have gaps: all else is equal, the same id is the same in both wherever it stands, and the
/// ids are in the same order and none is lower.
pub(super) fn same_but_for_gaps(legal: &Outcome, observed: &Outcome) -> bool {
    let mut ids = Ids::default();
    let pairs = |one: &[Seen], two: &[Seen], ids: &mut Ids| {
        one.len() == two.len() && one.iter().zip(two).all(|(one, two)| ids.seen(one, two))
    };
    pairs(&legal.answers, &observed.answers, &mut ids)
        && pairs(&legal.reads, &observed.reads, &mut ids)
        && ids.only_skip()
}

/// For each id of the legal outcome, what it is in the observed one.
#[derive(Default)]
struct Ids(BTreeMap<u64, u64>);

impl Ids {
    fn seen(&mut self, one: &Seen, two: &Seen) -> bool {
        match (one, two) {
            (Seen::Result(one), Seen::Result(two)) | (Seen::Error(one), Seen::Error(two)) => {
                self.value("", one, two, 0)
            }
            (one, two) => one == two,
        }
    }

    fn value(&mut self, name: &str, one: &Value, two: &Value, depth: usize) -> bool {
        if depth > DEEPEST {
            return one == two;
        }
        match (one, two) {
            (Value::Array(one), Value::Array(two)) => {
                one.len() == two.len()
                    && one.iter().zip(two).all(|(one, two)| self.value(name, one, two, depth + 1))
            }
            (Value::Object(one), Value::Object(two)) => self.fields(one, two, depth),
            (Value::Number(first), Value::Number(second)) if holds_id(name) => {
                match (first.as_u64(), second.as_u64()) {
                    (Some(first), Some(second)) => self.note(first, second),
                    _ => one == two,
                }
            }
            (Value::String(one), Value::String(two)) => self.text(holds_id(name), one, two),
            (one, two) => one == two,
        }
    }

    fn fields(&mut self, one: &Map<String, Value>, two: &Map<String, Value>, depth: usize) -> bool {
        if one.len() != two.len() {
            return false;
        }
        if one.keys().all(|name| two.contains_key(name)) {
            return one
                .iter()
                .all(|(name, one)| two.get(name).is_some_and(|two| self.value(name, one, two, depth + 1)));
        }
        // Things that are kept under their ids.
        let numbered = |fields: &Map<String, Value>| -> Option<BTreeMap<u64, Value>> {
            fields.iter().map(|(name, field)| Some((name.parse().ok()?, field.clone()))).collect()
        };
        let (Some(one), Some(two)) = (numbered(one), numbered(two)) else { return false };
        one.len() == two.len()
            && one.iter().zip(&two).all(|((first, one), (second, two))| {
                self.note(*first, *second) && self.value("", one, two, depth + 1)
            })
    }

    /// Texts with the same words, and numbers that may differ only where they are ids.
    fn text(&mut self, whole: bool, one: &str, two: &str) -> bool {
        let (one, two) = (runs(one), runs(two));
        if one.len() != two.len() {
            return false;
        }
        let only = one.len() == 1;
        let mut before = "";
        for (first, second) in one.into_iter().zip(two) {
            let is_id = (whole && only) || announces_id(before);
            let equal = match (number(first), number(second)) {
                (Some(first), Some(second)) if is_id => self.note(first, second),
                _ => first == second,
            };
            if !equal {
                return false;
            }
            before = first;
        }
        true
    }

    /// An id is the same one wherever it stands.
    fn note(&mut self, legal: u64, observed: u64) -> bool {
        *self.0.entry(legal).or_insert(observed) == observed
    }

    fn only_skip(&self) -> bool {
        let mut last = None;
        self.0.iter().all(|(legal, observed)| {
            let higher = last.is_none_or(|last| *observed > last);
            last = Some(*observed);
            higher && observed >= legal
        })
    }
}

fn holds_id(name: &str) -> bool {
    words(name).last().is_some_and(|word| FIELDS.contains(&word.as_str()))
}

/// Whether a number behind this is an id: `note #`, `id: `, `T-`.
pub(super) fn announces_id(before: &str) -> bool {
    if before.ends_with('#') {
        return true;
    }
    if let Some(joined) = before.strip_suffix(['-', '_']) {
        return joined.ends_with(char::is_alphabetic);
    }
    let word = before.trim_end_matches([' ', ':', '=', '"', '(', '[']);
    words(word).last().is_some_and(|word| BEFORE.contains(&word.as_str()))
}

/// A text as runs of digits and of everything else, in turn.
pub(super) fn runs(text: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let digits = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        runs.push(run);
        rest = after;
    }
    runs
}

pub(super) fn number(run: &str) -> Option<u64> {
    run.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(answers: &[Value], read: Value) -> Outcome {
        let answers = answers.iter().cloned().map(Seen::Result).collect();
        Outcome { answers, reads: vec![Seen::Result(read)] }
    }

    #[test]
    fn a_number_that_was_left_out_makes_no_difference() {
        let run = |one: u64, two: u64| {
            outcome(
                &[json!({"id": one}), json!(format!("made note #{two} of 2"))],
                json!([{"noteId": one, "text": "a"}, {"noteId": two, "text": "b"}]),
            )
        };
        assert!(same_but_for_gaps(&run(1, 2), &run(1, 3)));
        assert!(same_but_for_gaps(&run(1, 2), &run(2, 3)));
        assert!(!same_but_for_gaps(&run(1, 2), &run(1, 1)), "one id for two things");
        assert!(!same_but_for_gaps(&run(1, 2), &run(3, 2)), "another order");
        assert!(!same_but_for_gaps(&run(2, 3), &run(1, 3)), "lower than it ever is");
    }

    #[test]
    fn an_id_is_the_same_one_wherever_it_stands() {
        let run = |told: u64, kept: u64| outcome(&[json!({"id": told})], json!({ kept.to_string(): "a" }));
        assert!(same_but_for_gaps(&run(1, 1), &run(2, 2)));
        assert!(!same_but_for_gaps(&run(1, 1), &run(2, 3)));
    }

    #[test]
    fn amounts_counts_and_texts_have_to_be_equal() {
        for (one, two) in [
            (json!({"balance": 10}), json!({"balance": 20})),
            (json!({"count": 1}), json!({"count": 2})),
            (json!("1"), json!("2")),
            (json!("3 notes"), json!("4 notes")),
            (json!([1]), json!([1, 2])),
            (json!({"id": 1}), json!({"id": 2, "more": 1})),
            (json!({"id": "a1"}), json!({"id": "b1"})),
        ] {
            assert!(
                !same_but_for_gaps(&outcome(&[], one.clone()), &outcome(&[], two.clone())),
                "{one} {two}"
            );
        }
    }
}
