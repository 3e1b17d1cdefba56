//! Read, compare, then count; or count and expiry apart.

use interlock_model::{
    Lane, Severity,
    ir::{AccessPath, Aspect, Effect, Exit, Field, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue,
    claim::is_claimed,
    clash::{Clash, clashes},
    fields::mentions,
    keys::key_of,
    view::{At, Entry, Kinds, Overlap, View},
    words::words,
};

/// What limits are called.
const LIMITS: &[&str] = &[
    "rate", "limit", "quota", "throttle", "window", "bucket", "hits", "attempt", "requests", "calls", "usage",
];

/// What is called so counts calls if it is compared in order to refuse one.
const UNDER_WAY: &[&str] = &["inflight", "in_flight", "concurrent", "active", "running"];

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let found = clashes(view);
    let mut issues: Vec<Issue> = found
        .iter()
        .filter(|clash| claims(view, clash))
        .map(|clash| overrun(clash, &clash.thing()))
        .collect();
    let racing = || view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    issues.extend(
        racing()
            .flat_map(|entry| fills_up(view, entry))
            .map(|clash| overrun(&clash, &clash.entry.thing(clash.look))),
    );
    issues.extend(racing().flat_map(without_expiry));
    issues
}

/// Whether it is a count that is compared and then raised.
pub(crate) fn claims(_view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    if clash.check.is_none() || counts_first(clash) {
        return false;
    }
    let counts = match clash.entry.op(clash.act) {
        Some(Op::Write { mode: WriteMode::Atomic, .. }) => true,
        // A count that is looked at again when it is raised is right, and still was not what was compared.
        Some(Op::Write { mode: WriteMode::Blind, to: Resource::Shared(_), .. }) => clash.fed_at_all,
        Some(Op::Write { mode: WriteMode::Blind, .. } | Op::Rename { .. }) => clash.fed,
        _ => false,
    };
    let adds = matches!(clash.entry.op(clash.act), Some(Op::Write { mode: WriteMode::Exclusive, .. }));
    match clash.resource() {
        // A counter in Redis that is compared and then raised limits something, whatever it is called.
        Some(Resource::Key(_))
            if matches!(clash.entry.op(clash.act), Some(Op::Write { mode: WriteMode::Atomic, .. })) =>
        {
            true
        }
        Some(resource) => {
            let under_way = || is_named_so(clash.entry, resource, UNDER_WAY);
            (counts || adds)
                && (is_limit(clash.entry, resource) || refuses(clash.entry, clash.check) && under_way())
                || counts_later(clash)
        }
        None => false,
    }
}

/// Whether a change raises a count of calls: what goes by the name of a limit, and was read before. It is off by one at worst, and
/// nothing else has to follow it.
pub(crate) fn counts_calls(entry: &Entry<'_>, at: At) -> bool {
    let raises = match entry.op(at) {
        Some(Op::Write { mode: WriteMode::Atomic, .. }) => true,
        Some(Op::Write { mode: WriteMode::Blind, .. }) => {
            entry.fed_by(at).iter().any(|look| entry.overlap(*look, at).is_some())
        }
        _ => false,
    };
    raises && matches!(entry.resource(at), Some(resource @ Resource::Key(_)) if is_limit(entry, resource))
}

/// Whether something goes by the name of a limit, if only by its initials.
fn is_limit(entry: &Entry<'_>, resource: &Resource) -> bool {
    let initials = |key: &Term| words(&entry.text(&entry.spell(key))).iter().any(|word| word == "rl");
    is_named_so(entry, resource, LIMITS) || matches!(resource, Resource::Key(key) if initials(key))
}

/// Whether a file is read and compared with a limit, and read again when the call counts itself in it: nothing is lost then, and still
/// was what was compared out of date.
fn counts_later(clash: &Clash<'_, '_>) -> bool {
    let Clash { entry, look, act, .. } = clash;
    if clash.fed || !clash.fed_at_all {
        return false;
    }
    let Some(check) = clash.check else { return false };
    let (Some(Op::Check { on, .. }), Some(Resource::File(_))) = (entry.op(check), entry.resource(*act))
    else {
        return false;
    };
    // Whoever is over the limit does not come this far.
    let refuses = entry.answer(check, *act).is_some() && !entry.encloses(check, *act);
    let home = entry.function_name(entry.function_of(*look));
    let asked = entry.function_name(entry.function_of(check));
    let says =
        |name: &str| words(name.rsplit('.').next().unwrap_or_default()).iter().any(|word| says_limit(word));
    let compares = || {
        let named = |value: &Value| {
            says(entry.name_of(*value)) || entry.field_of(*value).is_some_and(|field| says(&field))
        };
        entry.made_of(on).iter().any(named)
    };
    refuses && (says(&home) || says(&asked) || compares())
}

