//! Two values beside each other: where they are the same, and where one has what the other lacks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::value;

/// Values deeper than this are compared as a whole.
const DEEP: usize = 60;

/// Lists are aligned exactly with at most so many comparisons; longer ones by what occurs only once.
const COMPARISONS: usize = 40_000;

/// An observed value beside a legal one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Delta {
    /// Both have it.
    Same(Value),
    /// Both have something else.
    Changed { observed: Value, legal: Value },
    /// Only the legal one has it.
    Missing(Value),
    /// Only the observed one has it.
    Extra(Value),
    /// Objects, by key.
    Object(Vec<(String, Delta)>),
    /// Lists, aligned. The place is the one in the observed list, or in the legal one for what is missing.
    List(Vec<(usize, Delta)>),
    /// Texts that hold JSON.
    Text(Box<Delta>),
    /// Texts of several lines, aligned; places count from 0.
    Lines(Vec<(usize, Delta)>),
}

impl Delta {
    pub(super) fn is_same(&self) -> bool {
        matches!(self, Self::Same(_))
    }
}

/// Compares two values.
pub(super) fn between(observed: &Value, legal: &Value) -> Delta {
    compare(observed, legal, DEEP)
}

fn compare(observed: &Value, legal: &Value, deep: usize) -> Delta {
    if observed == legal {
        return Delta::Same(observed.clone());
    }
    let changed = || Delta::Changed { observed: observed.clone(), legal: legal.clone() };
    let Some(deep) = deep.checked_sub(1) else { return changed() };
    match (observed, legal) {
        (Value::Object(observed), Value::Object(legal)) => Delta::Object(objects(observed, legal, deep)),
        (Value::Array(observed), Value::Array(legal)) => Delta::List(lists(observed, legal, deep)),
        (Value::String(one), Value::String(other)) => texts(one, other, deep).unwrap_or_else(changed),
        _ => changed(),
    }
}

fn objects(observed: &Map<String, Value>, legal: &Map<String, Value>, deep: usize) -> Vec<(String, Delta)> {
    let keys: BTreeSet<&String> = observed.keys().chain(legal.keys()).collect();
    keys.into_iter()
        .filter_map(|key| {
            let delta = match (observed.get(key), legal.get(key)) {
                (Some(observed), Some(legal)) => compare(observed, legal, deep),
                (Some(observed), None) => Delta::Extra(observed.clone()),
                (None, Some(legal)) => Delta::Missing(legal.clone()),
                (None, None) => return None,
            };
            Some((key.clone(), delta))
        })
        .collect()
}

/// Texts that hold JSON, or have lines.
fn texts(observed: &str, legal: &str, deep: usize) -> Option<Delta> {
    if let (Some(observed), Some(legal)) = (value::inside(observed), value::inside(legal)) {
        // The same value in another spelling is a difference of the text.
        return (observed != legal).then(|| Delta::Text(Box::new(compare(&observed, &legal, deep))));
    }
    let lines = |text: &str| text.split('\n').map(|line| Value::String(line.to_owned())).collect::<Vec<_>>();
    let (observed, legal) = (lines(observed), lines(legal));
    (observed.len() > 1 || legal.len() > 1).then(|| Delta::Lines(lists(&observed, &legal, 0)))
}

fn lists(observed: &[Value], legal: &[Value], deep: usize) -> Vec<(usize, Delta)> {
    let mut out = Vec::new();
    let mut done = (0, 0);
    let ends = [(observed.len(), legal.len())];
    for (one, other) in aligned(observed, legal).into_iter().chain(ends) {
        let gap = (observed.get(done.0..one).unwrap_or(&[]), legal.get(done.1..other).unwrap_or(&[]));
        out.extend(unlike(gap.0, gap.1, done, deep));
        if let Some(same) = observed.get(one) {
            out.push((one, Delta::Same(same.clone())));
        }
        done = (one + 1, other + 1);
    }
    out
}

