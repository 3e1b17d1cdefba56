//! A transaction on a connection that all calls share: what another call sends meanwhile is a part of it.
//!
//! Reported:
//! ```text
//! await db.run("BEGIN");                            // reported here: db is one connection for all calls
//! await db.run("UPDATE …");
//! await db.run("COMMIT");
//! ```
//! Not reported:
//! ```text
//! const client = await pool.connect();              // a connection of this call's own
//! await client.query("BEGIN");
//! ```
//!
//! Libraries that queue transactions on one connection by themselves do not lower to a plain begin.

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{AccessPath, Op, Resource, Root, Via},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds, Runs},
};

use super::HAZARD;

/// A transaction that is begun and ended by statements of its own on one connection for all calls, with room for others in between.
pub(super) fn mixed(entry: &Entry<'_>) -> Vec<Issue> {
    let mut found: Vec<(Span, Issue)> = vec![];
    for begin in entry.steps_of(Kinds::OTHER) {
        let Some(Op::Begin { transaction }) = entry.op(begin) else { continue };
        let Via::Client(client) = entry.alias().via(&transaction.via) else { continue };
        let judge = || {
            unless(transaction.via.is_unknown(), Reason::OutOfScope)?;
            needs(is_for_all(entry, &client), Reason::OwnConnection)?;
            end_behind(entry, begin, &client)
        };
        let Some(end) = entry.settle(&HAZARD.id, &[begin], judge()) else { continue };
        let location = entry.position(begin, &[end]);
        if !found.iter().any(|(known, _)| *known == location) {
            let issue = issue(entry, begin, end, &client);
            // What is sent over something that was made of the connection may go another way.
            let is_sure = (begin + 1..end).any(|at| is_sent_over(entry, at, &client));
            found.push((location, if is_sure { issue } else { issue.no_surer_than(Confidence::Medium) }));
        }
    }
    found.into_iter().map(|(_, issue)| issue).collect()
}

/// Whether other calls are sure to send their statements over the same connection. Of a method that nothing calls it is not known
/// whose object it belongs to.
fn is_for_all(entry: &Entry<'_>, client: &AccessPath) -> bool {
    entry.alias().is_shared(client) && *entry.runs != Runs::Unreached
}

/// Where the transaction ends, if others can come in before that and something is done in it.
fn end_behind(entry: &Entry<'_>, begin: At, client: &AccessPath) -> Result<At, Reason> {
    let same = |via: &Via| matches!(entry.alias().via(via), Via::Client(other) if other == *client);
    let ends = entry.all(Kinds::OTHER, |op| matches!(op, Op::End { via, .. } if same(via)));
    // Where it has been ended before, what is ended here is another one.
    let mut ends = ends.filter(|end| {
        *end > begin && !entry.control().is_recovery(*end) && entry.locks().open(*end).contains(&begin)
    });
    let end =
        ends.find(|end| entry.control().leads_to(begin, *end) == Some(true)).ok_or(Reason::NoSuspension)?;
    let changes_row = |at: At| match entry.op(at) {
        Some(Op::Write { via: Some(via), .. } | Op::Delete { via: Some(via), .. }) => {
            matches!(entry.resource(at), Some(Resource::Row { .. })) && is_of_file(entry, via)
        }
        _ => false,
    };
    let inside = |at: At| is_sent_over(entry, at, client) || changes_row(at);
    needs((begin + 1..end).any(inside), Reason::OutOfScope)?;
    let alone = entry.locks().race_window(begin, end).is_none_or(|window| window.is_locked());
    unless(alone, Reason::HeldLock)?;
    Ok(end)
}

/// Whether a connection is a variable of a file, or in one. What a transaction hands to whoever works in it may be its own.
fn is_of_file(entry: &Entry<'_>, via: &Via) -> bool {
    let (Via::Client(path) | Via::Pool(path)) = entry.alias().via(via);
    let is_named = |name: &str| {
        let own = name.rsplit("::").next().unwrap_or(name);
        own.starts_with(|first: char| first.is_alphabetic() || first == '_')
    };
    matches!(&path.root, Root::Global(name) if is_named(name))
}

/// Whether a step is a statement on a connection.
fn is_sent_over(entry: &Entry<'_>, at: At, client: &AccessPath) -> bool {
    match entry.op(at) {
        Some(
            Op::Read { via: Some(via), .. }
            | Op::Write { via: Some(via), .. }
            | Op::Delete { via: Some(via), .. },
        ) => matches!(entry.alias().via(via), Via::Client(other) if other == *client),
        _ => false,
    }
}

fn issue(entry: &Entry<'_>, begin: At, end: At, client: &AccessPath) -> Issue {
    let client = entry.path_text(client);
    let (first, last) = (entry.position(begin, &[end]), entry.position(end, &[begin]));
    // A store of keys watches them for a connection, and forgets that with the next transaction on it, whoever it belongs to.
    let watches = (begin..end).any(|at| matches!(entry.resource(at), Some(Resource::Key(_))));
    if watches {
        let message = format!(
            "keys are watched on `{client}`, which all calls share, so a transaction of another call ends the watch, and what is changed \
             after that is not noticed"
        );
        return Issue::at(entry, begin, &[end], Reach::InProcess, message)
            .step(Lane::A, first, format!("begins to watch on `{client}`"))
            .step(Lane::B, last, format!("ends a transaction on `{client}`, and A's watch with it"))
            .step(Lane::A, last, "goes through, although what it saw has changed");
    }
    let message = format!(
        "a transaction is begun on `{client}`, which all calls share, so what another call changes meanwhile falls into it and is \
         committed or rolled back with it"
    );
    Issue::at(entry, begin, &[end], Reach::InProcess, message)
        .step(Lane::A, first, format!("begins a transaction on `{client}`"))
        .step(
            Lane::B,
            first,
            format!("sends its statements over `{client}` as well: they are in A's transaction"),
        )
        .step(Lane::A, last, "ends the transaction, with half of what B does in it")
}
