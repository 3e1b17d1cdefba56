//! Numbers that a counter deals out, and that only name or order things: the id of a row, the version that a write was given, the place of an
//! entry in a log. Two calls that have nothing to do with each other take them in turn from one counter, and a call that takes several gets others
//! when another takes one in between. Nobody is harmed by that, as nobody would be if the ids were random. So an outcome that is a legal one but
//! for such numbers is that one, as long as the same number names the same thing wherever it stands, and two things never share one.
//!
//! Which numbers those are is learnt from the orders: they differ between orders that otherwise come to the same. Amounts are as good as never
//! among them, because calls that come to the same in every order leave the same amounts behind.

mod pair;

use std::collections::{BTreeMap, BTreeSet};

use interlock_hazards::words;
use interlock_model::Outcome;

use self::pair::{Pair, pairs};
use crate::{files::FILES, serial::Legal};

/// Last words of the names of fields that hold such a number.
const NAMES: &[&str] = &[
    "id", "ids", "seq", "sequence", "rowid", "oid", "pk", "ticket", "invoice", "version", "revision", "rev",
];
/// Words in the names of fields that say how much there is of something, whatever else the name says.
const AMOUNTS: &[&str] = &[
    "after",
    "amount",
    "available",
    "average",
    "balance",
    "before",
    "bytes",
    "cost",
    "count",
    "credit",
    "credits",
    "debit",
    "duration",
    "free",
    "hits",
    "left",
    "length",
    "level",
    "likes",
    "limit",
    "number",
    "percent",
    "points",
    "price",
    "progress",
    "qty",
    "quantity",
    "rank",
    "rate",
    "rating",
    "remaining",
    "reserved",
    "score",
    "size",
    "sold",
    "stock",
    "sum",
    "taken",
    "total",
    "used",
    "value",
    "views",
    "votes",
    "weight",
    "width",
];
/// From so many orders enough is learnt; four calls have 24.
const MOST_ORDERS: usize = 8;
/// Where numbers differ in more places than these, nothing is learnt: each place is compared with each other one.
const MOST_PLACES: usize = 64;

/// What was learnt of the numbers that a set's orders lead to. A place is written as one text, with a `*` for each element of a list.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Places whose numbers name something: between two outcomes, each has one counterpart and no other.
    named: BTreeSet<String>,
    /// Places in the server's files whose numbers change as those do, in columns that are called otherwise.
    like_them: BTreeSet<String>,
    /// Of those, the columns all of whose numbers another column of the same rows has: they point to it.
    among: BTreeMap<String, String>,
    /// Places outside of lists of things that tell the same number under the same name: it is the same thing in both.
    linked: BTreeSet<(String, String)>,
    /// For a place that tells the number of a thing, the lists in which, as far as the orders show, that thing may be: it is the same in one.
    of: BTreeMap<String, Vec<String>>,
}

/// The number of one of two outcomes.
type Side = fn(&(u64, u64)) -> u64;

/// For each place, the counterpart of each number.
type Counterparts<'p> = BTreeMap<&'p str, Vec<(u64, u64)>>;

