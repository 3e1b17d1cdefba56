//! State in memory that is read before a suspension and trusted after it.

use interlock_model::{
    Confidence, Lane, Reach, Severity,
    ir::{AccessPath, Argument, Field, Fresh, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue,
    claim::passes_once,
    clash::{Clash, clashes},
    duplicate_load, lost_update, non_atomic_rate_limit, shared_session_state,
    view::{At, Entry, Kinds, Piece, Runs, View},
};

use super::{
    early::early,
    emptied::emptied,
    twice::{self, is_used_twice},
};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let found = clashes(view);
    let claimed = found.iter().filter(|clash| {
        claims(clash)
            && !non_atomic_rate_limit::rule::claims(view, clash)
            && !shared_session_state::rule::claims(view, clash)
            && !duplicate_load::rule::claims(view, clash)
    });
    let mut claimed: Vec<&Clash<'_, '_>> = claimed.collect();
    // What is kept in memory of a file or a record is read and written along with it: one story, and the other one outlasts this.
    if !claimed.is_empty() {
        let lost = found.iter().filter(|clash| lost_update::rule::claims(view, clash));
        let lost: Vec<_> = lost.map(|clash| (clash.look_span(), clash.act_span())).collect();
        claimed.retain(|clash| !lost.contains(&(clash.look_span(), clash.act_span())));
    }
    // Several parts of one thing that are read before it is replaced are one story, told from the first of them.
    claimed.dedup_by(|next, first| {
        std::ptr::eq(next.entry, first.entry)
            && next.act == first.act
            && next.entry.function_of(next.look) == first.entry.function_of(first.look)
    });
    let told = |entry: &Entry<'_>, act: At| {
        claimed.iter().any(|clash| std::ptr::eq(clash.entry, entry) && clash.act == act)
    };
    let lost = emptied(view, told);
    let mut issues: Vec<Issue> = claimed.into_iter().map(issue).chain(lost).collect();
    let spent = found
        .iter()
        .filter(|clash| spends(clash) && !claims(clash) && !non_atomic_rate_limit::rule::claims(view, clash));
    issues.extend(spent.map(overspent));
    let twice =
        found.iter().filter(|clash| is_used_twice(clash) && !duplicate_load::rule::claims(view, clash));
    issues.extend(twice.map(twice::issue));
    issues.extend(view.entries_with(Kinds::WRITE).flat_map(overtaken));
    issues.extend(early(view));
    issues
}

fn claims(clash: &Clash<'_, '_>) -> bool {
    let Some(Resource::Shared(path)) = clash.resource() else { return false };
    clash.entry.is_shared(path) && shared_session_state::rule::replaces(clash)
}

/// Whether something is compared with an amount, and changed by that amount from what stands there after the wait: nothing is lost, and
/// still was what was compared out of date.
fn spends(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let Some(Resource::Shared(path)) = clash.resource().filter(|_| !clash.fed && clash.fed_at_all) else {
        return false;
    };
    let (Some(Op::Check { on, equal: None, .. }), Some(Op::Write { from, mode: WriteMode::Blind, .. })) =
        (clash.check.and_then(|check| entry.op(check)), entry.op(clash.act))
    else {
        return false;
    };
    let amount = |value: &&Value| !entry.sources(**value).contains(&clash.look);
    let taken = |value: &Value| {
        let name = entry.resolve(&(*value).into());
        from.iter().any(|other| entry.resolve(&(*other).into()) == name)
    };
    let own = |value: &Value| !entry.is_shared(&(*value).into());
    entry.is_shared(path)
        && (on.iter().filter(amount).any(|value| own(value) && taken(value))
            || counts(clash, on, from) && !is_taken_at_once(clash))
}

