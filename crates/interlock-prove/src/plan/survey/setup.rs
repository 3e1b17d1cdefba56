//! What has to be there first: another tool's call that brings it about.

use std::collections::BTreeMap;

use interlock_model::{PlannedCall, reference};
use serde_json::Value;

use super::{Meter, Seen, advice::names_tool, look::told, refused, write::Start};
use crate::plan::arguments::{Pool, Sampler, Source, Want, things};

/// A variant that no set-up says.
const NEWS: usize = 2;
/// So many other tools are tried.
const MOST: usize = 3;
/// What it counts that a refusal names a tool: more than all that names have in common.
const NAMED: usize = 10;

/// A set-up with which a call of the tool succeeds. A tool that the refusal of the call names comes first.
pub(super) async fn find(sampler: &Sampler, refusal: &str, seen: &Seen, meter: &Meter<'_>) -> Option<Start> {
    let mut helpers: Vec<(usize, &str)> = seen
        .known
        .iter()
        .filter_map(|(name, known)| {
            let known = known.as_ref().ok()?;
            let is_named = names_tool(refusal, name);
            let score = kinship(sampler, name, known.samples.first()?, seen) + usize::from(is_named) * NAMED;
            (score > 0 && known.setup.len() < 3).then_some((score, name.as_str()))
        })
        .collect();
    helpers.sort_by_key(|(score, name)| (std::cmp::Reverse(*score), *name));
    for (_, helper) in helpers.into_iter().take(MOST) {
        let Some(Ok(known)) = seen.known.get(helper) else { continue };
        let mut setup = known.setup.clone();
        setup.extend(known.samples.first().cloned());
        if let Some(start) = with(sampler, setup, meter).await {
            return Some(start);
        }
    }
    None
}

/// How likely it is that one tool makes what another needs.
fn kinship(sampler: &Sampler, helper: &str, call: &PlannedCall, seen: &Seen) -> usize {
    let noun = crate::plan::arguments::noun_of_tool(helper);
    let same_noun = noun.as_deref() == sampler.noun() && noun.is_some();
    let wanted = sampler.sample(&Want::default(), &seen.pool).unwrap_or_default();
    let wanted = things(&wanted);
    let shares = things(&call.arguments)
        .iter()
        .any(|(own, _)| wanted.iter().any(|(name, _)| name.joined == own.joined));
    let needs = wanted.iter().any(|(name, _)| name.noun.is_some() && name.noun == noun);
    usize::from(same_noun) * 2 + usize::from(shares) + usize::from(needs) * 2
}

/// The call of a tool after a set-up: it speaks of what the set-up spoke of, or of what that was answered with.
async fn with(sampler: &Sampler, setup: Vec<PlannedCall>, meter: &Meter<'_>) -> Option<Start> {
    let answers = meter.run(&setup).await.ok()?;
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
    let mut tried: Vec<Value> = Vec::new();
    // What the set-up was answered with comes before what it was told. What is said is something new, or it would change nothing; unless
    // only what the schema shows is right.
    let found = Want { given: BTreeMap::new(), variant: NEWS, ..want.clone() };
    let told = Want { variant: NEWS, ..want.clone() };
    for want in [found.clone(), told, Want { variant: 0, ..found }, want] {
        let Some(arguments) = sampler.sample(&want, &pool).filter(|arguments| !tried.contains(arguments))
        else {
            continue;
        };
        tried.push(arguments.clone());
        let call = referring(&PlannedCall::new(&sampler.tool().name, arguments), &setup, &pool);
        if meter.withholds(&call).is_some() {
            continue;
        }
        let mut run = setup.clone();
        run.push(call.clone());
        let Ok(answers) = meter.run(&run).await else { continue };
        if answers.last().is_some_and(|answer| refused(answer).is_none()) {
            return Some(Start { setup, call, want, pool });
        }
    }
    None
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
