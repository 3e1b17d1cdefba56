//! A row is read and judged, then changed by a statement that does not repeat the judgement.

use interlock_model::{
    Confidence, Severity,
    ir::{Argument, Aspect, Effect, Exit, Name, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue, auth_check_then_act,
    clash::{Clash, clashes},
    fields::{is_in_cache, is_presence, notes_use, same_name},
    non_atomic_rate_limit,
    rows::{adds_row, has_in_common},
    view::{At, Entry, Kinds, Overlap, Pattern, View},
    words,
};

use super::{
    consumed::{self, is_used_up},
    unseen::unseen,
};

/// How many parts a number is followed back through.
const MOST_PARTS: usize = 16;

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let found = clashes(view);
    let claimed = found.iter().filter(|clash| {
        claims(view, clash)
            && !auth_check_then_act::rule::claims(view, clash)
            && !non_atomic_rate_limit::rule::claims(view, clash)
    });
    let claimed: Vec<&Clash<'_, '_>> = claimed.collect();
    let numbers = found.iter().filter(|clash| takes_the_next_number(clash));
    // A claim between a look and what is told of it is the same story.
    let told = |entry: &Entry<'_>, claim: At| {
        claimed
            .iter()
            .any(|clash| std::ptr::eq(clash.entry, entry) && (clash.look..=clash.act).contains(&claim))
    };
    let late = unseen(view, told);
    let once = found.iter().filter(|clash| is_used_up(clash) && !claims(view, clash));
    let told_once = once.filter(|clash| !auth_check_then_act::rule::claims(view, clash));
    let issues = claimed.iter().map(|clash| issue(clash)).chain(told_once.map(consumed::issue));
    issues.chain(numbers.map(same_number)).chain(late).collect()
}

/// Whether it is a judgement of what a row says, or of whether there is one before another is added.
pub(crate) fn claims(view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    if !matches!(clash.resource(), Some(Resource::Row { .. } | Resource::Key(_))) || clash.check.is_none() {
        return false;
    }
    if clash.is_repeated() || only_notes_use(clash) || clears_away(view, clash) || makes_anew(clash) {
        return false;
    }
    if is_in_cache(clash.entry, clash.act) {
        return false;
    }
    let judges_content = !clash.judged_fields().is_empty()
        || (matches!(clash.resource(), Some(Resource::Key(_))) && clash.fed);
    match clash.entry.op(clash.act) {
        Some(Op::Write { .. }) if adds_row(clash.entry, clash.act) => {
            adds_what_was_missing(clash) && !is_refused(clash)
        }
        Some(Op::Write {
            mode: WriteMode::Blind | WriteMode::Atomic | WriteMode::Conditional(_), ..
        }) => judges_content && !is_for_good(view, clash),
        Some(Op::Delete { .. }) => judges_content,
        _ => false,
    }
}

/// Whether a row is added under a number that comes after the last one there is, or after how many there are.
fn takes_the_next_number(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let adds = matches!(entry.op(clash.act), Some(Op::Write { mode: WriteMode::Exclusive, .. }));
    let Some(Op::Read { of: Resource::Row { .. }, aspect: Aspect::Total, into, .. }) = entry.op(clash.look)
    else {
        return false;
    };
    let Some(Op::Write { from, .. }) = entry.op(clash.act).filter(|_| adds && clash.fed) else {
        return false;
    };
    // Where it is tried again, a unique key is what decides.
    let tried_again = entry.loops(clash.act).iter().any(|head| entry.loops(clash.look).contains(head));
    !tried_again && from.iter().any(|value| is_number(entry, *value, clash.look, *into))
}

/// Whether a value is computed from what a look came to as a whole, or from a part of it that is called like a number.
fn is_number(entry: &Entry<'_>, value: Value, look: At, seen: Value) -> bool {
    let mut parts = vec![value];
    let mut next = 0;
    while let Some(part) = parts.get(next).copied() {
        next += 1;
        if !entry.sources(part).contains(&look) {
            continue;
        }
        let of_look = || is_of(entry, &entry.resolve_path(&part.into()).root, seen);
        match entry.field_of(part) {
            Some(_) if !of_look() => {}
            Some(field) if names_a_number(&field) || is_computed(entry, look, &field) => return true,
            Some(_) => {}
            None if part == seen => return true,
            None => parts.extend(entry.inputs(part).iter().filter(|input| **input != part).take(MOST_PARTS)),
        }
        if next > MOST_PARTS {
            break;
        }
    }
    false
}

