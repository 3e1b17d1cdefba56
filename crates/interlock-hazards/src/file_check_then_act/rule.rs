//! A file is looked at by name, then used by name.

use std::{cell::LazyCell, collections::HashMap};

use interlock_model::{
    Confidence, Lane, Reach, Severity, Span,
    ir::{Aspect, Fresh, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue,
    clash::{Clash, clashes},
    fields::mentions,
    keys::key_of,
    view::{At, Entry, Kinds, Pattern, View},
};

use super::outdated::outdated;

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let found = clashes(view);
    let mut looks: Vec<&Clash<'_, '_>> = found.iter().filter(|clash| claims(clash)).collect();
    // Of several looks before one act the last is the one that was meant for it.
    looks.reverse();
    looks.dedup_by(|next, last| std::ptr::eq(next.entry, last.entry) && next.act == last.act);
    // A file whose content decides is told as that, if at all.
    looks.retain(|clash| clash.check.is_some_and(|check| !judges_content(clash, check)));
    let removed = LazyCell::new(|| removals(view));
    let told = |clash: &Clash<'_, '_>| match was_there(clash) {
        true => brought_back(clash, &removed),
        false => Some(issue(clash)),
    };
    let mut issues: Vec<Issue> = looks.into_iter().rev().filter_map(told).collect();
    let racing = view.entries_with(Kinds::READ).filter(|entry| entry.runs_beside_itself());
    issues.extend(racing.flat_map(followed_links));
    issues.extend(outdated(view, &found));
    issues
}

/// Whether the presence or the metadata of a file decided that it is written, moved or removed.
fn claims(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let looks = matches!(
        entry.op(clash.look),
        Some(Op::Read { aspect: Aspect::Existence | Aspect::Metadata, of: Resource::File(_), .. })
    );
    let by_name = match entry.op(clash.act) {
        Some(Op::Write { mode: WriteMode::Blind, .. }) => true,
        // Gone already: the loser is told so, unless it deals with that.
        Some(Op::Delete { .. }) => !entry.is_caught(clash.act),
        // So is who moves what is gone; who moves to where something has come to be meanwhile is told nothing.
        Some(Op::Rename { .. }) => {
            clash.check.is_some_and(|check| entry.answer(check, clash.act) == Some(false))
                || !entry.is_caught(clash.act)
        }
        _ => false,
    };
    // A file that is read, changed and written back is told as that.
    looks && clash.check.is_some() && by_name && !clash.fed_at_all && !puts_back(clash)
}

/// Whether an act puts back what this call has set aside before: a copy that was made of the file itself.
fn puts_back(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let is_copied = |copy: At| {
        let sets_aside = |write: At| {
            write < copy
                && entry.same_record(write, copy)
                && entry.fed_by(write).iter().any(|from| entry.overlap(*from, clash.act).is_some())
        };
        matches!(entry.resource(copy), Some(Resource::File(_)))
            && entry.steps_of(Kinds::WRITE).any(sets_aside)
    };
    entry.fed_by(clash.act).iter().any(|copy| is_copied(*copy))
}

/// Whether a file is written because it was found. Both of two calls find it, in whichever order they come, and the later one's
/// content stays.
fn was_there(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let (Some(Op::Write { .. }), Some(check)) = (entry.op(clash.act), clash.check) else { return false };
    // Who reads it in between writes what it has made of that.
    let reads = |step: At| {
        matches!(entry.op(step), Some(Op::Read { aspect: Aspect::Content, .. }))
            && entry.overlap(step, clash.act).is_some()
    };
    if (clash.look..clash.act).any(reads) {
        return false;
    }
    match (entry.op(check), entry.op(clash.look)) {
        // Who gets there without the attempt having failed has found it.
        (Some(Op::Try { .. }), _) => entry.works_before(check, clash.look, clash.act),
        (Some(Op::Check { on, .. }), Some(Op::Read { into, aspect: Aspect::Existence, .. })) => {
            on.as_slice() == [*into] && entry.answer(check, clash.act) == Some(true)
        }
        _ => false,
    }
}