impl Numbers {
    /// Learns from what every order of all calls leads to.
    pub(super) fn learn<'l>(full: impl Iterator<Item = &'l Legal>) -> Self {
        let outcomes: Vec<&Outcome> = full.map(|legal| &legal.outcome).take(MOST_ORDERS).collect();
        let mut seen: Vec<Vec<Pair>> = Vec::new();
        for (at, one) in outcomes.iter().enumerate() {
            for two in outcomes.iter().skip(at + 1).filter(|two| *one != **two) {
                // Other columns only where the names do not explain it: what is not compared tells rows apart less well.
                let by_name = pairs(one, two, &names_something);
                seen.extend(by_name.or_else(|| pairs(one, two, &may_be_dealt)));
            }
        }
        let (mut numbers, mut too_high) = (Self::default(), BTreeSet::new());
        for found in &seen {
            let highest = |of: fn(&Pair) -> u64| {
                found.iter().filter(|pair| names_something(&pair.place)).map(of).max().unwrap_or(0)
            };
            let (first, second) = (highest(|pair| pair.one), highest(|pair| pair.two));
            for pair in found {
                let place = &pair.place;
                if !names_something(place) && (pair.one > first || pair.two > second) {
                    too_high.insert(place.clone());
                }
                if pair.one == pair.two {
                    continue;
                }
                let known = if names_something(place) { &mut numbers.named } else { &mut numbers.like_them };
                known.insert(place.clone());
            }
        }
        if numbers.named.len() + numbers.like_them.len() > MOST_PLACES {
            return Self::default();
        }
        // A counter has dealt out no number that is higher than all that are written down.
        numbers.like_them.retain(|place| !too_high.contains(place));
        // Where rows that say the same cannot be told apart, a number has no one counterpart.
        let seen: Vec<Counterparts<'_>> = seen.iter().map(|found| counterparts(found)).collect();
        let is_unclear = |place: &String| seen.iter().any(|found| !is_one_to_one(found, [place]));
        let (unclear, named) = std::mem::take(&mut numbers.named).into_iter().partition(is_unclear);
        numbers.named = named;
        let unclear: BTreeSet<String> = unclear;
        numbers.like_them.extend(unclear.into_iter().filter(|place| is_in_files(place)));
        numbers.find_pointing(&seen);
        numbers.link(&seen);
        numbers
    }

    /// Columns that are the same in all orders and still only say which of the numbers beside them came before: from which version to which.
    fn find_pointing(&mut self, seen: &[Counterparts<'_>]) {
        let places: BTreeSet<&str> = seen.iter().flat_map(|found| found.keys().copied()).collect();
        let mut among = BTreeMap::new();
        for place in places.into_iter().filter(|place| may_point(place)) {
            let dealt = self.like_them.iter().chain(&self.named);
            let same_rows = dealt.filter(|other| **other != *place && rows(other) == rows(place));
            let points = |other: &&String| {
                let fewest = if is_called_like(place, other) { FEWEST_ALIKE } else { FEWEST };
                seen.iter().all(|found| points_to(found, place, other, fewest))
            };
            if !self.named.contains(place)
                && !self.like_them.contains(place)
                && let Some(other) = same_rows.into_iter().find(points)
            {
                among.insert(place.to_owned(), other.clone());
            }
        }
        self.like_them.extend(among.keys().cloned());
        self.among = among;
    }

    /// Which places tell the same numbers. Lists of things are not linked to each other: two counters that begin at one are not one counter.
    fn link(&mut self, seen: &[Counterparts<'_>]) {
        let never_part =
            |one: &String, two: &String| seen.iter().all(|found| is_one_to_one(found, [one, two]));
        let (lists, others): (Vec<&String>, Vec<&String>) =
            self.named.iter().partition(|place| numbers_a_thing(place));
        let mut linked = BTreeSet::new();
        for (at, one) in others.iter().enumerate() {
            for two in others.iter().skip(at + 1).filter(|two| field(one) == field(two)) {
                if never_part(one, two) {
                    linked.insert(((*one).clone(), (*two).clone()));
                }
            }
            let mut of: Vec<String> =
                lists.iter().filter(|list| never_part(one, list)).map(|list| (*list).clone()).collect();
            let is_called_so =
                |list: &String| tells_of(field(one)).is_some_and(|thing| thing == things(list));
            if of.iter().any(is_called_so) {
                of.retain(is_called_so);
            }
            if !of.is_empty() {
                self.of.insert((*one).clone(), of);
            }
        }
        self.linked = linked;
    }

    /// Whether an outcome is a legal one with other numbers dealt out.
    pub(super) fn same(&self, legal: &Outcome, observed: &Outcome) -> bool {
        if self.named.is_empty() {
            return false;
        }
        // Of signs nothing has to be learnt: they stand for ids that are random.
        let is_dealt =
            |place: &str| place == pair::SIGN || self.named.contains(place) || self.like_them.contains(place);
        let Some(found) = pairs(legal, observed, &is_dealt) else { return false };
        let counterparts = counterparts(&found);
        let named = |place: &String| is_one_to_one(&counterparts, [place]);
        let linked = |(one, two): &(String, String)| is_one_to_one(&counterparts, [one, two]);
        let in_one = |(place, lists): (&String, &Vec<String>)| {
            lists.iter().any(|list| is_one_to_one(&counterparts, [place, list]))
        };
        self.named.iter().all(named)
            && named(&pair::SIGN.to_owned())
            && self.linked.iter().all(linked)
            && self.of.iter().all(in_one)
            && self.like_them.iter().all(|place| is_dealt_alike(&counterparts, place))
            && self.among.iter().all(|(place, other)| points_to(&counterparts, place, other, 0))
            // Other columns explain nothing by themselves.
            && found.iter().any(|pair| pair.one != pair.two && self.named.contains(&pair.place))
    }
}

fn counterparts(pairs: &[Pair]) -> Counterparts<'_> {
    let mut found = Counterparts::new();
    for pair in pairs {
        found.entry(pair.place.as_str()).or_default().push((pair.one, pair.two));
    }
    found
}

/// Whether each number has one counterpart at all of these places together, in both directions.
fn is_one_to_one<'p>(counterparts: &Counterparts<'_>, places: impl IntoIterator<Item = &'p String>) -> bool {
    let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
    places.into_iter().filter_map(|place| counterparts.get(place.as_str())).flatten().all(|(one, two)| {
        *there.entry(*one).or_insert(*two) == *two && *back.entry(*two).or_insert(*one) == *one
    })
}

