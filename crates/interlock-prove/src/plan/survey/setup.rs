//! What has to be there first: another tool's call that brings it about.

use std::{collections::BTreeMap, sync::PoisonError};

use interlock_model::{Answer, Effectful, PlannedCall, reference};
use serde_json::Value;

use super::{
    Meter, Seen,
    advice::names_tool,
    look::{question, told},
    refused,
    write::{Known, Start, Tried, Watched, try_in_turn},
};
use crate::plan::{
    arguments::{Pool, Role, Sampler, Source, Want, handles, things},
    listing::Listing,
};

/// A variant that no set-up says.
const NEWS: usize = 2;
/// So many other tools are tried.
const MOST: usize = 3;
/// So many calls stand before another at most.
const MOST_BEFORE: usize = 3;
/// What it counts that a refusal names a tool: more than all that names have in common.
const NAMED: usize = 10;

/// What is known of set-ups: every one is a start of the server, and the next look at the same would see the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Setups {
    /// What their calls were answered with.
    answers: Vec<(Vec<PlannedCall>, Vec<Answer>)>,
    /// For which tool they were of no use.
    useless: Vec<(String, Vec<PlannedCall>)>,
}

impl Meter<'_> {
    /// What the calls of a set-up are answered with. Ids of another instance are no worse than those of an earlier run: calls refer to them.
    async fn answers_of(&self, setup: &[PlannedCall]) -> Option<Vec<Answer>> {
        let known = {
            let setups = self.setups.lock().unwrap_or_else(PoisonError::into_inner);
            setups.answers.iter().find(|(calls, _)| calls == setup).map(|(_, answers)| answers.clone())
        };
        if known.is_some() {
            return known;
        }
        let answers = self.run(setup).await.ok()?;
        self.keep_answers(setup.to_vec(), answers.clone());
        Some(answers)
    }

    /// Keeps what the calls of a set-up were answered with, where that was seen in passing.
    pub(super) fn keep_answers(&self, setup: Vec<PlannedCall>, answers: Vec<Answer>) {
        let mut setups = self.setups.lock().unwrap_or_else(PoisonError::into_inner);
        if setups.answers.iter().all(|(calls, _)| *calls != setup) {
            setups.answers.push((setup, answers));
        }
    }

    fn is_useless(&self, tool: &str, setup: &[PlannedCall]) -> bool {
        let setups = self.setups.lock().unwrap_or_else(PoisonError::into_inner);
        setups.useless.iter().any(|(known, calls)| known == tool && calls == setup)
    }

    /// Notes that a set-up did not help a tool, unless that was never seen because the time was over.
    fn helped_not(&self, tool: &str, setup: &[PlannedCall]) {
        if self.left() > 0 {
            let mut setups = self.setups.lock().unwrap_or_else(PoisonError::into_inner);
            setups.useless.push((tool.to_owned(), setup.to_vec()));
        }
    }
}