/// The files that somebody removes or moves away, and where the first does.
fn removals(view: &View<'_>) -> HashMap<Pattern, Span> {
    let mut found = HashMap::new();
    let entries = view.entries_with(Kinds::DELETE | Kinds::RENAME).filter(|entry| entry.runs_beside_itself());
    for entry in entries {
        for at in entry.steps_of(Kinds::DELETE | Kinds::RENAME) {
            let gone = match entry.op(at) {
                Some(Op::Delete { of, .. }) => entry.resolve_resource(of),
                Some(Op::Rename { from, .. }) => entry.resolve_resource(from),
                _ => continue,
            };
            if let Resource::File(path) = gone {
                found.entry(entry.pattern(&path)).or_insert_with(|| entry.place(at, &[]));
            }
        }
    }
    found
}

/// A file that was found, is removed by another call, and is there again when it is written.
fn brought_back(clash: &Clash<'_, '_>, removed: &HashMap<Pattern, Span>) -> Option<Issue> {
    let Some(Resource::File(path)) = clash.resource() else { return None };
    let pattern = clash.entry.pattern(path);
    let gone = *removed.get(&pattern).filter(|_| pattern.fits(&pattern) && !pattern.is_open())?;
    let thing = clash.thing();
    let message = format!(
        "{thing} is looked for and then written by name, so one that another call removes in between comes back"
    );
    let issue = clash
        .issue(message)
        .only(Severity::Low)
        .step(Lane::A, clash.look_span(), format!("finds {thing}"))
        .step(Lane::B, gone, format!("removes {thing}"))
        .step(Lane::A, clash.act_span(), format!("writes {thing}: it is there again"));
    Some(issue)
}

/// Whether what the file says decides as well: the look was only for those who read it, and its answer is part of what was read.
fn judges_content(clash: &Clash<'_, '_>, check: At) -> bool {
    let entry = clash.entry;
    let Some(Op::Check { on, .. }) = entry.op(check) else { return false };
    // Whether there was anything to read is still a look.
    let judged: Vec<Value> = on.iter().copied().filter(|value| !entry.is_answer(*value)).collect();
    entry.sources_of(&judged).iter().any(|from| {
        matches!(entry.op(*from), Some(Op::Read { aspect: Aspect::Content, of: Resource::File(_), .. }))
            && entry.overlap(clash.look, *from).is_some()
    })
}

fn issue(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.thing();
    match clash.entry.op(clash.act) {
        Some(Op::Write { .. }) => {
            let there = clash.check.and_then(|check| clash.entry.answer(check, clash.act)) == Some(true);
            // What was asked of its metadata may have been anything.
            let (seen, lost) = if there {
                ("looks at", "overwrites what the other has just written")
            } else {
                ("does not find", "overwrites what the other has just created")
            };
            let message =
                format!("{thing} is looked for and then written by name, so of two calls at once one {lost}");
            clash.told(message, &format!("{seen} {thing}"), &format!("writes {thing}"), "A's content is gone")
        }
        Some(Op::Rename { .. }) => {
            let message = format!(
                "{thing} is looked for and then replaced by name, so of two calls at once one takes the other's place"
            );
            clash.told(
                message,
                &format!("does not find {thing}"),
                &format!("moves something to {thing}"),
                "A's is gone",
            )
        }
        _ => {
            let message = format!(
                "{thing} is looked for and then removed by name, so of two calls at once one fails on what the other has removed"
            );
            clash
                .told(
                    message,
                    &format!("finds {thing}"),
                    &format!("removes {thing}"),
                    "it is not there any more",
                )
                .only(Severity::Low)
        }
    }
}

/// Where a name leads is checked, then the name is opened again, and may lead elsewhere by then.
fn followed_links(entry: &Entry<'_>) -> Vec<Issue> {
    let mut issues = vec![];
    let looks: Vec<At> =
        entry.all(Kinds::READ, |op| matches!(op, Op::Read { aspect: Aspect::Target, .. })).collect();
    if looks.is_empty() {
        return issues;
    }
    for act in entry.all(Kinds::READ | Kinds::WRITE, follows_links).filter(|act| !is_unguessable(entry, *act))
    {
        // The nearest look is the one that was meant for this act.
        let look = looks
            .iter()
            .copied()
            .filter(|look| *look < act && leads_to_it(entry, *look, act) && is_judged(entry, *look, act))
            .max();
        let Some(look) = look else { continue };
        if entry.gap(look, act).is_none_or(|gap| gap.is_locked_across_processes())
            || is_compared(entry, look, act)
        {
            continue;
        }
        issues.push(swapped(entry, look, act));
    }
    issues
}

