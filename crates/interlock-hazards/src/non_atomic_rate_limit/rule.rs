//! Check-then-act on a counter: a limit is read and compared, and the call counts itself in another step.
//!
//! Reported:
//! ```text
//! const used = Number(await redis.get(key));        // reported here
//! if (used >= LIMIT) throw new Error("too many");
//! await redis.incr(key);
//! await redis.expire(key, 60);                      // and a count without its expiry, if the process ends here
//! ```
//! Not reported:
//! ```text
//! const used = await redis.incr(key);               // counts first, and compares what that came to
//! if (used > LIMIT) throw new Error("too many");
//! ```
//!
//! A count that is kept as lines of a file is in `appended.rs`. Whether there is a limit at all is `no-caller-limit`.

use interlock_model::{
    Lane, Severity,
    ir::{AccessPath, Aspect, Effect, Exit, Field, Op, Resource, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed},
    decision::{needs, unless},
    fields::notes_use,
    gates::is_claimed,
    keys::key_of,
    lexicon::Topic,
    limits::{is_limit, is_named_so},
    view::{At, Entry, Kinds, Overlap, View},
    words::words,
};

use super::{HAZARD, appended::appended};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let claimed = claimed(view, Claim::OverrunLimit);
    let compared = claimed.iter().map(|pair| pair.settle(&HAZARD.id, overrun(pair, &pair.thing())));
    let racing = || view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    let filled = racing()
        .flat_map(|entry| fills_up(view, entry))
        .map(|pair| overrun(&pair, &pair.entry.thing(pair.read)));
    let appended = racing().flat_map(|entry| appended(view, entry));
    compared.chain(filled).chain(appended).chain(racing().flat_map(without_expiry)).collect()
}

/// Whether it is a count that is compared and then raised.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    needs(counts_against_limit(pair), Reason::OutOfScope)?;
    unless(counts_first(pair), Reason::CountsFirst)
}

fn counts_against_limit(pair: &CheckAct<'_, '_>) -> bool {
    let counts = match pair.entry.op(pair.act) {
        Some(Op::Write { mode: WriteMode::Atomic, .. }) => true,
        // A count that is read again when it is raised is right, and still was not what was compared.
        Some(Op::Write { mode: WriteMode::Blind, to: Resource::Shared(_), .. }) => pair.data_dependent_at_all,
        Some(Op::Write { mode: WriteMode::Blind, .. } | Op::Rename { .. }) => pair.data_dependent,
        _ => false,
    };
    let adds = matches!(pair.entry.op(pair.act), Some(Op::Write { mode: WriteMode::Exclusive, .. }));
    match pair.resource().filter(|_| pair.check.is_some()) {
        // A counter in Redis that is compared and then raised limits something, whatever it is called.
        Some(Resource::Key(_))
            if matches!(pair.entry.op(pair.act), Some(Op::Write { mode: WriteMode::Atomic, .. })) =>
        {
            true
        }
        Some(resource) => {
            let under_way = || is_named_so(pair.entry, resource, Topic::UnderWay);
            (counts || adds)
                && (is_limit(pair.entry, resource)
                    || refuses(pair.entry, pair.check) && under_way()
                    || begins_anew(pair.entry, resource))
                || counts_later(pair)
        }
        None => false,
    }
}

/// Whether a number in memory is set back when the time says so: what is compared and counted until then is how often something was
/// done in that time, whatever it is called.
fn begins_anew(entry: &Entry<'_>, counted: &Resource) -> bool {
    // The time is asked for in the comparison, or noted where it says yes.
    let notes_time = |check: At| {
        entry.steps_of(Kinds::WRITE).any(|note| {
            entry.control().control_dependences(note).contains(&check)
                && matches!(entry.op(note), Some(Op::Write { from, .. }) if entry.flow().is_time(from))
        })
    };
    let by_time = |check: &At| match entry.op(*check) {
        Some(Op::Check { on, .. }) => entry.flow().is_time(on) || notes_time(*check),
        _ => false,
    };
    matches!(counted, Resource::Shared(_))
        && entry
            .all(
                Kinds::WRITE,
                |op| matches!(op, Op::Write { mode: WriteMode::Blind, from, .. } if from.is_empty()),
            )
            .any(|set| {
                entry.resource(set) == Some(counted)
                    && entry.control().control_dependences(set).iter().any(by_time)
            })
}