/// Whether as many numbers stand there once, twice and so on: two that were told the same are told from two that were not.
fn is_dealt_alike(counterparts: &Counterparts<'_>, place: &str) -> bool {
    let Some(pairs) = counterparts.get(place) else { return true };
    let how_often = |of: Side| {
        let mut times: BTreeMap<u64, usize> = BTreeMap::new();
        pairs.iter().for_each(|pair| *times.entry(of(pair)).or_default() += 1);
        let mut times: Vec<usize> = times.into_values().collect();
        times.sort_unstable();
        times
    };
    how_often(|pair| pair.0) == how_often(|pair| pair.1)
}

/// Fewer numbers are among others by accident.
const FEWEST: usize = 3;
/// The same of columns that are called like each other.
const FEWEST_ALIKE: usize = 2;

/// Whether two columns are called the same but for the last word: `first_from` and `first_to`.
fn is_called_like(one: &str, other: &str) -> bool {
    let (one, other) = (words(field(one)), words(field(other)));
    match (one.split_last(), other.split_last()) {
        (Some((_, one)), Some((_, other))) => !one.is_empty() && one == other,
        _ => false,
    }
}

/// Whether the numbers at a place are all different, at least so many, and all among those of another place; in both outcomes.
fn points_to(counterparts: &Counterparts<'_>, place: &str, other: &str, fewest: usize) -> bool {
    let of = |place: &str| counterparts.get(place).map(Vec::as_slice).unwrap_or_default();
    let (numbers, others) = (of(place), of(other));
    let sides: [Side; 2] = [|pair| pair.0, |pair| pair.1];
    numbers.len() >= fewest
        && sides.iter().all(|side| {
            let all: BTreeSet<u64> = numbers.iter().map(side).collect();
            let dealt: BTreeSet<u64> = others.iter().map(side).collect();
            all.len() == numbers.len() && all.is_subset(&dealt)
        })
}

/// The name of the field that a number stands in: behind the last `/` that is no element of a list.
fn field(place: &str) -> &str {
    place.rsplit(pair::BETWEEN).find(|part| *part != "*").unwrap_or_default()
}

/// The rows that a column is of.
fn rows(place: &str) -> Option<&str> {
    place.rsplit_once(pair::BETWEEN).map(|(rows, _)| rows)
}

fn names_something(place: &str) -> bool {
    let name = field(place);
    name == pair::KEY
        || name == pair::SIGN
        || place.ends_with(pair::IN_TEXT)
        || words(name).last().is_some_and(|word| NAMES.contains(&word.as_str()))
}

/// Names of a thing's own number, in the list in which it stands.
const OWN: &[&str] = &["id", "seq", "sequence", "rowid", "oid", "pk", "version", "revision", "rev"];

/// Whether this is the own number of each thing in a list that is read.
fn numbers_a_thing(place: &str) -> bool {
    let mut parts = place.rsplit(pair::BETWEEN);
    let (name, above) = (parts.next().unwrap_or_default(), parts.next());
    name == pair::KEY
        || (above == Some("*") && place.starts_with("read") && OWN.contains(&name.to_lowercase().as_str()))
}

/// What a list holds, by its name: `user` for the place of a number in the rows of `users`.
fn things(place: &str) -> String {
    let parts = place.split(pair::BETWEEN).filter(|part| *part != "*" && *part != pair::KEY);
    let names: Vec<&str> = parts.collect();
    let at = if place.ends_with(pair::KEY) { names.len() } else { names.len().saturating_sub(1) };
    singular(names.get(at.wrapping_sub(1)).copied().unwrap_or_default())
}

/// What a field tells the number of: `user` for `user_id`.
fn tells_of(field: &str) -> Option<String> {
    let words = words(field);
    let (last, before) = words.split_last()?;
    (NAMES.contains(&last.as_str()) && !before.is_empty()).then(|| singular(&before.join("_")))
}

/// A name's words without a plural.
fn singular(name: &str) -> String {
    let name = words(name).join("_");
    name.strip_suffix('s').map_or_else(|| name.clone(), str::to_owned)
}

fn is_in_files(place: &str) -> bool {
    place.split(pair::BETWEEN).any(|part| part == FILES)
}

/// Whether this is a column of rows in files that may say which numbers came before.
fn may_point(place: &str) -> bool {
    is_in_files(place) && place.rsplit(pair::BETWEEN).nth(1) == Some("*") && may_be_dealt(place)
}

/// Whether a number may be dealt out by a counter although it is not called so.
fn may_be_dealt(place: &str) -> bool {
    names_something(place)
        || (is_in_files(place) && !words(field(place)).iter().any(|word| AMOUNTS.contains(&word.as_str())))
}

#[cfg(test)]
mod tests;