/// Whether something is what a look came to, or all of it in another form: `cursor.toArray()`.
fn is_of(entry: &Entry<'_>, root: &Root, seen: Value) -> bool {
    let mut root = match root {
        Root::Value(value) => *value,
        _ => return false,
    };
    for _ in 0..4 {
        match entry.inputs(root) {
            _ if root == seen => return true,
            [only] => root = *only,
            _ => return false,
        }
    }
    false
}

/// Whether what a statement gives is no column that it looked at, but something that was made of one: `MAX(position) AS p`.
fn is_computed(entry: &Entry<'_>, look: At, field: &Name) -> bool {
    let columns = entry.columns(look).unwrap_or_default();
    !columns.is_empty() && !is_presence(field) && !columns.iter().any(|column| same_name(column, field))
}

/// Whether a column is called like a place in an order, or a result like a count.
fn names_a_number(field: &str) -> bool {
    const NUMBERS: [&str; 26] = [
        "max", "maximum", "count", "cnt", "total", "last", "next", "highest", "n", "c", "m", "position",
        "pos", "order", "sort", "sequence", "seq", "number", "num", "no", "index", "idx", "rank", "version",
        "revision", "serial",
    ];
    let words = words(field);
    words.last().is_some_and(|last| last != "id") && words.iter().any(|word| NUMBERS.contains(&word.as_str()))
}

/// Whether all that is changed is when something was used: two calls that both pass have both used it.
fn only_notes_use(clash: &Clash<'_, '_>) -> bool {
    let judged = clash.judged_fields();
    let only_use = |column: &Name| notes_use(column) && !judged.iter().any(|field| same_name(field, column));
    clash.entry.columns(clash.act).is_some_and(|columns| columns.iter().all(only_use))
}

/// Whether the row is made anew from something whose fingerprint it keeps, unless that is still the same: two calls that pass with the
/// same put the same there, and one with something else passes in whatever order they come.
fn makes_anew(clash: &Clash<'_, '_>) -> bool {
    const FINGERPRINTS: [&str; 12] = [
        "hash",
        "hashes",
        "sha",
        "sha1",
        "sha256",
        "md5",
        "crc",
        "digest",
        "checksum",
        "fingerprint",
        "etag",
        "mtime",
    ];
    let entry = clash.entry;
    let (Some(Op::Check { on, equal: None, .. }), Some(Op::Write { mode: WriteMode::Blind, from, .. })) =
        (clash.check.and_then(|check| entry.op(check)), entry.op(clash.act))
    else {
        return false;
    };
    let judged = clash.judged_fields();
    let is_fingerprint = |field: &Name| words(field).iter().any(|word| FINGERPRINTS.contains(&word.as_str()));
    if clash.fed || judged.is_empty() || !judged.iter().all(is_fingerprint) {
        return false;
    }
    let told = |value: Value| entry.resolve(&value.into());
    let new = on.iter().filter(|value| !entry.sources(**value).contains(&clash.look));
    new.into_iter().any(|new| from.iter().any(|put| put == new || told(*put) == told(*new)))
}

/// Whether what has run out by the clock is removed by somebody who then has no use for it: a second one removes nothing more. What
/// somebody may have prolonged meanwhile is another matter, and so is what is used up by removing it.
fn clears_away(view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let (Some(check), Some(Op::Delete { .. })) = (clash.check, entry.op(clash.act)) else { return false };
    let Some(Op::Check { on, then, otherwise, .. }) = entry.op(check) else { return false };
    let Some(way) = entry.answer(check, clash.act).filter(|_| entry.is_time(on)) else { return false };
    let uses_row = |yes: bool| {
        let behind = (check + 1..entry.steps.len()).filter(|at| entry.answer(check, *at) == Some(yes));
        let of_row = |value: &Value| entry.sources(*value).contains(&clash.look);
        behind.into_iter().any(|at| used_at(entry, at).iter().any(of_row))
    };
    let block = if way { then } else { otherwise };
    let refuses = matches!(block.last(), Some(Effect { op: Op::Exit(Exit::Throw), .. }));
    !uses_row(way) && (refuses || uses_row(!way)) && !is_changed(view, clash)
}

