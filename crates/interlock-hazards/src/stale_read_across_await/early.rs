//! Publication before initialisation: what others ask for is set before the rest of what they use.
//!
//! Reported:
//! ```text
//! if (!this.client) {
//!   this.client = new Client();                     // reported here
//!   this.index = await this.client.load();          // who comes meanwhile finds a client and no index
//! }
//! return this.index.search(text);
//! if (!names) {
//!   names = new Map();                              // and here
//!   for (const row of await load()) names.set(row.id, row.name);   // who comes meanwhile finds it empty
//! }
//! ```
//! Not reported:
//! ```text
//! if (!this.ready) this.ready = this.connect();     // a promise that all wait for
//! await this.ready;
//! return this.index.search(text);
//! ```
//!
//! That two calls both set up is `duplicate-load`.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Callee, Exit, Field, Op, Resource, Root, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    lexicon::Topic,
    view::{At, Entry, Kinds, View},
    words,
};

use super::HAZARD;

/// One set-up that shows too early.
struct Early {
    /// The read that decides whether to set up.
    read: At,
    /// What makes the next read pass.
    shown: At,
    /// What is set last.
    last: At,
    /// Where it is used without a read of its own.
    used: At,
}

/// What is shown to others before all of it is set.
pub(super) fn early(view: &View<'_>) -> Vec<Issue> {
    let racing = view
        .entries_with(Kinds::CHECK)
        .filter(|entry| entry.runs_beside_itself() && entry.has(Kinds::WRITE) && entry.has(Kinds::READ));
    racing.filter_map(|entry| Some(issue(entry, &of_entry(entry)?))).collect()
}

fn of_entry(entry: &Entry<'_>) -> Option<Early> {
    let stores = |at: &At| {
        matches!(entry.op(*at), Some(Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, .. }))
            && !entry.control().is_recovery(*at)
    };
    entry.steps_of(Kinds::WRITE).filter(stores).find_map(|shown| {
        let (check, read) = asked_for(entry, shown)?;
        let behind = |last: &At| {
            *last > shown
                && !is_passed(entry, check, *last)
                && entry.control().leads_to(shown, *last) == Some(true)
                && entry.locks().race_window(shown, *last).is_some_and(|window| !window.is_locked())
        };
        let fills = |last: &At| is_filled(entry, shown, *last) && behind(last);
        if let Some(last) = entry.steps_of(Kinds::WRITE).find(fills) {
            let used = used_half(entry, check, shown, last).ok_or(Reason::AsksFirst);
            let used = entry.settle(&HAZARD.id, &[shown, last], used)?;
            return Some(Early { read, shown, last, used });
        }
        let last = entry.steps_of(Kinds::WRITE).filter(stores).find(|last| {
            is_opaque_result(entry, *last) && is_disjoint(entry, shown, *last) && behind(last)
        })?;
        let used = used_unseen(entry, check, last).ok_or(Reason::AsksFirst);
        let used = entry.settle(&HAZARD.id, &[shown, last], used)?;
        Some(Early { read, shown, last, used })
    })
}

/// The check that is made whether something is there, and the read of it, where a step sets it before anybody else can look.
fn asked_for(entry: &Entry<'_>, shown: At) -> Option<(At, At)> {
    let Some(Resource::Shared(location)) = entry.resource(shown) else { return None };
    if !entry.alias().is_shared(location) || stands_for_work(entry, shown, location) {
        return None;
    }
    entry.control().control_dependences(shown).iter().rev().copied().find_map(|check| {
        let Some(Op::Check { on, equal: None, .. }) = entry.op(check) else { return None };
        let ([_], Some(false)) = (on.as_slice(), entry.control().answer(check, shown)) else { return None };
        let same =
            |read: &At| matches!(entry.resource(*read), Some(Resource::Shared(seen)) if seen == location);
        let read = entry.flow().checked_reads(check).find(same)?;
        (entry.control().leads_to(read, shown) == Some(false)).then_some((check, read))
    })
}

