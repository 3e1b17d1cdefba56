//! Finding out what varies, from repeats of the same thing.

use std::{borrow::Cow, collections::BTreeSet};

use interlock_model::{Outcome, Seen};
use serde_json::{Map, Value};

use super::{Leaf, Mask, Means, Place, Words, shape::words};

impl Mask {
    /// What varies between outcomes that should be the same. `None` if they are not even alike: another number of answers, an
    /// answer here and an error there.
    pub(crate) fn learn(&mut self, repeats: &[Outcome]) -> Option<()> {
        let (first, others) = repeats.split_first()?;
        for other in others {
            let all = |outcome: &Outcome| [outcome.answers.clone(), outcome.reads.clone()].concat();
            for (index, (one, two)) in all(first).iter().zip(&all(other)).enumerate() {
                let place = vec![place_of(index, first.answers.len())];
                match (one, two) {
                    (Seen::Result(one), Seen::Result(two)) | (Seen::Error(one), Seen::Error(two)) => {
                        self.compare(&place, one, two);
                    }
                    (Seen::Nothing, Seen::Nothing) => {}
                    _ => return None,
                }
            }
        }
        Some(())
    }

    fn compare(&mut self, place: &Place, one: &Value, two: &Value) {
        match (one, two) {
            (Value::Array(one), Value::Array(two)) => {
                if one != two && self.same_without_order(place, one, two) {
                    self.unordered.insert(place.clone());
                }
                let inside = child(place, "*");
                if self.unordered.contains(place) {
                    return;
                }
                for (one, two) in one.iter().zip(two) {
                    self.compare(&inside, one, two);
                }
            }
            (Value::Object(one), Value::Object(two)) => {
                let keys = |object: &Map<String, Value>| object.keys().cloned().collect::<BTreeSet<_>>();
                let (first, second) = (keys(one), keys(two));
                // As many here as there, and some of them others: they are ids.
                if first != second && first.len() == second.len() {
                    let means = Means::of(first.symmetric_difference(&second).map(String::as_str));
                    let known = self.keyed.entry(place.clone()).or_insert(means);
                    *known = means.max(*known);
                    let inside = child(place, "*");
                    // Paired by what is in them, because the ids say nothing of which is which.
                    let only = |object: &Map<String, Value>, other: &BTreeSet<String>| {
                        let mut values: Vec<Value> = object
                            .iter()
                            .filter(|(key, _)| !other.contains(*key))
                            .map(|(_, value)| value.clone())
                            .collect();
                        values.sort_by_cached_key(|value| self.blank(&inside, value).to_string());
                        values
                    };
                    let (one, two) = (only(one, &second), only(two, &first));
                    for (one, two) in one.iter().zip(&two) {
                        self.compare(&inside, one, two);
                    }
                }
                for (name, one) in one {
                    if let Some(two) = two.get(name) {
                        self.compare(&child(place, name), one, two);
                    }
                }
            }
            (one, two) if one == two => {}
            (Value::String(one), Value::String(two)) => self.compare_texts(place, one, two),
            (one, two) => {
                let means = Means::of([text_of(one).as_ref(), text_of(two).as_ref()]);
                self.vary(place, Leaf::All(means));
            }
        }
    }

    fn compare_texts(&mut self, place: &Place, one: &str, two: &str) {
        let (one, two) = (super::time::replace(one), super::time::replace(two));
        if one == two {
            return;
        }
        let (first, second) = (words(&one), words(&two));
        if first.len() < 2 || first.len() != second.len() {
            return self.vary(place, Leaf::All(Means::of([one.as_ref(), two.as_ref()])));
        }
        self.vary(place, Leaf::Words(Words::between(&first, &second)));
    }

    /// What was learned before is kept: the stronger wins.
    fn vary(&mut self, place: &Place, leaf: Leaf) {
        let known = self.leaves.entry(place.clone()).or_insert_with(|| leaf.clone());
        *known = match (known.clone(), leaf) {
            (Leaf::Words(mut one), Leaf::Words(two)) => {
                one.extend(two);
                Leaf::Words(one)
            }
            (one, two) => one.max(two),
        };
    }

    /// Gives up on identity: what varies means nothing.
    pub(crate) fn coarsen(&mut self) {
        for leaf in self.leaves.values_mut() {
            if let Leaf::All(means) = leaf {
                *means = Means::Nothing;
            }
        }
    }

    fn same_without_order(&self, place: &Place, one: &[Value], two: &[Value]) -> bool {
        let sorted = |items: &[Value]| {
            let mut texts: Vec<String> =
                items.iter().map(|item| self.blank(&child(place, "*"), item).to_string()).collect();
            texts.sort();
            texts
        };
        let in_order = |items: &[Value]| -> Vec<String> {
            items.iter().map(|item| self.blank(&child(place, "*"), item).to_string()).collect()
        };
        one.len() > 1
            && one.len() == two.len()
            && in_order(one) != in_order(two)
            && sorted(one) == sorted(two)
    }
}

/// A leaf as it is written: of a text, what it says.
pub(super) fn text_of(leaf: &Value) -> Cow<'_, str> {
    leaf.as_str().map_or_else(|| leaf.to_string().into(), Cow::Borrowed)
}

/// The name of the place where an answer or a read stands.
pub(crate) fn place_of(index: usize, answers: usize) -> String {
    if index < answers { format!("answer {index}") } else { format!("read {}", index - answers) }
}

pub(super) fn child(place: &Place, name: &str) -> Place {
    let mut place = place.clone();
    place.push(name.to_owned());
    place
}
