//! Two outcomes side by side: the numbers at some places paired, all else equal.

use std::collections::BTreeMap;

use interlock_model::{Outcome, Seen};
use serde_json::{Map, Value};

use super::{field, tells_of, things};
use crate::{
    files::FILES,
    judge::gaps::{announces_id, number, runs},
};

/// Between the parts of a place; no field is called so.
pub(super) const BETWEEN: char = '\u{1f}';
/// The last part of a place in a text.
pub(super) const IN_TEXT: &str = "\u{1f}…";
/// The part of a place that stands for the names of things that are kept under numbers.
pub(super) const KEY: &str = "‹key›";
/// The place of signs that stand for random ids: they are counted in the order in which they are met.
pub(super) const SIGN: &str = "‹sign›";
/// Answers are as deep as servers make them.
const DEEPEST: usize = 128;
/// More numbers than these are not looked at: 40 tables of 500 rows with an id each.
pub(super) const MOST_NUMBERS: usize = 20_000;

/// What stands at one place in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) place: String,
    pub(super) one: u64,
    pub(super) two: u64,
}

/// The numbers at places that may differ, or `None` where anything else does or where there are too many of them. All answers are one place: which
/// call was told a number is no part of what the number is.
pub(super) fn pairs(one: &Outcome, two: &Outcome, may_differ: &dyn Fn(&str) -> bool) -> Option<Vec<Pair>> {
    let mut beside = Beside { may_differ, pairs: Vec::new(), known: [Known::default(), Known::default()] };
    beside.known = [beside.known(one), beside.known(two)];
    let answers = one.answers.iter().zip(&two.answers).all(|(one, two)| beside.seen("answer", one, two));
    let mut reads = one.reads.iter().zip(&two.reads).enumerate();
    let same = answers
        && one.answers.len() == two.answers.len()
        && one.reads.len() == two.reads.len()
        && reads.all(|(at, (one, two))| beside.seen(&format!("read {at}"), one, two));
    same.then_some(beside.pairs)
}

struct Beside<'m> {
    may_differ: &'m dyn Fn(&str) -> bool,
    pairs: Vec<Pair>,
    /// Of each outcome, what its numbers name.
    known: [Known; 2],
}

/// For the things of one name, wherever they are read, what each number among them says besides numbers: rows of files that tell of others are told
/// apart by those.
type Known = BTreeMap<(String, u64), String>;