/// Opening for reading or writing goes where a link points; an exclusive creation, a rename and a removal do not.
fn follows_links(op: &Op) -> bool {
    matches!(
        op,
        Op::Read { of: Resource::File(_), aspect: Aspect::Content | Aspect::Total, .. }
            | Op::Write { to: Resource::File(_), mode: WriteMode::Blind | WriteMode::Append, .. }
    )
}

/// Whether nobody can have put a link under that name, because nobody knows it before.
fn is_unguessable(entry: &Entry<'_>, act: At) -> bool {
    fn has_chance(entry: &Entry<'_>, term: &Term) -> bool {
        match term {
            Term::Fresh(Fresh::Random) => true,
            Term::Join(parts) => parts.iter().any(|part| has_chance(entry, part)),
            Term::Path(path) => match path.root {
                Root::Value(value) => mentions(entry.name_of(value), &["random", "uuid", "nanoid"]),
                _ => false,
            },
            _ => false,
        }
    }
    match entry.resource(act) {
        Some(Resource::File(path)) => has_chance(entry, &entry.spell(path)),
        _ => false,
    }
}

/// Whether anything is decided by where the name leads before it is opened. That a name is made whole by following it, that there is
/// one at all, or that what was found there is looked at, is no check.
fn is_judged(entry: &Entry<'_>, look: At, act: At) -> bool {
    let opened = match entry.resource(act) {
        Some(Resource::File(path)) => entry.values_in(path),
        _ => vec![],
    };
    let Some(Op::Read { into: real, .. }) = entry.op(look) else { return false };
    let is_the_name = |value: Value| {
        entry.is_answer(value)
            && entry.depends_once_on(value, *real)
            && opened.iter().any(|name| entry.depends_on(*name, value))
    };
    let is_found_there = |from: &At| match entry.op(*from) {
        Some(Op::Read { of: Resource::File(_), aspect, .. }) => *from > look && *aspect != Aspect::Target,
        _ => false,
    };
    let decides = |op: &Op| match op {
        Op::Check { on, .. } => on.iter().any(|value| {
            let sources = entry.sources(*value);
            sources.contains(&look) && !sources.iter().any(is_found_there) && !is_the_name(*value)
        }),
        _ => false,
    };
    entry.all(Kinds::CHECK, decides).any(|check| look < check && check < act)
}

/// Whether what was opened is compared with what was looked at before anything comes of it: `fstat` of it has the number of the same file.
fn is_compared(entry: &Entry<'_>, look: At, act: At) -> bool {
    let mut opened = entry.all(Kinds::READ | Kinds::WRITE, follows_links).filter(|at| *at > look);
    let Some(first) = opened.find(|at| *at == act || entry.same_record(*at, act)) else { return false };
    let is_of_it = |from: &At| {
        let of_file =
            |op: &Op| matches!(op, Op::Read { aspect: Aspect::Metadata, of: Resource::File(_), .. });
        *from > first && entry.op(*from).is_some_and(of_file)
    };
    let compares = |op: &Op| match op {
        Op::Check { on, .. } => {
            let sources = entry.sources_of(on);
            sources.contains(&look) && sources.iter().any(is_of_it)
        }
        _ => false,
    };
    entry.all(Kinds::CHECK, compares).any(|check| check > first)
}

fn leads_to_it(entry: &Entry<'_>, look: At, act: At) -> bool {
    let Some(Op::Read { into, aspect: Aspect::Target, .. }) = entry.op(look) else { return false };
    let named = match entry.resource(act) {
        Some(Resource::File(path)) => {
            entry.values_in(path).iter().any(|value| entry.depends_on(*value, *into))
        }
        _ => false,
    };
    named || entry.overlap(look, act).is_some()
}

fn swapped(entry: &Entry<'_>, look: At, act: At) -> Issue {
    let thing = entry.thing(act);
    let writes = matches!(entry.op(act), Some(Op::Write { .. }));
    let verb = if writes { "written" } else { "read" };
    let message = format!(
        "Where {thing} leads is checked and then it is opened by name, so a link put in its place meanwhile is {verb} through"
    );
    let (seen, done) = (entry.place(look, &[act]), entry.place(act, &[look]));
    let mut issue = Issue::at(entry, look, &[act], Reach::CrossProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, "finds that the name leads inside")
        .step(Lane::B, seen, "puts a link to the outside in its place")
        .step(Lane::A, done, format!("opens {thing}, and what lies outside is {verb}"));
    issue.severity = Some(if writes { Severity::Medium } else { Severity::Low });
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    issue
}