/// The places of equal items in a longest common subsequence.
fn aligned(observed: &[Value], legal: &[Value]) -> Vec<(usize, usize)> {
    let front = observed.iter().zip(legal).take_while(|(one, other)| one == other).count();
    let (one, other) = (observed.get(front..).unwrap_or(&[]), legal.get(front..).unwrap_or(&[]));
    let back = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let middle = (one.len() - back, other.len() - back);
    let mut places: Vec<(usize, usize)> = (0..front).map(|place| (place, place)).collect();
    let (one, other) = (one.get(..middle.0).unwrap_or(&[]), other.get(..middle.1).unwrap_or(&[]));
    if one.len().saturating_mul(other.len()) <= COMPARISONS {
        places.extend(common(one, other).into_iter().map(|(a, b)| (a + front, b + front)));
    } else {
        places.extend(anchors(one, other).into_iter().map(|(a, b)| (a + front, b + front)));
    }
    places.extend((0..back).map(|step| (front + middle.0 + step, front + middle.1 + step)));
    places
}

/// A longest common subsequence by the table of the lengths of what remains.
fn common(one: &[Value], other: &[Value]) -> Vec<(usize, usize)> {
    let width = other.len() + 1;
    let mut lengths = vec![0_u32; (one.len() + 1) * width];
    let at = |lengths: &[u32], a: usize, b: usize| lengths.get(a * width + b).copied().unwrap_or(0);
    let equal: Vec<bool> = one.iter().flat_map(|left| other.iter().map(move |right| left == right)).collect();
    let same = |a: usize, b: usize| equal.get(a * other.len() + b).copied().unwrap_or(false);
    for a in (0..one.len()).rev() {
        for b in (0..other.len()).rev() {
            let best = if same(a, b) {
                at(&lengths, a + 1, b + 1) + 1
            } else {
                at(&lengths, a + 1, b).max(at(&lengths, a, b + 1))
            };
            if let Some(slot) = lengths.get_mut(a * width + b) {
                *slot = best;
            }
        }
    }
    let (mut a, mut b, mut places) = (0, 0, Vec::new());
    while a < one.len() && b < other.len() {
        if same(a, b) {
            places.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if at(&lengths, a + 1, b) >= at(&lengths, a, b + 1) {
            a += 1;
        } else {
            b += 1;
        }
    }
    places
}

/// The places of items that occur once on each side, as many as keep their order: a longest rising run of their places.
fn anchors(one: &[Value], other: &[Value]) -> Vec<(usize, usize)> {
    let texts = |list: &[Value]| list.iter().map(value::compact).collect::<Vec<_>>();
    let (left, right) = (texts(one), texts(other));
    let (here, there) = (once(&left), once(&right));
    let mut pairs: Vec<(usize, usize)> =
        here.iter().filter_map(|(text, place)| Some((*place, *there.get(text)?))).collect();
    pairs.sort_unstable();
    // For each length, the pair that ends the run of that length earliest, and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let place = |index: usize| pairs.get(index).map_or(0, |(_, there)| *there);
    for index in 0..pairs.len() {
        let length = ends.partition_point(|end| place(*end) < place(index));
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut run: Vec<(usize, usize)> = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        run.extend(pairs.get(index));
        next = before.get(index).copied().flatten();
    }
    run.reverse();
    run
}

/// The places of texts that occur once.
fn once(texts: &[String]) -> BTreeMap<&str, usize> {
    let mut places: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for (place, text) in texts.iter().enumerate() {
        places.entry(text).and_modify(|known| *known = None).or_insert(Some(place));
    }
    places.into_iter().filter_map(|(text, place)| Some((text, place?))).collect()
}

/// A stretch in which nothing is equal: items that resemble each other are compared, the others are there or not.
fn unlike(
    observed: &[Value],
    legal: &[Value],
    (first, other_first): (usize, usize),
    deep: usize,
) -> Vec<(usize, Delta)> {
    let mut out = Vec::new();
    let mut rest = (other_first..).zip(legal).peekable();
    for (place, item) in (first..).zip(observed) {
        let paired = if observed.len() == legal.len() {
            rest.next()
        } else {
            let ahead = rest.clone().position(|(_, other)| resemble(item, other));
            ahead.and_then(|skipped| {
                out.extend(
                    rest.by_ref()
                        .take(skipped)
                        .map(|(place, missing)| (place, Delta::Missing(missing.clone()))),
                );
                rest.next()
            })
        };
        out.push(match paired {
            Some((_, other)) => (place, compare(item, other, deep)),
            None => (place, Delta::Extra(item.clone())),
        });
    }
    out.extend(rest.map(|(place, missing)| (place, Delta::Missing(missing.clone()))));
    out
}

/// Whether two objects agree in at least half of what the fuller one has.
fn resemble(one: &Value, other: &Value) -> bool {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return false };
    let agree = one.iter().filter(|(key, value)| other.get(*key) == Some(value)).count();
    agree > 0 && agree * 2 >= one.len().max(other.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_that_is_gone_does_not_make_its_neighbours_differ() {
        let delta = between(&json!(["b", "c"]), &json!(["a", "b", "c"]));
        let Delta::List(items) = delta else { panic!("{delta:?}") };
        assert_eq!(
            items,
            [(0, Delta::Missing(json!("a"))), (0, Delta::Same(json!("b"))), (1, Delta::Same(json!("c")))]
        );
    }

    #[test]
    fn objects_that_resemble_each_other_are_compared_and_the_others_are_there_or_not() {
        let account = |id: u64, balance: i64| json!({"id": id, "currency": "EUR", "balance": balance});
        let delta = between(&json!([account(2, -5)]), &json!([json!({"x": 1}), account(2, 5)]));
        let Delta::List(items) = delta else { panic!("{delta:?}") };
        let [(0, Delta::Missing(missing)), (0, Delta::Object(changed))] = items.as_slice() else {
            panic!("{items:?}")
        };
        assert_eq!(missing, &json!({"x": 1}));
        assert_eq!(changed.iter().filter(|(_, delta)| !delta.is_same()).count(), 1);
    }

    #[test]
    fn json_inside_a_text_is_compared_as_json_and_other_text_line_by_line() {
        let delta = between(&json!("{\"a\":1,\"b\":2}"), &json!("{\"b\": 3, \"a\": 1}"));
        let Delta::Text(inner) = delta else { panic!("{delta:?}") };
        assert_eq!(
            *inner,
            Delta::Object(vec![
                ("a".into(), Delta::Same(json!(1))),
                ("b".into(), Delta::Changed { observed: json!(2), legal: json!(3) }),
            ])
        );
        let delta = between(&json!("one\ntwo\n"), &json!("one\nTWO\n"));
        let Delta::Lines(lines) = delta else { panic!("{delta:?}") };
        assert_eq!(lines[1], (1, Delta::Changed { observed: json!("two"), legal: json!("TWO") }));
    }

    #[test]
    fn long_lists_are_aligned_by_what_occurs_once() {
        let list = |numbers: Vec<u64>| -> Vec<Value> { numbers.into_iter().map(Value::from).collect() };
        let legal = list((0..3_000).collect());
        let observed = list((0..3_000).filter(|number| ![0, 1_500, 2_999].contains(number)).collect());
        let gone: Vec<Value> = lists(&observed, &legal, 3)
            .into_iter()
            .filter_map(|(_, delta)| match delta {
                Delta::Same(_) => None,
                Delta::Missing(item) => Some(item),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(gone, list(vec![0, 1_500, 2_999]));
        // What has changed places keeps its order in one of the two.
        let turned = list((0..3_000).map(|number| (number + 1_000) % 3_000).collect());
        let same = lists(&turned, &legal, 3).iter().filter(|(_, delta)| delta.is_same()).count();
        assert_eq!(same, 2_000);
    }

    #[test]
    fn long_and_deep_values_end() {
        let long = |shift: usize| Value::Array((0..5_000).map(|item| json!(item + shift)).collect());
        assert!(!between(&long(0), &long(7)).is_same());
        let mut deep = (json!(1), json!(2));
        for _ in 0..100 {
            deep = (json!([deep.0]), json!([deep.1]));
        }
        assert!(!between(&deep.0, &deep.1).is_same());
    }

    #[test]
    fn every_item_of_both_lists_is_accounted_for() {
        // All lists of up to four items over three letters, against each other.
        let mut all = vec![vec![]];
        for length in 0..4 {
            let longest: Vec<Vec<Value>> = all.iter().filter(|list| list.len() == length).cloned().collect();
            for list in longest {
                for item in ["a", "b", "c"] {
                    all.push(list.iter().cloned().chain([json!(item)]).collect());
                }
            }
        }
        for observed in &all {
            for legal in &all {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for (_, delta) in lists(observed, legal, 3) {
                    match delta {
                        Delta::Same(both) => {
                            left.push(both.clone());
                            right.push(both);
                        }
                        Delta::Changed { observed, legal } => {
                            left.push(observed);
                            right.push(legal);
                        }
                        Delta::Extra(item) => left.push(item),
                        Delta::Missing(item) => right.push(item),
                        other => panic!("{other:?}"),
                    }
                }
                assert_eq!((&left, &right), (observed, legal));
            }
        }
    }
}