/// What a step goes by, hands on, keeps or gives back.
pub(super) fn used_at(entry: &Entry<'_>, at: At) -> Vec<Value> {
    match entry.op(at) {
        Some(
            Op::Check { on: values, .. } | Op::Exit(Exit::Return(values)) | Op::Write { from: values, .. },
        ) => values.clone(),
        Some(Op::Call { arguments, receiver, .. }) => {
            let mut used = vec![];
            receiver.iter().for_each(|path| path.mention(&mut used));
            for argument in arguments {
                match argument {
                    Argument::Term(term) => term.mention(&mut used),
                    Argument::Closure { captures, .. } => {
                        captures.iter().for_each(|term| term.mention(&mut used));
                    }
                }
            }
            used
        }
        _ => vec![],
    }
}

/// Whether what was judged is what such a row has for good, such as where it belongs: rows are made here, and nobody here changes that
/// afterwards. Then it is as true at the act as it was at the look.
fn is_for_good(view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    let Some(Resource::Row { table, .. }) = clash.resource() else { return false };
    let made = |entry: &Entry<'_>, at: At| {
        matches!(entry.op(at), Some(Op::Write { mode: WriteMode::Exclusive, .. }))
            && matches!(entry.resource(at), Some(Resource::Row { table: other, .. }) if other.names_the_same_as(table))
    };
    // What was judged of something that was taken out of a column is no column itself.
    let columns = clash.entry.columns(clash.look).unwrap_or_default();
    let is_column =
        |field: &Name| columns.is_empty() || columns.iter().any(|column| same_name(column, field));
    clash.judged_fields().iter().all(is_column)
        && clash.judges_columns()
        && !is_changed(view, clash)
        && any_write(view, made)
}

/// Whether somebody changes what was judged of such a row while it is there.
fn is_changed(view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    let judged = clash.judged_fields();
    let table = match clash.resource() {
        Some(Resource::Row { table, .. }) => table,
        Some(Resource::Key(key)) => return is_written_back(view, &clash.entry.pattern(key)),
        _ => return true,
    };
    let changes = |entry: &Entry<'_>, at: At| {
        let updates = matches!(entry.op(at), Some(Op::Write { mode, .. }) if *mode != WriteMode::Exclusive);
        // A table of which nothing is known may be this one.
        let same = matches!(entry.resource(at), Some(Resource::Row { table: other, .. })
            if other.names_the_same_as(table) || **other == Term::Unknown);
        updates
            && same
            && entry.columns(at).is_none_or(|columns| {
                columns.iter().any(|column| judged.iter().any(|field| same_name(field, column)))
            })
    };
    // Mostly it is the act itself, and then nobody else has to be asked.
    changes(clash.entry, clash.act) || any_write(view, changes)
}

/// Whether something is so of any step that writes, in whatever entry.
fn any_write(view: &View<'_>, is: impl Fn(&Entry<'_>, At) -> bool) -> bool {
    view.entries_with(Kinds::WRITE).any(|entry| entry.steps_of(Kinds::WRITE).any(|at| is(entry, at)))
}

/// Whether somebody reads a key and puts something else there that comes of it.
fn is_written_back(view: &View<'_>, key: &Pattern) -> bool {
    let writes_back = |entry: &Entry<'_>, at: At| {
        let same = matches!(entry.resource(at), Some(Resource::Key(other)) if entry.pattern(other).fits(key));
        same && entry.fed_by(at).iter().any(|read| entry.overlap(*read, at).is_some())
    };
    any_write(view, writes_back)
}

/// An insert behind a look that found nothing. Where the failure of the insert is dealt with, a unique key is what decides; where it is
/// only worded together with all else that may go wrong, there may still be one for what names the row.
fn adds_what_was_missing(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    if entry.is_recovery(clash.act) {
        return false;
    }
    let caught = entry.is_caught(clash.act);
    // What overwrites does not fail because there is a row.
    let can_fail = matches!(entry.op(clash.act), Some(Op::Write { mode: WriteMode::Exclusive, .. }));
    let is_dealt_with = can_fail && entry.is_dealt_with(clash.look, clash.act);
    match clash.overlap {
        Overlap::Sure => !is_dealt_with,
        Overlap::Maybe if !caught && entry.meets(clash.look, clash.act).is_some() => true,
        Overlap::Maybe => !is_dealt_with && !is_added_because_found(clash) && counts_if_total(clash),
    }
}

