//! Putting signs in place of what varies.

use std::collections::BTreeMap;

use interlock_model::{Outcome, Seen};
use serde_json::{Map, Value};

use super::{
    Leaf, Mask, Means, Place, has_no_order,
    learn::{child, place_of, text_of},
    shape::words,
    time::{self, DURATION, TIME},
};

/// Stands for a value that varies without meaning anything.
const ANY: &str = "‹varies›";

/// The ids of one run, in the order in which they are met.
#[derive(Default)]
struct Ids(BTreeMap<String, usize>);

impl Mask {
    /// The outcome without what varies.
    pub(crate) fn apply(&self, outcome: &Outcome) -> Outcome {
        let mut ids = Ids::default();
        let answers = outcome.answers.len();
        let mut index = 0;
        let mut seen = |seen: &Seen| {
            let place = vec![place_of(index, answers)];
            index += 1;
            match seen {
                Seen::Result(value) => Seen::Result(self.value(&place, value, &mut ids)),
                Seen::Error(value) => Seen::Error(self.value(&place, value, &mut ids)),
                Seen::Nothing => Seen::Nothing,
            }
        };
        Outcome {
            answers: outcome.answers.iter().map(&mut seen).collect(),
            reads: outcome.reads.iter().map(&mut seen).collect(),
        }
    }

    /// A value with every sign the same, to sort by.
    pub(super) fn blank(&self, place: &Place, value: &Value) -> Value {
        let mut ids = Ids::default();
        let text = self.value(place, value, &mut ids).to_string();
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('‹') {
            out.push_str(before);
            out.push('‹');
            rest = after.split_once('›').map_or("", |(_, rest)| rest);
        }
        out.push_str(rest);
        Value::String(out)
    }

    fn value(&self, place: &Place, value: &Value, ids: &mut Ids) -> Value {
        match value {
            Value::Array(items) => {
                let inside = child(place, "*");
                let mut items: Vec<&Value> = items.iter().collect();
                if self.unordered.contains(place) || has_no_order(place) {
                    items.sort_by_cached_key(|item| self.blank(&inside, item).to_string());
                }
                items.into_iter().map(|item| self.value(&inside, item, ids)).collect()
            }
            Value::Object(fields) => {
                if let Some(means) = self.keyed.get(place) {
                    return self.keyed(place, *means, fields, ids);
                }
                let compared = fields.iter().filter(|(name, _)| !self.left_out.contains(&child(place, name)));
                let masked = compared.map(|(name, field)| {
                    let inside = child(place, name);
                    let leaf = !field.is_object() && !field.is_array();
                    let masked = if leaf && field.is_number() && time::names_duration(name) {
                        DURATION.into()
                    } else {
                        self.value(&inside, field, ids)
                    };
                    (name.clone(), masked)
                });
                Value::Object(masked.collect())
            }
            leaf => self.leaf(place, leaf, ids),
        }
    }

    /// An object whose keys are ids: each becomes a sign, in an order that does not depend on them.
    fn keyed(&self, place: &Place, means: Means, fields: &Map<String, Value>, ids: &mut Ids) -> Value {
        let inside = child(place, "*");
        let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
        fields.sort_by_cached_key(|(_, field)| self.blank(&inside, field).to_string());
        let masked = fields.into_iter().map(|(name, field)| {
            let sign = ids.sign(means, name);
            Value::Array(vec![sign.into(), self.value(&inside, field, ids)])
        });
        Value::Array(masked.collect())
    }

