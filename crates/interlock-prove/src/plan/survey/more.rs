//! More calls of a tool that can be called: that say something else, that speak of other things, that take all there is.

use interlock_model::PlannedCall;
use serde_json::Value;

use super::{
    Meter, Seen, refused,
    setup::referring,
    write::{Known, Start, Tried, try_in_turn},
};
use crate::plan::arguments::{Pool, Sampler, Source, Want, things};

/// So many numbers are tried until one is all that there is.
const MOST_AMOUNTS: usize = 3;
/// So many other things are spoken of.
const MOST_OTHERS: usize = 2;

impl Known {
    /// Calls about the same thing that say something else, and calls about other things. Of the first ones it may be known that they work.
    pub(super) async fn vary(
        &mut self,
        sampler: &Sampler,
        start: &Start,
        works: &[PlannedCall],
        seen: &Seen,
        meter: &Meter<'_>,
    ) {
        let wishes = wishes(sampler, start, seen, meter);
        let mut granted = grant(&wishes, start, works, meter).await.into_iter();
        self.samples.extend(granted.next().flatten());
        for other in granted.flatten() {
            if !self.others.contains(&other) && !self.samples.contains(&other) {
                self.others.push(other);
            }
        }
        if self.others.is_empty()
            && let Some((setup, other)) = beside(start, seen, meter).await
        {
            self.setup = setup;
            self.others.push(other);
        }
    }
}

/// A longer set-up that makes one thing more, and the call about that: two changes of two things that lie in one file are lost like two of one.
async fn beside(start: &Start, seen: &Seen, meter: &Meter<'_>) -> Option<(Vec<PlannedCall>, PlannedCall)> {
    let (last, maker) = start.setup.iter().enumerate().next_back()?;
    let known = seen.known.get(&maker.tool)?.as_ref().ok()?;
    let candidates = known.others.iter().chain(&known.samples);
    let mut tried: Vec<PlannedCall> = Vec::new();
    for other_maker in candidates.filter(|call| call.tool == maker.tool) {
        let Some(other) = about_other(&start.call, (maker, last), (other_maker, start.setup.len())) else {
            continue;
        };
        if tried.contains(other_maker) || tried.len() >= MOST_OTHERS || meter.withholds(&other).is_some() {
            continue;
        }
        tried.push(other_maker.clone());
        let setup: Vec<PlannedCall> = start.setup.iter().chain([other_maker]).cloned().collect();
        let run: Vec<PlannedCall> = setup.iter().chain([&start.call, &other]).cloned().collect();
        let answers = meter.run(&run).await.ok()?;
        if answers.iter().all(|answer| refused(answer).is_none()) {
            return Some((setup, other));
        }
    }
    None
}

/// The call about what another maker makes: what it has from the one, from its words or its answer, it has from the other. `None` where that is
/// the same call.
fn about_other(
    call: &PlannedCall,
    (maker, at): (&PlannedCall, usize),
    (other, other_at): (&PlannedCall, usize),
) -> Option<PlannedCall> {
    let others = things(&other.arguments);
    let swapped: Vec<(Value, Value)> = things(&maker.arguments)
        .into_iter()
        .filter_map(|(named, value)| {
            let (_, other) = others.iter().find(|(other, _)| other.joined == named.joined)?;
            Some((value, other.clone()))
        })
        .collect();
    let mut arguments = call.arguments.clone();
    exchange(&mut arguments, &swapped, (at, other_at));
    (arguments != call.arguments).then(|| PlannedCall { arguments, ..call.clone() })
}