/// Whether what is set is the work under way, or says that it is: who finds it waits for the rest, or leaves.
fn stands_for_work(entry: &Entry<'_>, shown: At, location: &AccessPath) -> bool {
    let name = match (location.fields.last(), &location.root) {
        (Some(Field::Name(name)), _) | (None, Root::Global(name)) => name,
        _ => return true,
    };
    let words = words(name.rsplit("::").next().unwrap_or_default());
    let says = words.iter().any(|word| word.ends_with("ing") || entry.lexicon().has(Topic::Work, word));
    let Some(Op::Write { from, .. }) = entry.op(shown) else { return true };
    says || from.iter().any(|value| is_promise(entry, *value))
}

/// Whether a value is what a function that runs on has given at once.
fn is_promise(entry: &Entry<'_>, value: Value) -> bool {
    match entry.flow().definition_site(value).and_then(|made| entry.op(made)) {
        Some(Op::Call {
            callee: Callee::Function(id) | Callee::Closure { function: id, .. },
            awaited: false,
            ..
        }) => entry.program.function(*id).is_some_and(|function| function.asynchronous),
        _ => false,
    }
}

/// Whether a step puts something in place that was worked out, and not only when.
fn is_opaque_result(entry: &Entry<'_>, at: At) -> bool {
    let Some(Op::Write { from, .. }) = entry.op(at) else { return false };
    let shared = matches!(entry.resource(at), Some(Resource::Shared(path)) if {
        entry.alias().is_shared(path) && !path.fields.iter().any(|field| matches!(field, Field::At(_)))
    });
    shared && !from.is_empty() && !entry.flow().is_time(from)
}

fn is_disjoint(entry: &Entry<'_>, one: At, other: At) -> bool {
    entry.alias().overlap(one, other).is_none()
}

/// A use of what is set last, or of something in it, by a call that has found the first and asks for nothing else.
fn used_unseen(entry: &Entry<'_>, check: At, last: At) -> Option<At> {
    let Some(Resource::Shared(location)) = entry.resource(last) else { return None };
    let within = |at: &At| match entry.op(*at) {
        Some(Op::Call { receiver: Some(object), .. }) => {
            entry.alias().resolve_path(object).begins_with(location)
        }
        _ => matches!(entry.resource(*at), Some(Resource::Shared(seen)) if seen.begins_with(location)),
    };
    let reads: Vec<At> = entry.steps_of(Kinds::READ | Kinds::CALL).filter(within).collect();
    // Whoever asks whether it is there knows that it may not be.
    let itself = |value: &Value| {
        let seen = |read: &At| {
            entry.resource(*read) == entry.resource(last)
                && matches!(entry.op(*read), Some(Op::Read { into, .. }) if into == value)
        };
        entry.alias().resolve_path(&(*value).into()) == *location || reads.iter().any(seen)
    };
    let asks = |op: &Op| matches!(op, Op::Check { on, .. } if on.iter().any(itself));
    if reads.is_empty() || entry.all(Kinds::CHECK, asks).next().is_some() {
        return None;
    }
    let passes = entry.control().branch(check, true);
    reads.into_iter().find(|read| {
        *read > check
            && is_passed(entry, check, *read)
            && passes.iter().any(|at| at == read || entry.control().leads_to(*at, *read).is_some())
    })
}

/// Whether a step may run after the check succeeded. A `return` inside an inlined helper ends only the helper, so the steps of its
/// caller run as well.
fn is_passed(entry: &Entry<'_>, check: At, at: At) -> bool {
    !entry.runs_inside_of(check, at) || entry.control().answer(check, at) != Some(false)
}

/// Whether the published map or object is empty at first and a later step fills it.
fn is_filled(entry: &Entry<'_>, shown: At, last: At) -> bool {
    let (Some(Resource::Shared(whole)), Some(Resource::Shared(part))) =
        (entry.resource(shown), entry.resource(last))
    else {
        return false;
    };
    let Some(Op::Write { from, mode: WriteMode::Blind | WriteMode::Append, .. }) = entry.op(last) else {
        return false;
    };
    let inside = part.begins_with(whole)
        && (part.fields.len() > whole.fields.len()
            || matches!(entry.op(last), Some(Op::Write { mode: WriteMode::Append, .. })));
    let is_empty = matches!(entry.op(shown), Some(Op::Write { from, .. }) if from.iter().all(|value| entry.flow().sources(*value).is_empty()));
    inside && is_empty && !from.is_empty()
}