/// Whether a file is read and compared with a limit, and read again when the call counts itself in it: nothing is lost then, and still
/// was what was compared out of date.
fn counts_later(pair: &CheckAct<'_, '_>) -> bool {
    let (entry, read, act) = (pair.entry, &pair.read, &pair.act);
    if pair.data_dependent || !pair.data_dependent_at_all {
        return false;
    }
    let Some(check) = pair.check else { return false };
    let (Some(Op::Check { on, .. }), Some(Resource::File(_))) = (entry.op(check), entry.resource(*act))
    else {
        return false;
    };
    // Whoever is over the limit does not come this far.
    let refuses = entry.control().answer(check, *act).is_some() && !entry.control().encloses(check, *act);
    let home = entry.function_name(entry.function_of(*read));
    let asked = entry.function_name(entry.function_of(check));
    let says = |name: &str| {
        words(name.rsplit('.').next().unwrap_or_default()).iter().any(|word| says_limit(entry, word))
    };
    let compares = || {
        // How often a key was used is written down for whoever sends the bill, and refuses nobody.
        let says = |name: &str| says(name) && !notes_use(entry.lexicon(), name);
        let named = |value: &Value| {
            says(entry.name_of(*value)) || entry.alias().field_of(*value).is_some_and(|field| says(&field))
        };
        entry.flow().backward_slice(on).iter().any(named)
    };
    // The function that came to the verdict says what it is about: `checkSpendingLimit`.
    let judged = || {
        entry.flow().backward_slice(on).iter().any(|value| {
            let made = entry.flow().definition_site(*value);
            made.is_some_and(|made| says(&entry.function_name(entry.function_of(made))))
        })
    };
    refuses && (says(&home) || says(&asked) || compares() || judged())
}

/// Whether a word is what limits are called, and not only has it inside, as "migrate" has "rate".
fn says_limit(entry: &Entry<'_>, word: &str) -> bool {
    entry.lexicon().list(Topic::Limit).iter().any(|limit| {
        word.strip_prefix(&**limit).is_some_and(|rest| matches!(rest, "" | "s" | "er" | "ing" | "ed"))
    })
}

/// Whether a call has counted itself right before it compares: what it writes after its work is that it is gone.
fn counts_first(pair: &CheckAct<'_, '_>) -> bool {
    let (entry, read, act) = (pair.entry, &pair.read, &pair.act);
    let counts = entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. }));
    counts.filter(|count| count < read).any(|count| {
        entry.alias().overlap(count, *act) == Some(Overlap::Sure)
            && entry
                .control()
                .control_dependences(*read)
                .starts_with(entry.control().control_dependences(count))
            && entry.control().leads_to(count, *read) == Some(false)
    })
}

/// A collection that is refused to grow beyond a size, and then grows: `if (sessions.size >= MOST) throw …`, or a list or set in a
/// store.
fn fills_up<'v, 'e>(view: &'v View<'e>, entry: &'v Entry<'e>) -> Vec<CheckAct<'v, 'e>> {
    let mut found = vec![];
    let grows = |op: &Op| match op {
        Op::Write { to: Resource::Key(_), mode, .. } => *mode == WriteMode::Append,
        Op::Write { to: Resource::Shared(_), .. } => true,
        _ => false,
    };
    for act in entry.all(Kinds::WRITE, grows) {
        let Some(one) = entry.resource(act) else { continue };
        // Who only answers no has a limit in mind if it is called so.
        let named = matches!(one, Resource::Key(_)) && is_limit(entry, one);
        let checks = entry
            .control()
            .control_dependences(act)
            .iter()
            .copied()
            .filter(|check| named || refuses(entry, Some(*check)));
        for (check, read) in
            checks.flat_map(|check| entry.flow().checked_reads(check).map(move |read| (check, read)))
        {
            let counted = match one {
                Resource::Shared(one) => is_number_of(entry, read, one),
                _ => is_size_of(entry, read, act),
            };
            if !counted {
                continue;
            }
            let raced = view.interference(entry, read, act).and_then(|reach| {
                unless(is_claimed(view, entry, read, act), Reason::ClaimedFirst)?;
                Ok(CheckAct::sure(entry, read, act, check, reach))
            });
            found.extend(entry.settle(&HAZARD.id, &[read, act], raced));
        }
    }
    found
}