/// A set-up with which a call of the tool succeeds, and what was seen of that. A tool that the refusal of the call names comes first; of a tool
/// that is named like a writer, a set-up with which its call changes something is looked for before one with which it only succeeds.
pub(super) async fn find(
    sampler: &Sampler,
    refusal: &str,
    seen: &Seen,
    meter: &Meter<'_>,
) -> Option<(Start, Watched)> {
    let mut helpers: Vec<(usize, &str)> = seen
        .known
        .iter()
        .filter_map(|(name, known)| {
            let known = known.as_ref().ok()?;
            let is_named = names_tool(refusal, name);
            // What it makes itself it does not need, and what another takes away no more.
            let helper = Listing { name: name.clone(), ..Listing::default() };
            if *name == sampler.tool().name || helper.undoes().is_some() {
                return None;
            }
            // Who only reads brings nothing about, unless the server itself says so.
            if known.effect == Effectful::Reads && !is_named {
                return None;
            }
            let score = kinship(sampler, name, known, seen) + usize::from(is_named) * NAMED;
            (score > 0 && known.setup.len() < MOST_BEFORE).then_some((score, name.as_str()))
        })
        .collect();
    // Where nothing has to do with it by name, whatever makes something may be what it needs.
    if helpers.is_empty() && WANTS.iter().any(|word| refusal.to_lowercase().contains(word)) {
        let makes =
            |name: &&String| known_of(seen, name).is_some_and(|known| known.setup.len() < MOST_BEFORE);
        let makers = seen.makers.iter().filter(makes).filter(|name| **name != sampler.tool().name);
        helpers = makers.map(|name| (1, name.as_str())).collect();
    }
    helpers.sort_by_key(|(score, name)| (std::cmp::Reverse(*score), *name));
    let insists = sampler.tool().looks_like_writer();
    let mut unseen = None;
    // A reader that the refusal names was never called as a writer, so nothing is known of it but how it is asked.
    let readers = seen.readers.iter().filter(|reader| names_tool(refusal, &reader.tool().name));
    let readers = readers.filter(|reader| reader.tool().name != sampler.tool().name);
    let readers = readers.filter_map(|reader| question(reader, &seen.pool)).map(|call| vec![call]);
    let is_between = is_between_two(sampler, seen);
    let helpers = helpers.into_iter().filter_map(|(_, helper)| {
        let known = known_of(seen, helper)?;
        let mut setup = known.setup.clone();
        setup.extend(known.samples.first().cloned());
        // What is between two things needs both.
        setup.extend(known.others.first().filter(|_| is_between).cloned());
        Some(setup)
    });
    // What was of no use before is of none now: whoever is asked again tries others.
    let ways = readers.chain(helpers).filter(|setup| !meter.is_useless(&sampler.tool().name, setup));
    for setup in ways.take(MOST).collect::<Vec<_>>() {
        match with(sampler, setup.clone(), seen, meter).await {
            Some((start, watched)) if !insists || watched.shows() => return Some((start, watched)),
            found => unseen = unseen.or(found),
        }
        meter.helped_not(&sampler.tool().name, &setup);
    }
    unseen
}

/// Whether a tool names two things, one of them as the other: `source` and `target`, `from` and `to`.
fn is_between_two(sampler: &Sampler, seen: &Seen) -> bool {
    let named = handles(&sampler.sample(&Want::default(), &seen.pool).unwrap_or_default());
    named.iter().any(|(named, _)| named.is_other) && named.iter().any(|(named, _)| !named.is_other)
}

/// What the things that a tool names are called if they are those that a set-up made, the first and the last of them, whatever the arguments are called.
fn between(sampler: &Sampler, setup: &[PlannedCall], pool: &Pool) -> BTreeMap<String, Value> {
    let made = |call: &PlannedCall| {
        let told = things(&call.arguments)
            .into_iter()
            .filter(|(named, value)| !named.is_other && !is_reference(value));
        told.map(|(_, value)| value).next()
    };
    let things_made: Vec<Value> = setup.iter().filter_map(made).collect();
    let (Some(first), last) = (things_made.first(), things_made.get(1..).and_then(<[Value]>::last)) else {
        return BTreeMap::new();
    };
    let named = handles(&sampler.sample(&Want::default(), pool).unwrap_or_default());
    let of = |is_other: bool| if is_other { last.unwrap_or(first).clone() } else { first.clone() };
    named.into_iter().map(|(named, _)| (named.given_as(), of(named.is_other))).collect()
}

/// Words of a refusal that misses something.
const WANTS: &[&str] = &[
    "not found",
    "no such",
    "does not exist",
    "doesn't exist",
    "not exist",
    "first",
    "no active",
    "not initialized",
    "missing",
    "foreign key",
    "no ",
];

/// What is known of a tool that can be called.
fn known_of<'s>(seen: &'s Seen, name: &str) -> Option<&'s Known> {
    seen.known.get(name)?.as_ref().ok()
}

/// How likely it is that one tool makes what another needs.
fn kinship(sampler: &Sampler, helper: &str, known: &Known, seen: &Seen) -> usize {
    let Some(call) = known.samples.first() else { return 0 };
    let noun = crate::plan::arguments::noun_of_tool(helper);
    let same_noun = noun.as_deref() == sampler.noun() && noun.is_some();
    let wanted = sampler.sample(&Want::default(), &seen.pool).unwrap_or_default();
    let wanted = handles(&wanted);
    let shares = things(&call.arguments)
        .iter()
        .any(|(own, _)| wanted.iter().any(|(name, _)| name.joined == own.joined));
    let needs = wanted.iter().any(|(name, _)| name.noun.is_some() && name.noun == noun);
    let answers = wanted.iter().any(|(name, _)| {
        matches!(name.role, Role::Id | Role::Idempotency)
            && !known.gives.find(name, sampler.noun(), &[]).is_empty()
    });
    usize::from(same_noun) * 2 + usize::from(shares) + usize::from(needs) * 2 + usize::from(answers) * 4
}