impl Beside<'_> {
    fn seen(&mut self, place: &str, one: &Seen, two: &Seen) -> bool {
        match (one, two) {
            (Seen::Result(one), Seen::Result(two)) | (Seen::Error(one), Seen::Error(two)) => {
                self.value(place, one, two, 0)
            }
            (one, two) => one == two,
        }
    }

    fn value(&mut self, place: &str, one: &Value, two: &Value, depth: usize) -> bool {
        if depth > DEEPEST {
            return one == two;
        }
        match (one, two) {
            (Value::Array(one), Value::Array(two)) => {
                let inside = child(place, "*");
                let [first, second] = &self.known;
                let (one, two) = (self.in_order(&inside, one, first), self.in_order(&inside, two, second));
                one.len() == two.len()
                    && one.iter().zip(two).all(|(one, two)| self.value(&inside, one, two, depth + 1))
            }
            (Value::Object(one), Value::Object(two)) => self.fields(place, one, two, depth),
            (Value::Number(first), Value::Number(second)) => match (first.as_u64(), second.as_u64()) {
                (Some(first), Some(second)) if (self.may_differ)(place) => self.note(place, first, second),
                _ => one == two,
            },
            (Value::String(one), Value::String(two)) => {
                let (one, two) = (self.text(place, one), self.text(place, two));
                let same = one.frame == two.frame && one.numbers.len() == two.numbers.len();
                same && one
                    .numbers
                    .into_iter()
                    .zip(two.numbers)
                    .all(|((place, one), (other, two))| place == other && self.note(&place, one, two))
            }
            (one, two) => one == two,
        }
    }

    fn fields(
        &mut self,
        place: &str,
        one: &Map<String, Value>,
        two: &Map<String, Value>,
        depth: usize,
    ) -> bool {
        if one.len() != two.len() {
            return false;
        }
        let inside = child(place, KEY);
        if (self.may_differ)(&inside)
            && let (Some(first), Some(second)) = (kept_under_numbers(one), kept_under_numbers(two))
        {
            let [of_first, of_second] = &self.known;
            let (first, second) =
                (self.things(place, first, of_first), self.things(place, second, of_second));
            return first.into_iter().zip(second).all(|((first, one), (second, two))| {
                self.note(&inside, first, second) && self.value(&child(place, "*"), one, two, depth + 1)
            });
        }
        one.iter().all(|(name, one)| {
            two.get(name).is_some_and(|two| self.value(&child(place, name), one, two, depth + 1))
        })
    }

    /// Whether there was room for one more pair.
    fn note(&mut self, place: &str, one: u64, two: u64) -> bool {
        self.pairs.push(Pair { place: place.to_owned(), one, two });
        self.pairs.len() <= MOST_NUMBERS
    }

    /// The elements of a list. In files they have no order: they are sorted by all that may not differ, and then by the numbers.
    fn in_order<'v>(&self, inside: &str, items: &'v [Value], known: &Known) -> Vec<&'v Value> {
        let mut items: Vec<&Value> = items.iter().collect();
        if has_no_order(inside) {
            items.sort_by_cached_key(|item| self.key(inside, item, known));
        }
        items
    }

    /// Things that are kept under numbers, by what they are.
    fn things<'v>(
        &self,
        place: &str,
        mut things: Vec<(u64, &'v Value)>,
        known: &Known,
    ) -> Vec<(u64, &'v Value)> {
        let inside = child(place, "*");
        things.sort_by_cached_key(|(number, thing)| (self.key(&inside, thing, known), *number));
        things
    }

    fn key(&self, place: &str, value: &Value, known: &Known) -> Key {
        self.key_at(place, value, 0, known)
    }

    fn key_at(&self, place: &str, value: &Value, depth: usize, known: &Known) -> Key {
        let mut key = Key::default();
        self.say(place, value, depth, known, &mut key);
        key
    }

    /// Says a value without the numbers in it that may differ. What stands in a list without an order is said once, and its key is sorted and used up:
    /// saying it again after it was sorted would double the work with every list inside of a list.
    fn say(&self, place: &str, value: &Value, depth: usize, known: &Known, key: &mut Key) {
        match value {
            _ if depth > DEEPEST => key.said.push_str(&value.to_string()),
            Value::Array(items) => {
                let inside = child(place, "*");
                key.said.push('[');
                let mut items: Vec<Key> =
                    items.iter().map(|item| self.key_at(&inside, item, depth + 1, known)).collect();
                if has_no_order(&inside) {
                    items.sort_unstable();
                }
                items.into_iter().for_each(|item| key.go_on(item));
                key.said.push(']');
            }
            Value::Object(fields) => {
                let is_kept = (self.may_differ)(&child(place, KEY));
                key.said.push('{');
                if let Some(things) = kept_under_numbers(fields).filter(|_| is_kept) {
                    let inside = child(place, "*");
                    let keys = things
                        .into_iter()
                        .map(|(number, thing)| (self.key_at(&inside, thing, depth + 1, known), number));
                    let mut keys: Vec<(Key, u64)> = keys.collect();
                    keys.sort_unstable();
                    for (thing, number) in keys {
                        key.numbers.push(number);
                        key.go_on(thing);
                    }
                } else {
                    let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
                    fields.sort_by_key(|(name, _)| *name);
                    for (name, field) in fields {
                        key.said.push_str(name);
                        key.said.push(':');
                        self.say(&child(place, name), field, depth + 1, known, key);
                        key.said.push(',');
                    }
                }
                key.said.push('}');
            }
            Value::Number(number) => match number.as_u64().filter(|_| (self.may_differ)(place)) {
                Some(number) => {
                    key.said.push('#');
                    key.numbers.push(number);
                    let thing = tells_of(field(place)).and_then(|thing| known.get(&(thing, number)));
                    key.of.extend(thing.cloned());
                }
                None => key.said.push_str(&number.to_string()),
            },
            Value::String(text) => {
                let text = self.text(place, text);
                key.said.push_str(&text.frame);
                key.numbers.extend(text.numbers.into_iter().map(|(_, number)| number));
            }
            other => key.said.push_str(&other.to_string()),
        }
    }

    /// What the numbers of things in files name.
    fn known(&self, outcome: &Outcome) -> Known {
        let mut known = Known::new();
        for (at, seen) in outcome.reads.iter().enumerate() {
            if let Seen::Result(value) = seen {
                self.know(&format!("read {at}"), value, 0, &mut known);
            }
        }
        known
    }

    fn know(&self, place: &str, value: &Value, depth: usize, known: &mut Known) {
        match value {
            _ if depth > DEEPEST => {}
            Value::Array(items) => {
                let inside = child(place, "*");
                for item in items {
                    self.know(&inside, item, depth + 1, known);
                    let own = item.get("id").and_then(Value::as_u64);
                    if let Some(own) = own {
                        let said = self.key(&inside, item, &Known::new()).said;
                        known.insert((things(&child(&inside, "id")), own), said);
                    }
                }
            }
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(name, field)| self.know(&child(place, name), field, depth + 1, known));
            }
            _ => {}
        }
    }

    /// A text without the signs and numbers in it that may differ.
    fn text(&self, place: &str, text: &str) -> Text {
        let in_text = format!("{place}{IN_TEXT}");
        let (names, only) = ((self.may_differ)(place), !text.contains(|c: char| !c.is_ascii_digit()));
        let may_differ = (self.may_differ)(&in_text);
        let mut found = Text { frame: String::new(), numbers: Vec::new() };
        let mut before = "";
        for run in runs(text) {
            let place = if before.ends_with("‹id ") {
                (self.may_differ)(SIGN).then(|| SIGN.to_owned())
            } else if only {
                names.then(|| place.to_owned())
            } else {
                (may_differ && announces_id(before)).then(|| in_text.clone())
            };
            match (number(run), place) {
                (Some(number), Some(place)) => {
                    found.frame.push('#');
                    found.numbers.push((place, number));
                }
                _ => found.frame.push_str(run),
            }
            before = run;
        }
        found
    }
}

/// By what things in a list without an order are sorted: what they say, what those say that they tell of, and then their numbers.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    said: String,
    of: Vec<String>,
    numbers: Vec<u64>,
}

impl Key {
    /// Goes on with what one element of a list says.
    fn go_on(&mut self, item: Self) {
        self.said.push_str(&item.said);
        self.said.push(',');
        self.of.extend(item.of);
        self.numbers.extend(item.numbers);
    }
}

struct Text {
    frame: String,
    numbers: Vec<(String, u64)>,
}

/// Whether the elements of a list stand in no order: the rows of files.
fn has_no_order(inside: &str) -> bool {
    inside.split(BETWEEN).any(|part| part == FILES)
}

fn child(place: &str, name: &str) -> String {
    format!("{place}{BETWEEN}{name}")
}

/// The things in an object whose names are all numbers.
fn kept_under_numbers(fields: &Map<String, Value>) -> Option<Vec<(u64, &Value)>> {
    if fields.is_empty() {
        return None;
    }
    fields.iter().map(|(name, field)| Some((name.parse().ok()?, field))).collect()
}