/// Whether a read is at how many entries the list or set in a store has that an act adds one to.
fn is_size_of(entry: &Entry<'_>, read: At, act: At) -> bool {
    matches!(entry.op(read), Some(Op::Read { aspect: Aspect::Total, .. }))
        && entry.alias().overlap(read, act) == Some(Overlap::Sure)
}

/// Whether a read is at how many there are of what something is one of.
fn is_number_of(entry: &Entry<'_>, read: At, one: &AccessPath) -> bool {
    match (entry.op(read), entry.resource(read)) {
        (Some(Op::Read { into, .. }), Some(Resource::Shared(all))) => {
            entry.lexicon().has(Topic::Size, entry.name_of(*into))
                && one.root == all.root
                && matches!(one.fields.strip_prefix(all.fields.as_slice()), Some([Field::At(_)]))
        }
        _ => false,
    }
}

/// Whether the call fails where a comparison says yes.
fn refuses(entry: &Entry<'_>, check: Option<At>) -> bool {
    match check.and_then(|check| entry.op(check)) {
        Some(Op::Check { then, .. }) => matches!(then.last(), Some(Effect { op: Op::Exit(Exit::Throw), .. })),
        _ => false,
    }
}

pub(super) fn overrun(pair: &CheckAct<'_, '_>, thing: &str) -> Issue {
    let message = format!(
        "{thing} is read, compared and then counted in separate steps, so calls at once all pass the limit"
    );
    pair.report(
        message,
        &format!("reads {thing}: one is left"),
        &format!("counts itself in {thing}"),
        "the limit is overrun",
    )
}

/// A counter whose life is limited by a second command.
fn without_expiry(entry: &Entry<'_>) -> Vec<Issue> {
    let mut issues = vec![];
    for expiry in entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { mode: WriteMode::Expiry, .. })) {
        let counts = entry
            .all(Kinds::WRITE, |op| matches!(op, Op::Write { mode: WriteMode::Atomic, .. }))
            .filter(|count| {
                entry.alias().overlap(*count, expiry).is_some()
                    && entry.control().leads_to(*count, expiry).is_some()
            });
        for count in counts {
            // In one transaction both happen or neither, and what nothing waits between goes out together.
            let apart = match entry.locks().race_window(count, expiry) {
                Some(window) if window.transaction => Err(Reason::InTransaction),
                Some(window) => needs(window.suspends, Reason::NoSuspension),
                None => Err(Reason::NotAfter),
            };
            if entry.settle(&HAZARD.id, &[count, expiry], apart).is_none() {
                continue;
            }
            let thing = entry.thing(count);
            let message = format!(
                "{thing} is counted in one command and given its expiry in another, so a crash in between leaves a count that never \
                 runs out and locks its caller out for good"
            );
            let (one, other) = (entry.position(count, &[expiry]), entry.position(expiry, &[count]));
            let reach = interlock_model::Reach::Both;
            let mut issue = Issue::at(entry, count, &[expiry], reach, message)
                .only(Severity::Low)
                .step(Lane::A, one, format!("counts itself in {thing}"))
                .step(Lane::X, one, "the process ends")
                .step(Lane::A, other, format!("never sets the expiry: {thing} stays for ever"));
            issue.keys =
                entry.resource(count).and_then(|resource| key_of(entry, resource)).into_iter().collect();
            issues.push(issue);
        }
    }
    issues
}