/// A use of what is being filled, by a call that has found it.
fn used_half(entry: &Entry<'_>, check: At, shown: At, last: At) -> Option<At> {
    let Some(Resource::Shared(location)) = entry.resource(shown) else { return None };
    let passes = entry.control().branch(check, true);
    // Under its own name, or as what a function gave that has looked at it.
    let is_it = |value: Value| {
        entry.flow().sources(value).iter().any(|read| entry.resource(*read) == entry.resource(shown))
    };
    let inside = |at: &At| match entry.resource(*at) {
        Some(Resource::Shared(AccessPath { root: Root::Value(value), fields })) => {
            !fields.is_empty() && is_it(*value)
        }
        Some(Resource::Shared(seen)) => {
            seen.begins_with(location) && seen.fields.len() > location.fields.len()
        }
        _ => false,
    };
    // Who is given it looks into it.
    let gives = |at: &At| match entry.op(*at) {
        Some(Op::Exit(Exit::Return(values))) => {
            entry.control().answer(check, *at) == Some(true) && values.iter().any(|value| is_it(*value))
        }
        _ => false,
    };
    let used = entry.steps_of(Kinds::READ).filter(inside).find(|read| {
        *read > check
            && is_passed(entry, check, *read)
            && passes.iter().any(|at| at == read || entry.control().leads_to(*at, *read).is_some())
    });
    match used {
        Some(used) if fills_itself(entry, used, last) => None,
        used => used.or_else(|| (check + 1..shown).find(gives)),
    }
}

/// Whether a call asks whether it is filled, and fills it in the same way where it is not: `if (!this.ready) await this.fill()`. It goes on
/// with what is there then.
fn fills_itself(entry: &Entry<'_>, used: At, last: At) -> bool {
    let Some(Op::Read { into, .. }) = entry.op(used) else { return false };
    let asks = |op: &Op| matches!(op, Op::Check { on, equal: None, .. } if on.as_slice() == [*into]);
    let mut asked = entry.all(Kinds::CHECK, asks).filter(|asked| *asked > used);
    asked.any(|asked| {
        let fills = |fill: At| {
            entry.control().answer(asked, fill) == Some(false)
                && entry.function_of(fill) == entry.function_of(last)
        };
        entry.steps_of(Kinds::WRITE).any(fills)
    })
}

fn issue(entry: &Entry<'_>, early: &Early) -> Issue {
    let Early { read, shown, last, used } = *early;
    if is_filled(entry, shown, last) {
        return half(entry, early);
    }
    let (first, rest) = (entry.thing(shown), entry.thing(last));
    // It is reported where it is set up, whoever uses it.
    let story = [read, shown, last];
    let message = format!(
        "{first} is set before {rest} is, with a wait in between, so a call that comes meanwhile finds {first} and goes on without {rest}"
    );
    Issue::at(entry, shown, &story, Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, entry.position(shown, &story), format!("sets {first}, and waits for the rest"))
        .step(Lane::B, entry.position(read, &story), format!("finds {first}, and goes on"))
        .step(Lane::B, entry.span(used), format!("uses {rest}, which is not there yet"))
        .step(Lane::A, entry.position(last, &story), format!("sets {rest}"))
}

fn half(entry: &Entry<'_>, early: &Early) -> Issue {
    let Early { read, shown, last, used } = *early;
    let thing = entry.thing(shown);
    let story = [read, shown, last];
    let message = format!(
        "{thing} is there before it is filled, with a wait in between, so a call that comes meanwhile finds it and goes on with what is not \
         in it yet"
    );
    Issue::at(entry, shown, &story, Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(
            Lane::A,
            entry.position(shown, &story),
            format!("sets {thing}, and waits for what belongs there"),
        )
        .step(Lane::B, entry.position(read, &story), format!("finds {thing}, and goes on"))
        .step(Lane::B, entry.span(used), format!("looks into {thing}, which is empty yet"))
        .step(Lane::A, entry.position(last, &story), format!("fills {thing}"))
}