/// The call of a tool after a set-up: it speaks of what the set-up spoke of, or of what that was answered with.
async fn with(
    sampler: &Sampler,
    setup: Vec<PlannedCall>,
    seen: &Seen,
    meter: &Meter<'_>,
) -> Option<(Start, Watched)> {
    let answers = meter.answers_of(&setup).await?;
    if answers.iter().any(|answer| refused(answer).is_some()) {
        return None;
    }
    let mut pool = Pool::default();
    for (at, (call, answer)) in setup.iter().zip(&answers).enumerate() {
        pool.learn(&call.tool, &call.arguments, &told(answer).unwrap_or_default(), at);
    }
    let given = setup.iter().flat_map(|call| things(&call.arguments));
    let given = given.filter(|(named, value)| !named.is_other && !is_reference(value));
    let want = Want {
        source: Source::Seen,
        given: given.map(|(named, value)| (named.joined, value)).collect(),
        ..Want::default()
    };
    let insists = sampler.tool().looks_like_writer();
    let mut unseen = None;
    let mut tried: Vec<Value> = Vec::new();
    // What the set-up was answered with comes before what it was told. What is said is something new, or it would change nothing; unless
    // only what the schema shows is right.
    let found = Want { given: BTreeMap::new(), variant: NEWS, ..want.clone() };
    let told = Want { variant: NEWS, ..want.clone() };
    let mut open: Vec<(Want, PlannedCall)> = Vec::new();
    let between = Want { given: between(sampler, &setup, &pool), variant: NEWS, ..want.clone() };
    for want in [found.clone(), told, Want { variant: 0, ..found }, want, between] {
        let Some(arguments) = sampler.sample(&want, &pool).filter(|arguments| !tried.contains(arguments))
        else {
            continue;
        };
        tried.push(arguments.clone());
        let call = referring(&PlannedCall::new(&sampler.tool().name, arguments), &setup, &pool);
        if meter.withholds(&call).is_none() {
            open.push((want, call));
        }
    }
    loop {
        let calls: Vec<PlannedCall> = open.iter().map(|(_, call)| call.clone()).collect();
        let Ok(Tried { refusals, works }) = try_in_turn(&setup, &calls, meter).await else { return unseen };
        open.drain(..refusals.len().min(open.len()));
        if open.is_empty() {
            return unseen;
        }
        if !works {
            continue;
        }
        let (want, call) = open.remove(0);
        let start = Start { setup: setup.clone(), call, want, pool: pool.clone() };
        let Ok(watched) = start.watch(sampler, seen, meter).await else { continue };
        if refused(&watched.own).is_some() {
            continue;
        }
        if !insists || watched.shows() {
            return Some((start, watched));
        }
        unseen.get_or_insert((start, watched));
    }
}

/// The call with references in place of ids that only the set-up's answer has: on the next instance they are others.
pub(super) fn referring(call: &PlannedCall, setup: &[PlannedCall], pool: &Pool) -> PlannedCall {
    let told: Vec<Value> =
        setup.iter().flat_map(|call| things(&call.arguments)).map(|(_, value)| value).collect();
    let mut arguments = call.arguments.clone();
    for (_, value) in things(&call.arguments) {
        let place =
            pool.place_of(&value).filter(|(_, pointer)| !pointer.is_empty() && !told.contains(&value));
        if let Some((at, pointer)) = place {
            replace(&mut arguments, &value, &Value::from(reference::text(at, pointer)));
        }
    }
    PlannedCall { arguments, ..call.clone() }
}

fn replace(value: &mut Value, old: &Value, new: &Value) {
    match value {
        value if value == old => *value = new.clone(),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, old, new)),
        Value::Object(entries) => entries.values_mut().for_each(|value| replace(value, old, new)),
        _ => {}
    }
}

fn is_reference(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains("{answer:"))
}