fn exchange(value: &mut Value, swapped: &[(Value, Value)], (at, other_at): (usize, usize)) {
    if let Some((_, other)) = swapped.iter().find(|(one, _)| one == value) {
        *value = other.clone();
        return;
    }
    match value {
        Value::String(text) => {
            for end in ["/", "}"] {
                *text = text.replace(&format!("{{answer:{at}{end}"), &format!("{{answer:{other_at}{end}"));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| exchange(item, swapped, (at, other_at))),
        Value::Object(entries) => {
            entries.values_mut().for_each(|value| exchange(value, swapped, (at, other_at)));
        }
        _ => {}
    }
}

/// Groups of calls of which one each is wanted, the likeliest first: one that says something else about the same thing, and some about others.
pub(super) fn wishes(
    sampler: &Sampler,
    start: &Start,
    seen: &Seen,
    meter: &Meter<'_>,
) -> Vec<Vec<PlannedCall>> {
    let pool = if start.setup.is_empty() { &seen.pool } else { &start.pool };
    let made = |want: Want| {
        let call = PlannedCall::new(&sampler.tool().name, sampler.sample(&want, pool)?);
        let call = referring(&call, &start.setup, &start.pool);
        (call != start.call && meter.withholds(&call).is_none()).then_some(call)
    };
    let want = |variant, thing| Want { variant, thing, ..start.want.clone() };
    let next = start.want.variant + 1;
    let same_thing = [
        want(next, start.want.thing),
        Want { vary_others: true, ..want(next, start.want.thing) },
        Want { optional: true, ..want(next, start.want.thing) },
    ];
    let mut wishes: Vec<Vec<PlannedCall>> = vec![same_thing.into_iter().filter_map(made).collect()];
    // Another thing would need a set-up of its own.
    if start.setup.is_empty() && !things(&start.call.arguments).is_empty() {
        for thing in 1..=MOST_OTHERS {
            let others = [
                want(start.want.variant, thing),
                Want { source: Source::Made, ..want(start.want.variant, thing) },
            ];
            wishes.push(others.into_iter().filter_map(made).collect());
        }
    }
    wishes
}

/// Of each group the first call that succeeds. Those that were seen to work behind the start take no run of their own.
async fn grant(
    wishes: &[Vec<PlannedCall>],
    start: &Start,
    works: &[PlannedCall],
    meter: &Meter<'_>,
) -> Vec<Option<PlannedCall>> {
    let mut granted = Vec::new();
    for group in wishes {
        match group.first() {
            Some(first) if works.contains(first) => granted.push(Some(first.clone())),
            _ => granted.push(first_that_works(group, start, meter).await),
        }
    }
    granted
}

async fn first_that_works(calls: &[PlannedCall], start: &Start, meter: &Meter<'_>) -> Option<PlannedCall> {
    let mut open = calls;
    while !open.is_empty() {
        let Tried { refusals, works } = try_in_turn(&start.setup, open, meter).await.ok()?;
        open = open.get(refusals.len()..).unwrap_or_default();
        if works {
            return open.first().cloned();
        }
    }
    None
}

/// The call that takes all there is: an amount that a read-back shows, with which it succeeds once and not again.
pub(super) async fn everything(
    sampler: &Sampler,
    start: &Start,
    pool: &Pool,
    meter: &Meter<'_>,
) -> Option<PlannedCall> {
    let amounts = sampler.amounts(&start.call.arguments);
    let mut numbers: Vec<&Value> =
        pool.amounts().filter(|number| number.as_f64().is_some_and(|number| number > 1.0)).collect();
    numbers.dedup();
    for name in amounts {
        for number in numbers.iter().take(MOST_AMOUNTS) {
            let mut arguments = start.call.arguments.clone();
            if let Some(amount) = arguments.get_mut(name) {
                *amount = (*number).clone();
            }
            let call = PlannedCall { arguments, ..start.call.clone() };
            if !call.is_filled_later() && !sampler.allows(&call.arguments) {
                continue;
            }
            let mut run = start.setup.clone();
            run.extend([call.clone(), call.clone()]);
            let answers = meter.run(&run).await.ok()?;
            if let [.., first, second] = answers.as_slice()
                && refused(first).is_none()
                && refused(second).is_some()
            {
                return Some(call);
            }
        }
    }
    None
}