/// Whether something is compared with what is written in the source, and then counted: `if (seats > 0) { await pay(); seats--; }`.
fn counts(clash: &Clash<'_, '_>, on: &[Value], from: &[Value]) -> bool {
    let entry = clash.entry;
    let Some(Resource::Shared(path)) = clash.resource() else { return false };
    // On the way to a place one comes by those that it is a part of.
    let leads_there =
        |at: &At| matches!(entry.resource(*at), Some(Resource::Shared(whole)) if path.begins_with(whole));
    let seen = |value: &Value, is_look: &dyn Fn(&At) -> bool| {
        let sources = entry.sources(*value);
        sources.iter().any(is_look) && sources.iter().all(leads_there)
    };
    let is_look = |value: &Value| seen(value, &|at| *at == clash.look);
    let again = |value: &Value| {
        seen(value, &|at| *at > clash.look && entry.resource(*at) == clash.resource())
            && !entry.sources(*value).contains(&clash.look)
    };
    // That it has failed is counted however many of them fail at once.
    !entry.is_recovery(clash.act)
        && !on.is_empty()
        && on.iter().all(is_look)
        && !from.is_empty()
        && from.iter().all(again)
}

/// Whether the same thing is changed right before the look or after it as well, while nobody else runs: what is changed later gives that back.
fn is_taken_at_once(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    entry.steps_of(Kinds::WRITE).any(|write| {
        write != clash.act
            && entry.resource(write) == clash.resource()
            && entry.leads_to(write, clash.act).is_some()
            && [(clash.look, write), (write, clash.look)]
                .into_iter()
                .any(|(first, second)| entry.leads_to(first, second) == Some(false))
    })
}

fn overspent(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.thing();
    let message = format!(
        "{thing} is compared before a suspension and changed after it, so two calls at once both pass the comparison"
    );
    clash.told(
        message,
        &format!("reads {thing}, and passes"),
        &format!("changes {thing}"),
        "it passed on what A has already used up",
    )
}

fn issue(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.thing();
    let message = format!(
        "{thing} is read before a suspension and trusted after it, so what another call has written meanwhile is overwritten"
    );
    clash.told(message, &format!("reads {thing}"), &format!("writes {thing}"), "A's change is gone")
}

/// Two notifications at once, each of which asks for the newest state and then stores it: the older answer may be stored last.
fn overtaken(entry: &Entry<'_>) -> Vec<Issue> {
    let notified =
        matches!(entry.runs, Runs::Event) || matches!(entry.runs, Runs::Call(tools) if tools.is_empty());
    if !notified {
        return vec![];
    }
    let stores = entry.all(Kinds::WRITE, |op| {
        matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, .. })
    });
    // What one answer sets at several places is one story.
    let mut late: Vec<(At, Issue)> = stores.filter_map(|store| stored_late(entry, store)).collect();
    late.dedup_by_key(|(asked, _)| *asked);
    late.into_iter().map(|(_, issue)| issue).collect()
}

/// Whether an answer that is stored has to do with what the handler was called with: of two of those none is an older state of the
/// other.
fn is_its_own(entry: &Entry<'_>, asked: At, store: At) -> bool {
    let mut values = match entry.op(asked) {
        Some(Op::Call { arguments, .. }) => arguments.iter().flat_map(Argument::mentioned).collect(),
        Some(Op::External { service, .. }) => service.mentioned(),
        Some(Op::Read { of: Resource::File(name) | Resource::Key(name), .. }) => name.mentioned(),
        Some(Op::Read { of: Resource::Row { key, .. }, .. }) => key.mentioned(),
        _ => vec![],
    };
    if let Some(Op::Write { from, .. }) = entry.op(store) {
        values.extend(from);
    }
    entry.made_of(&values).into_iter().any(|value| entry.is_handed_over(value))
}

/// Whether something is kept under a name that this call has made up: no other call stores there.
fn is_under_own_name(entry: &Entry<'_>, path: &AccessPath) -> bool {
    path.fields.iter().any(|field| match field {
        Field::At(Term::Path(key)) => {
            key.fields.is_empty() && entry.is_made_here(key)
                || is_begun_here(entry, key)
                || parts(entry, key).any(|part| is_made_up(entry, &part.into()))
        }
        Field::At(key) => is_made_up(entry, key),
        Field::Name(_) => false,
    })
}