    fn leaf(&self, place: &Place, leaf: &Value, ids: &mut Ids) -> Value {
        let rule = self.leaves.get(place);
        match (leaf, rule) {
            (_, Some(Leaf::All(Means::Nothing))) => ANY.into(),
            (Value::String(text), Some(Leaf::Words(varying))) => {
                let text = time::replace(text);
                let words = words(&text);
                let masked = words.iter().zip(varying.vary(&words)).map(|(word, means)| {
                    means.map_or_else(|| (*word).to_owned(), |means| ids.sign(means, word))
                });
                masked.collect::<String>().into()
            }
            (Value::String(text), rule) => {
                let replaced = time::replace(text);
                if replaced != *text {
                    // A time is no id, even where the rest of the text varies as well.
                    return if rule.is_some() { ANY.into() } else { replaced.into() };
                }
                if rule.is_some() { ids.sign(Means::Identity, text).into() } else { leaf.clone() }
            }
            (leaf, _) if time::is_moment(leaf) => TIME.into(),
            (leaf, Some(_)) => ids.sign(Means::Identity, &text_of(leaf)).into(),
            (leaf, None) => leaf.clone(),
        }
    }
}

impl Ids {
    fn sign(&mut self, means: Means, value: &str) -> String {
        if means == Means::Nothing {
            return ANY.to_owned();
        }
        let next = self.0.len() + 1;
        format!("‹id {}›", self.0.entry(value.to_owned()).or_insert(next))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn outcome(answer: Value, read: Value) -> Outcome {
        Outcome { answers: vec![Seen::Result(answer)], reads: vec![Seen::Result(read)] }
    }

    fn masked(repeats: &[Outcome]) -> Vec<String> {
        let mut mask = Mask::default();
        mask.learn(repeats).unwrap();
        let text = |outcome: &Outcome| {
            let outcome = mask.apply(outcome);
            let all = outcome.answers.into_iter().chain(outcome.reads);
            let texts =
                all.map(|seen| if let Seen::Result(value) = seen { value.to_string() } else { "-".into() });
            texts.collect::<Vec<_>>().join(" ")
        };
        repeats.iter().map(text).collect()
    }

    #[test]
    fn an_id_that_varies_is_the_same_id_wherever_it_stands() {
        let run = |id: &str, other: &str| {
            outcome(json!({ "id": id, "n": 1 }), json!([{ "id": other, "n": 0 }, { "id": id, "n": 1 }]))
        };
        let texts = masked(&[run("aaaa1", "zzzz9"), run("bbbb2", "yyyy8")]);
        expect![[r#"{"id":"‹id 1›","n":1} [{"id":"‹id 2›","n":0},{"id":"‹id 1›","n":1}]"#]]
            .assert_eq(&texts[0]);
        assert_eq!(texts[0], texts[1]);
    }

    #[test]
    fn only_the_words_of_a_text_that_vary_are_replaced() {
        let run = |id: &str, at: &str| outcome(json!(format!("Saved note {id} at {at}: 3 notes")), json!(3));
        let texts = masked(&[run("n-5f3a", "2026-01-01T10:00:00Z"), run("n-77b2", "2026-01-01T10:00:01Z")]);
        expect![[r#""Saved note ‹id 1› at ‹time›: 3 notes" 3"#]].assert_eq(&texts[0]);
        assert_eq!(texts[0], texts[1]);
    }

    #[test]
    fn a_random_id_in_a_text_may_look_like_none_before_it() {
        let run = |id: &str| outcome(json!(format!("Task added (id {id})")), json!(format!("[{id}] a")));
        let mut mask = Mask::default();
        mask.learn(&[run("k3x9a1b"), run("7pq2zzm"), run("e0e0e0e")]).unwrap();
        for id in ["hivbqqm", "1234567", "k3x9a1"] {
            assert_eq!(mask.apply(&run(id)), mask.apply(&run("k3x9a1b")), "{id}");
        }
    }

    #[test]
    fn a_short_value_and_the_long_one_after_it_are_alike() {
        let run = |pid: u32| {
            let keyed = json!({ pid.to_string(): { "n": 1 }, (pid + 5000).to_string(): { "n": 2 } });
            let text = format!("job {pid} of k3x9a1b{pid}");
            outcome(json!({ "pid": pid, "by": text }), json!([pid.to_string(), keyed]))
        };
        for learned in [[997, 998], [998, 1000], [1000, 998]] {
            let mut mask = Mask::default();
            mask.learn(&learned.map(run)).unwrap();
            for pid in [999, 1001, 12345] {
                assert_eq!(mask.apply(&run(pid)), mask.apply(&run(998)), "{pid} after {learned:?}");
            }
        }
    }

    #[test]
    fn lists_without_an_order_are_sorted_and_others_keep_theirs() {
        let one = outcome(json!(["b", "a"]), json!([1, 2]));
        let two = outcome(json!(["a", "b"]), json!([1, 2]));
        let texts = masked(&[one, two]);
        assert_eq!(texts[0], texts[1]);
        expect![[r#"["a","b"] [1,2]"#]].assert_eq(&texts[0]);
    }

    #[test]
    fn lists_in_files_have_no_order_whatever_the_repeats_say() {
        let run = |ids: [&str; 2]| {
            let items: Vec<Value> =
                ids.into_iter().map(|id| json!({ "id": format!("{id}-5f3a"), "text": id })).collect();
            outcome(json!("ok"), json!({ "structuredContent": { "scratch:": { "notes.json": items } } }))
        };
        let mut mask = Mask::default();
        mask.learn(&[run(["a", "b"]), run(["a", "b"])]).unwrap();
        assert_eq!(mask.apply(&run(["a", "b"])), mask.apply(&run(["b", "a"])));
        assert_ne!(mask.apply(&run(["a", "b"])), mask.apply(&run(["b", "b"])), "what is lost is lost");
        // Ids that vary do not decide what stands beside what.
        let random = |one: &str, two: &str| {
            let items = json!([{ "id": one, "text": "a" }, { "id": two, "text": "b" }]);
            outcome(json!("ok"), json!({ "structuredContent": { "scratch:": { "notes.json": items } } }))
        };
        mask.learn(&[random("zz-1111", "aa-1111"), random("cc-2222", "yy-2222")]).unwrap();
        let turned = json!([{ "id": "bb-3333", "text": "b" }, { "id": "xx-3333", "text": "a" }]);
        let turned =
            outcome(json!("ok"), json!({ "structuredContent": { "scratch:": { "notes.json": turned } } }));
        assert_eq!(mask.apply(&random("zz-1111", "aa-1111")), mask.apply(&turned));
    }

    #[test]
    fn objects_that_are_keyed_by_ids_compare_by_what_is_in_them() {
        let one = outcome(json!("key-1111"), json!({ "key-1111": { "n": 1 }, "key-2222": { "n": 2 } }));
        let two = outcome(json!("key-9999"), json!({ "key-3333": { "n": 2 }, "key-9999": { "n": 1 } }));
        let texts = masked(&[one, two]);
        assert_eq!(texts[0], texts[1]);
        expect![[r#""‹id 1›" [["‹id 1›",{"n":1}],["‹id 2›",{"n":2}]]"#]].assert_eq(&texts[0]);
    }

    #[test]
    fn times_and_durations_are_replaced_even_where_repeats_agree() {
        let run = outcome(json!({ "at": 1_794_733_132, "tookMs": 0 }), json!({ "count": 3 }));
        let texts = masked(&[run.clone(), run]);
        expect![[r#"{"at":"‹time›","tookMs":"‹duration›"} {"count":3}"#]].assert_eq(&texts[0]);
    }

    #[test]
    fn what_is_missing_stays_missing() {
        let mut mask = Mask::default();
        let both = outcome(json!("ok"), json!([{ "id": "aaaa1" }, { "id": "bbbb2" }]));
        let again = outcome(json!("ok"), json!([{ "id": "cccc3" }, { "id": "dddd4" }]));
        mask.learn(&[both.clone(), again]).unwrap();
        let lost = outcome(json!("ok"), json!([{ "id": "eeee5" }]));
        assert_ne!(mask.apply(&both), mask.apply(&lost));
    }
}