/// Whether the store itself lets only one of two calls add the row: what was looked for is a key of the table, and the new row has it.
/// The other one fails, as it would have if it had come later.
fn is_refused(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let looks_by_key = matches!(entry.op(clash.look), Some(Op::Read { unique: true, .. }));
    let Some(Op::Write { from, .. }) = entry.op(clash.act).filter(|_| looks_by_key) else { return false };
    clash.overlap == Overlap::Sure || has_in_common(entry, clash.look, clash.act, from)
}

/// Whether what was asked of all rows at once is whether there are any, or how many. When the last of them was added is none of it.
fn counts_if_total(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let Some(Op::Read { aspect: Aspect::Total, into, .. }) = entry.op(clash.look) else { return true };
    let Some(Op::Check { on, .. }) = clash.check.and_then(|check| entry.op(check)) else { return false };
    on.iter().any(|value| is_number(entry, *value, clash.look, *into))
}

/// Whether the row is added because the look has found something: it says yes or no, and yes leads here.
fn is_added_because_found(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let (Some(check), Some(Op::Read { into, .. })) = (clash.check, entry.op(clash.look)) else {
        return false;
    };
    let Some(Op::Check { on, equal: None, .. }) = entry.op(check) else { return false };
    let [only] = on.as_slice() else { return false };
    let counts =
        entry.field_of(*only).is_some_and(|field| is_presence(&field) && !matches!(&*field, "rows" | "data"));
    let found = entry.resolve_path(&(*only).into()).root == Root::Value(*into) && !counts;
    found && clash.judged_fields().is_empty() && entry.answer(check, clash.act) == Some(true)
}

fn same_number(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.entry.thing(clash.look);
    let message = format!(
        "the last number is taken from {thing} and a row with the next one is added by a statement of its own, so two calls at once add \
         two rows with the same number"
    );
    clash
        .told(
            message,
            &format!("asks {thing} for the last number"),
            "adds a row with the next",
            "both have the same number",
        )
        .no_surer_than(Confidence::Medium)
        .only(Severity::Medium)
}

fn issue(clash: &Clash<'_, '_>) -> Issue {
    let entry = clash.entry;
    let thing = entry.thing(clash.look);
    let inserts = adds_row(entry, clash.act);
    let counted = matches!(entry.op(clash.look), Some(Op::Read { aspect: Aspect::Total, .. }));
    if let (true, true, Some(Resource::Row { table, .. })) = (inserts, counted, entry.resource(clash.look)) {
        let table = entry.quoted(table);
        let message = format!(
            "what {table} holds is judged and a row is added by a statement of its own, so two calls at once both pass"
        );
        let look = format!("asks what {table} holds, and passes");
        return clash
            .told(message, &look, "adds a row", "it passed without A's")
            .no_surer_than(Confidence::Medium);
    }
    if inserts {
        let (what, look) = match entry.resource(clash.look) {
            Some(Resource::Row { table, .. }) => {
                let table = entry.quoted(table);
                (format!("a row of {table}"), format!("finds no such row in {table}"))
            }
            _ => (thing.clone(), format!("does not find {thing}")),
        };
        let message = format!(
            "{what} is looked for and then added by a statement of its own, so two calls at once add it twice"
        );
        return clash.told(message, &look, "adds it", "it is there twice").no_surer_than(Confidence::Medium);
    }
    let fields = clash.judged_fields();
    let judged = match (fields.first(), entry.columns(clash.look)) {
        (Some(field), Some([column])) if same_name(field, column) => thing.clone(),
        (Some(field), _) => format!("`{field}` of {thing}"),
        (None, _) => thing.clone(),
    };
    let message = format!(
        "{judged} is judged in one statement and changed in another that does not repeat the judgement, so two calls at once both pass"
    );
    clash.told(
        message,
        &format!("reads {thing}, and passes"),
        &format!("changes {}", clash.thing()),
        "it passed on what A had already used up",
    )
}