/// Whether there is something in a name that is never the same twice.
fn is_made_up(entry: &Entry<'_>, name: &Term) -> bool {
    let fresh = |piece: &Piece| matches!(piece, Piece::Fresh(Fresh::Random | Fresh::Counter | Fresh::Time));
    entry.pattern(name).0.iter().any(fresh)
}

/// What a name was made from: all of it, or what an object that was put together here has under it. `{ code, owner }` has `code` under
/// `code`.
fn parts<'e>(entry: &'e Entry<'_>, path: &AccessPath) -> impl Iterator<Item = Value> + 'e {
    let (whole, under) = match (&path.root, path.fields.as_slice()) {
        (Root::Value(whole), []) => (entry.made_of(&[*whole]), None),
        (Root::Value(whole), [Field::Name(name)]) => (entry.made_of(&[*whole]), Some(name.clone())),
        _ => (vec![], None),
    };
    let fits = move |value: &Value| under.as_ref().is_none_or(|name| entry.name_of(*value) == &**name);
    whole.into_iter().filter(fits)
}

/// Whether a name is that of a session which something that this call has made stands for.
fn is_begun_here(entry: &Entry<'_>, key: &AccessPath) -> bool {
    match (&key.root, key.fields.as_slice()) {
        (Root::Value(made), [Field::Name(name)]) => &**name == "sessionId" && entry.is_constructed(*made),
        _ => false,
    }
}

/// Whether a step adds to what is there: in whatever order the answers come, all of them count. What was there is no older than the
/// answer; if it is, that is another story.
fn adds_on(entry: &Entry<'_>, store: At) -> bool {
    let same =
        |from: &At| matches!(entry.op(*from), Some(Op::Read { .. })) && entry.overlap(*from, store).is_some();
    entry.fed_by(store).iter().any(same)
}

/// The question whose answer a step stores, and what to say of it.
fn stored_late(entry: &Entry<'_>, store: At) -> Option<(At, Issue)> {
    let Some(Resource::Shared(path)) = entry.resource(store) else { return None };
    if !entry.is_shared(path) || is_under_own_name(entry, path) || adds_on(entry, store) {
        return None;
    }
    let asks = |from: &At| match entry.op(*from) {
        // What a request brings along is its own, whenever it is read; no later request brings a newer one.
        Some(Op::Call { receiver: Some(AccessPath { root: Root::Value(of), .. }), .. })
            if entry.is_handed_over(*of) =>
        {
            false
        }
        Some(Op::External { .. } | Op::Call { awaited: true, .. }) => true,
        Some(Op::Read { of, .. }) => !matches!(of, Resource::Shared(_) | Resource::Flag(_)),
        _ => false,
    };
    let late = |from: &At| entry.gap(*from, store).is_some_and(|gap| gap.suspends && !gap.is_locked());
    // The nearest question tells the story best: it stands where the answer is stored.
    let asked =
        entry.fed_by(store).iter().rev().filter(|from| asks(from)).find(|from| late(from)).copied()?;
    if is_its_own(entry, asked, store) {
        return None;
    }
    // What is only set where it was missing, or by the first to come, is loaded twice at worst.
    if entry.judged_by(store).any(|(_, look)| passes_once(entry, look)) {
        return None;
    }
    let thing = entry.thing(store);
    let (one, other) = (entry.place(asked, &[store]), entry.place(store, &[asked]));
    let message = format!(
        "{thing} is set from an answer that was asked for before a suspension, so where two of them are under way the older answer may win"
    );
    let issue = Issue::at(entry, store, &[asked], Reach::InProcess, message)
        .only(Severity::Low)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, one, "asks, and is told the old state")
        .step(Lane::B, one, "asks, and is told the new state")
        .step(Lane::B, other, format!("sets {thing} to the new state"))
        .step(Lane::A, other, format!("sets {thing} to the old state, and it stays"));
    Some((asked, issue))
}