/// Whether a word is what limits are called, and not only has it inside, as "migrate" has "rate".
fn says_limit(word: &str) -> bool {
    LIMITS.iter().any(|limit| {
        word.strip_prefix(limit).is_some_and(|rest| matches!(rest, "" | "s" | "er" | "ing" | "ed"))
    })
}

/// Whether a call has counted itself right before it compares: what it writes after its work is that it is gone.
fn counts_first(clash: &Clash<'_, '_>) -> bool {
    let Clash { entry, look, act, .. } = clash;
    let counts = entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. }));
    counts.filter(|count| count < look).any(|count| {
        entry.overlap(count, *act) == Some(Overlap::Sure)
            && entry.judges(*look).starts_with(entry.judges(count))
            && entry.leads_to(count, *look) == Some(false)
    })
}

/// A collection that is refused to grow beyond a size, and then grows: `if (sessions.size >= MOST) throw …`, or a list or set in a
/// store.
fn fills_up<'v, 'e>(view: &'v View<'e>, entry: &'v Entry<'e>) -> Vec<Clash<'v, 'e>> {
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
        let checks = entry.judges(act).iter().copied().filter(|check| named || refuses(entry, Some(*check)));
        for (check, look) in checks.flat_map(|check| entry.looks(check).map(move |look| (check, look))) {
            let counted = match one {
                Resource::Shared(one) => is_number_of(entry, look, one),
                _ => is_size_of(entry, look, act),
            };
            if !counted || is_claimed(view, entry, look, act) {
                continue;
            }
            let Some(reach) = view.reach(entry, look, act) else { continue };
            let (check, overlap) = (Some(check), Overlap::Sure);
            found.push(Clash { entry, look, act, check, fed: false, fed_at_all: false, overlap, reach });
        }
    }
    found
}

/// Whether a look is at how many entries the list or set in a store has that an act adds one to.
fn is_size_of(entry: &Entry<'_>, look: At, act: At) -> bool {
    matches!(entry.op(look), Some(Op::Read { aspect: Aspect::Total, .. }))
        && entry.overlap(look, act) == Some(Overlap::Sure)
}

/// Whether a look is at how many there are of what something is one of.
fn is_number_of(entry: &Entry<'_>, look: At, one: &AccessPath) -> bool {
    match (entry.op(look), entry.resource(look)) {
        (Some(Op::Read { into, .. }), Some(Resource::Shared(all))) => {
            matches!(entry.name_of(*into), "size" | "length")
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

fn is_named_so(entry: &Entry<'_>, resource: &Resource, words: &[&str]) -> bool {
    match resource {
        Resource::Key(key) => {
            // Today's date in a key does not hide what the rest of it says.
            let text = entry.text(&entry.spell(key));
            // A store of objects is called a bucket as well, and that says nothing of what is in it.
            match text.split_once('#') {
                Some((store, key)) => {
                    mentions(key, words) || mentions(&store.to_lowercase().replace("bucket", ""), words)
                }
                None => mentions(&text, words),
            }
        }
        Resource::File(key) => mentions(&entry.text(key), words),
        Resource::Row { table, .. } => mentions(&entry.text(table), words),
        Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => {
            let named = |field: &Field| match field {
                Field::Name(name) => mentions(name, words),
                Field::At(_) => false,
            };
            let root = match &path.root {
                Root::Global(name) => mentions(name.rsplit("::").next().unwrap_or_default(), words),
                Root::Value(value) => mentions(entry.name_of(*value), words),
                Root::This => false,
            };
            root || path.fields.iter().any(named)
        }
    }
}

fn overrun(clash: &Clash<'_, '_>, thing: &str) -> Issue {
    let message = format!(
        "{thing} is read, compared and then counted in separate steps, so calls at once all pass the limit"
    );
    clash.told(
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
        let counts =
            entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { mode: WriteMode::Atomic, .. })).filter(
                |count| entry.overlap(*count, expiry).is_some() && entry.leads_to(*count, expiry).is_some(),
            );
        for count in counts {
            // In one transaction both happen or neither, and what nothing waits between goes out together.
            if entry.gap(count, expiry).is_none_or(|gap| gap.transaction || !gap.suspends) {
                continue;
            }
            let thing = entry.thing(count);
            let message = format!(
                "{thing} is counted in one command and given its expiry in another, so a crash in between leaves a count that never \
                 runs out and locks its caller out for good"
            );
            let (one, other) = (entry.place(count, &[expiry]), entry.place(expiry, &[count]));
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
