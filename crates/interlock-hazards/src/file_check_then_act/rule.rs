//! Check-then-use of a file by name (TOCTOU): it is looked for, or its link is resolved, and then the name is used again.
//!
//! Reported:
//! ```text
//! if (await exists(path)) throw new Error("taken"); // reported here
//! await writeFile(path, text);
//! const real = await realpath(path);                // and here: the link may lead elsewhere by then
//! if (real.startsWith(ROOT)) return readFile(path);
//! ```
//! Not reported:
//! ```text
//! await writeFile(path, text, { flag: "wx" });      // the system refuses the second
//! try { await unlink(path); } catch {}              // the loser deals with it
//! if (!exists(path)) throw new Error("no such"); await unlink(path)   // the loser fails with other words
//! if (isDirectory(path)) throw new Error("a folder"); await writeFile(path, text)
//! ```
//!
//! A file that is read, changed and written back is `lost-update`; one that others can see half written, `non-atomic-file-replace`. What its content decides is in
//! `outdated.rs`, a stale lock in `takeover.rs`, a file that says that work is done already in `marker.rs`.

use std::{cell::LazyCell, collections::HashMap};

use interlock_model::{
    Confidence, Lane, Reach, Severity, Span,
    ir::{Aspect, Fresh, Op, Origin, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed, silent},
    decision::{needs, unless},
    keys::key_of,
    lexicon::Topic,
    view::{At, Entry, Kinds, Pattern, View},
};

use super::{HAZARD, marker, outdated::outdated, takeover::takeovers};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let mut pairs = claimed(view, Claim::FileCheck);
    keep_last_reads(&mut pairs);
    let removed = LazyCell::new(|| removals(view));
    let judge = |pair: &CheckAct<'_, '_>| {
        // A file whose content decides is reported as that, if at all.
        let check = pair.check.ok_or(Reason::OutOfScope)?;
        unless(judges_content(pair, check), Reason::JudgesContent)?;
        unless(leads_to_a_read(pair, check), Reason::ReadsInBetween)?;
        if was_there(pair) {
            brought_back(view, pair, &removed).ok_or(Reason::NobodyRemoves)
        } else {
            Ok(issue(pair))
        }
    };
    let settled =
        |pair: &CheckAct<'_, '_>| pair.entry.settle(&HAZARD.id, &[pair.read, pair.act], judge(pair));
    let mut issues: Vec<Issue> = pairs.iter().filter_map(settled).collect();
    let racing = view.entries_with(Kinds::READ).filter(|entry| entry.runs_beside_itself());
    issues.extend(racing.flat_map(followed_links));
    issues.extend(outdated(view));
    issues.extend(takeovers(view));
    issues
}

/// Of several reads before one act the last is the one that was meant for it.
pub(super) fn keep_last_reads(pairs: &mut Vec<CheckAct<'_, '_>>) {
    pairs.reverse();
    pairs.dedup_by(|next, last| {
        let is_same = std::ptr::eq(next.entry, last.entry) && next.act == last.act;
        if is_same {
            silent(next, &HAZARD.id, Reason::ReportedElsewhere);
        }
        is_same
    });
    pairs.reverse();
}

/// Whether the presence or the metadata of a file decided that it is written, moved or removed.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let asks = matches!(
        entry.op(pair.read),
        Some(Op::Read { aspect: Aspect::Existence | Aspect::Metadata, of: Resource::File(_), .. })
    );
    // A file that is read, changed and written back is reported as that.
    needs(asks && pair.check.is_some() && !pair.data_dependent_at_all, Reason::OutOfScope)?;
    match entry.op(pair.act) {
        Some(Op::Write { mode: WriteMode::Blind, .. }) => {}
        // Gone already: the loser is told so, unless it deals with that.
        Some(Op::Delete { when, .. }) => {
            unless(when.is_some() || entry.control().is_caught(pair.act), Reason::FailureHandled)?;
            unless(fails_either_way(pair), Reason::FailsEitherWay)?;
            unless(is_won_before(pair), Reason::ClaimedFirst)?;
        }
        // So is who moves what is gone; who moves to where something has come to be meanwhile is told nothing.
        Some(Op::Rename { .. }) => {
            let was_missing = pair.check.is_some_and(|check| match entry.op(check) {
                Some(Op::Try { .. }) => !entry.control().works_before(check, pair.read, pair.act),
                _ => entry.control().answer(check, pair.act) == Some(false),
            });
            unless(!was_missing && entry.control().is_caught(pair.act), Reason::FailureHandled)?;
        }
        _ => return Err(Reason::OutOfScope),
    }
    unless(refuses_kind(pair), Reason::FailsEitherWay)?;
    unless(puts_back(pair), Reason::PutsBackCopy)
}

/// Whether who does not find what is to be removed fails: so does who finds that it is gone meanwhile, if in other words.
fn fails_either_way(pair: &CheckAct<'_, '_>) -> bool {
    pair.check.is_some_and(|check| pair.entry.control().is_refused(check, pair.act))
}

/// Whether only the call whose removal or conditional change of something else took effect gets to the file: the number of rows decides.
fn is_won_before(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let claims = entry.steps_of(Kinds::WRITE | Kinds::DELETE).take_while(|claim| *claim < pair.read);
    let outcome = |claim: At| match entry.op(claim) {
        Some(
            Op::Delete { of: Resource::Row { .. }, outcome: Some(outcome), .. }
            | Op::Write {
                to: Resource::Row { .. },
                mode: WriteMode::Conditional(_),
                outcome: Some(outcome),
                ..
            },
        ) => Some(*outcome),
        _ => None,
    };
    let decides = |outcome: Value| {
        entry.control().control_dependences(pair.act).iter().any(|check| match entry.op(*check) {
            Some(Op::Check { on, .. }) => on.iter().any(|on| entry.flow().depends_on(*on, outcome)),
            _ => false,
        })
    };
    claims.into_iter().filter_map(outcome).any(decides)
}

/// Whether all that is refused is another kind of thing, which the system refuses by itself: a folder is not written like a file. Who asks
/// whether it is a file only after whether it is there asks for that as well.
fn refuses_kind(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let Some(check) = pair.check.filter(|check| entry.control().is_refused(*check, pair.act)) else {
        return false;
    };
    let Some(Op::Check { on, .. }) = entry.op(check) else { return false };
    let of_file = |value: &Value| {
        let looks = |at: &At| {
            matches!(entry.op(*at), Some(Op::Read { aspect: Aspect::Existence | Aspect::Metadata, .. }))
                && entry.alias().overlap(*at, pair.act).is_some()
        };
        entry.flow().sources(*value).iter().any(looks)
    };
    let called = |value: &Value, topic: Topic| {
        let name = entry.name_of(*value).split('.').next().unwrap_or_default();
        of_file(value) && entry.lexicon().has(topic, name)
    };
    let is_kind = |value: &&Value| called(value, Topic::KindOfFile);
    let asks_kind = on.iter().any(|value| is_kind(&value));
    let is_folder = || match on.as_slice() {
        [only] => called(only, Topic::IsFolder) && entry.control().answer(check, pair.act) == Some(false),
        _ => false,
    };
    asks_kind && (is_folder() || on.iter().any(|value| of_file(value) && !is_kind(&value)))
}

/// Whether an act puts back what this call has set aside before: a copy that was made of the file itself.
fn puts_back(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let is_copied = |copy: At| {
        let sets_aside = |write: At| {
            write < copy
                && entry.alias().same_record(write, copy)
                && entry
                    .flow()
                    .data_dependences(write)
                    .iter()
                    .any(|from| entry.alias().overlap(*from, pair.act).is_some())
        };
        matches!(entry.resource(copy), Some(Resource::File(_)))
            && entry.steps_of(Kinds::WRITE).any(sets_aside)
    };
    entry.flow().data_dependences(pair.act).iter().any(|copy| is_copied(*copy))
}

/// Whether a file was looked for in order to read it: `if (exists(path)) { … readFile(path) … }`. A write behind that read is
/// reported as a pair of the read and the write, so the existence check is no pair besides.
fn leads_to_a_read(pair: &CheckAct<'_, '_>, check: At) -> bool {
    let entry = pair.entry;
    let found = match (entry.op(check), entry.op(pair.read)) {
        (Some(Op::Check { on, .. }), Some(Op::Read { into, aspect: Aspect::Existence, .. })) => {
            on.as_slice() == [*into] && entry.control().answer(check, pair.act) == Some(true)
        }
        _ => false,
    };
    let reads = |step: At| {
        matches!(entry.op(step), Some(Op::Read { aspect: Aspect::Content, .. }))
            && entry.alias().overlap(step, pair.act).is_some()
            && entry.control().answer(check, step) == Some(true)
            && entry.control().leads_to(step, pair.act).is_some()
    };
    found && (pair.read..pair.act).any(reads)
}

/// Whether a file is written because it was found. Both of two calls find it, in whichever order they come, and the later one's
/// content stays.
fn was_there(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let (Some(Op::Write { .. }), Some(check)) = (entry.op(pair.act), pair.check) else { return false };
    // Who reads it in between writes what it has made of that.
    let reads = |step: At| {
        matches!(entry.op(step), Some(Op::Read { aspect: Aspect::Content, .. }))
            && entry.alias().overlap(step, pair.act).is_some()
    };
    if (pair.read..pair.act).any(reads) {
        return false;
    }
    match (entry.op(check), entry.op(pair.read)) {
        // Who gets there without the attempt having failed has found it.
        (Some(Op::Try { .. }), _) => entry.control().works_before(check, pair.read, pair.act),
        (Some(Op::Check { on, .. }), Some(Op::Read { into, aspect: Aspect::Existence, .. })) => {
            on.as_slice() == [*into] && entry.control().answer(check, pair.act) == Some(true)
        }
        _ => false,
    }
}

/// The files that somebody removes or moves away, by what they are called: who does, and where.
type Removals<'v, 'e> = HashMap<Pattern, Vec<(&'v Entry<'e>, Span)>>;

fn removals<'v, 'e>(view: &'v View<'e>) -> Removals<'v, 'e> {
    let mut found = Removals::new();
    let entries = view.entries_with(Kinds::DELETE | Kinds::RENAME).filter(|entry| entry.runs_beside_itself());
    for entry in entries {
        for at in entry.steps_of(Kinds::DELETE | Kinds::RENAME) {
            let gone = match entry.op(at) {
                Some(Op::Delete { of, .. }) => entry.alias().resolve_resource(of),
                Some(Op::Rename { from, .. }) => entry.alias().resolve_resource(from),
                _ => continue,
            };
            if let Resource::File(path) = gone {
                let removers = found.entry(entry.alias().file_pattern(&path)).or_default();
                removers.push((entry, entry.position(at, &[])));
            }
        }
    }
    found
}

/// A file that was found, is removed by another call, and is there again when it is written.
fn brought_back(view: &View<'_>, pair: &CheckAct<'_, '_>, removed: &Removals<'_, '_>) -> Option<Issue> {
    let Some(Resource::File(path)) = pair.resource() else { return None };
    let pattern = pair.entry.alias().file_pattern(path);
    let removers = removed.get(&pattern).filter(|_| pattern.fits(&pattern) && !pattern.is_open())?;
    let (_, gone) = removers.iter().find(|(remover, _)| view.are_of_one_program(pair.entry, remover))?;
    let gone = *gone;
    let thing = pair.thing();
    let message = format!(
        "{thing} is looked for and then written by name, so one that another call removes in between comes back"
    );
    let issue = pair
        .issue(message)
        .only(Severity::Low)
        .step(Lane::A, pair.read_span(), format!("finds {thing}"))
        .step(Lane::B, gone, format!("removes {thing}"))
        .step(Lane::A, pair.act_span(), format!("writes {thing}: it is there again"));
    Some(issue)
}

/// Whether what the file says decides as well: the read was only for those who read it, and its answer is part of what was read.
fn judges_content(pair: &CheckAct<'_, '_>, check: At) -> bool {
    let entry = pair.entry;
    let Some(Op::Check { on, .. }) = entry.op(check) else { return false };
    // Whether there was anything to read is still a read.
    let judged: Vec<Value> = on.iter().copied().filter(|value| !entry.flow().is_answer(*value)).collect();
    entry.flow().sources_of(&judged).iter().any(|from| {
        matches!(entry.op(*from), Some(Op::Read { aspect: Aspect::Content, of: Resource::File(_), .. }))
            && entry.alias().overlap(pair.read, *from).is_some()
    })
}

fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    match pair.entry.op(pair.act) {
        Some(Op::Write { .. }) => {
            let there =
                pair.check.and_then(|check| pair.entry.control().answer(check, pair.act)) == Some(true);
            if let Some(work) = marker::work(pair).filter(|_| !there && is_beginning(pair)) {
                return marker::issue(pair, work);
            }
            // What was asked of its metadata may have been anything.
            let (seen, lost) = if there {
                ("looks at", "overwrites what the other has just written")
            } else {
                ("does not find", "overwrites what the other has just created")
            };
            let message =
                format!("{thing} is looked for and then written by name, so of two calls at once one {lost}");
            let issue = pair.report(
                message,
                &format!("{seen} {thing}"),
                &format!("writes {thing}"),
                "A's content is gone",
            );
            // Two calls that make the same beginning lose nothing, unless a third has gone on from it: that is how a default beside the
            // server comes about (P60), but a file that the caller names was asked for. What was asked of a file that is there may have
            // nothing to do with what is written.
            let is_named =
                matches!(pair.resource(), Some(Resource::File(path)) if is_chosen(pair.entry, path));
            let begins = !there && is_beginning(pair);
            if begins && !is_named {
                issue.no_surer_than(Confidence::Low)
            } else if there || begins || is_switched(pair) {
                issue.no_surer_than(Confidence::Medium)
            } else {
                issue
            }
        }
        Some(Op::Rename { .. }) => {
            let message = format!(
                "{thing} is looked for and then replaced by name, so of two calls at once one takes the other's place"
            );
            let issue = pair.report(
                message,
                &format!("does not find {thing}"),
                &format!("moves something to {thing}"),
                "A's is gone",
            );
            // Of two calls that move the same file the second fails: only what a third has put there meanwhile is lost.
            if moves_own_file(pair) { issue } else { issue.no_surer_than(Confidence::Medium) }
        }
        _ => {
            let message = format!(
                "{thing} is looked for and then removed by name, so of two calls at once one fails on what the other has removed"
            );
            pair.report(
                message,
                &format!("finds {thing}"),
                &format!("removes {thing}"),
                "it is not there any more",
            )
            .only(Severity::Low)
            .no_surer_than(Confidence::Medium)
        }
    }
}

/// Whether the check also asks for what the source says at the call of a helper, so that it is not seen what it comes to there:
/// `if must_exist and not exists(path)`, where this caller has handed over `False`.
fn is_switched(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let Some(Op::Check { on, .. }) = pair.check.and_then(|check| entry.op(check)) else { return false };
    let is_fixed = |value: &Value| match entry.flow().definition_site(*value).and_then(|at| entry.op(at)) {
        Some(Op::Derive { from, term: Term::Unknown, .. }) => from.is_empty(),
        _ => false,
    };
    on.len() > 1 && on.iter().any(is_fixed)
}

/// Whether what is moved was written by the same call, so that another call moves another file.
fn moves_own_file(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let Some(Op::Rename { from, .. }) = entry.op(pair.act) else { return false };
    let Resource::File(moved) = entry.alias().resolve_resource(from) else { return false };
    let writes = |at: At| match (entry.op(at), entry.resource(at)) {
        (Some(Op::Write { .. }), Some(Resource::File(written))) => {
            at < pair.act && written.names_the_same_as(&moved)
        }
        _ => false,
    };
    entry.alias().is_another_each_time(&moved)
        || entry.steps_of(Kinds::WRITE).any(writes)
        || is_chosen(entry, &moved)
}

/// Whether the caller says which file it is.
fn is_chosen(entry: &Entry<'_>, path: &Term) -> bool {
    let values = entry.flow().values_in(path);
    let given =
        |value: &Value| matches!(entry.flow().origin(*value), Some(Origin::Argument | Origin::Arguments));
    entry.flow().backward_slice(&values).iter().any(given)
}

/// Whether what is written is the same whoever comes: nothing of a caller's is in it, and nothing that was found out but what another file says.
fn is_beginning(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let Some(Op::Write { from, .. }) = entry.op(pair.act) else { return false };
    let is_given = |value: &Value| {
        let given = |value: &Value| entry.flow().origin(*value).is_some_and(|origin| origin != Origin::Step);
        given(value) || entry.flow().backward_slice(&[*value]).iter().any(given)
    };
    let is_template = |at: &At| match (entry.op(*at), entry.resource(*at)) {
        (Some(Op::Read { .. }), Some(Resource::File(path))) => {
            !entry.flow().values_in(path).iter().any(is_given)
        }
        // What a file of the source says once and for all.
        (Some(Op::Read { .. }), Some(Resource::Shared(path))) => entry.is_never_set(path),
        _ => false,
    };
    !from.iter().any(is_given) && entry.flow().sources_of(from).iter().all(is_template)
}

/// Where a name leads is checked, then the name is opened again, and may lead elsewhere by then.
fn followed_links(entry: &Entry<'_>) -> Vec<Issue> {
    let mut issues = vec![];
    let reads: Vec<At> =
        entry.all(Kinds::READ, |op| matches!(op, Op::Read { aspect: Aspect::Target, .. })).collect();
    if reads.is_empty() {
        return issues;
    }
    for act in entry.all(Kinds::READ | Kinds::WRITE, follows_links) {
        // The nearest read is the one that was meant for this act.
        let read = reads
            .iter()
            .copied()
            .filter(|read| *read < act && leads_to_it(entry, *read, act))
            .filter(|read| {
                let judged = needs(is_judged(entry, *read, act), Reason::NotChecked);
                entry.note(&HAZARD.id, &[*read, act], judged).is_ok()
            })
            .max();
        let Some(read) = read else { continue };
        let swapped = match entry.locks().race_window(read, act) {
            _ if is_unguessable(entry, act) => Err(Reason::Unguessable),
            None => Err(Reason::NotAfter),
            Some(window) if window.is_locked_across_processes() => Err(Reason::HeldLock),
            Some(_) if is_compared(entry, read, act) => Err(Reason::ComparedOnceOpen),
            Some(_) => Ok(swapped(entry, read, act)),
        };
        issues.extend(entry.settle(&HAZARD.id, &[read, act], swapped));
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
                Root::Value(value) => entry.lexicon().has_inside(Topic::Unguessable, entry.name_of(value)),
                _ => false,
            },
            _ => false,
        }
    }
    match entry.resource(act) {
        // A name that was handed on with more is still made of what chance gave: `saved.path`, in a folder of its own.
        Some(Resource::File(path)) => {
            has_chance(entry, &entry.alias().spell(path))
                || entry.flow().is_made_of_fresh(&entry.flow().values_in(path), Fresh::Random)
        }
        _ => false,
    }
}

/// Whether anything is decided by where the name leads before it is opened. That a name is made whole by following it, that there is
/// one at all, or that what was found there is looked at, is no check.
fn is_judged(entry: &Entry<'_>, read: At, act: At) -> bool {
    let opened = match entry.resource(act) {
        Some(Resource::File(path)) => entry.flow().values_in(path),
        _ => vec![],
    };
    let Some(Op::Read { into: real, .. }) = entry.op(read) else { return false };
    let is_the_name = |value: Value| {
        entry.flow().is_answer(value)
            && entry.flow().depends_once_on(value, *real)
            && opened.iter().any(|name| entry.flow().depends_on(*name, value))
    };
    let is_found_there = |from: &At| match entry.op(*from) {
        Some(Op::Read { of: Resource::File(_), aspect, .. }) => *from > read && *aspect != Aspect::Target,
        _ => false,
    };
    // What kind of a thing it is says which way to go, or that it is none that can be read: not where it leads.
    let asks_for_kind = |value: Value| entry.lexicon().has(Topic::KindOfFile, entry.name_of(value));
    // A check that both ways come from to the act has kept nobody out.
    let decides = |check: At| match entry.op(check) {
        Some(Op::Check { on, .. }) if entry.control().answer(check, act).is_some() => {
            on.iter().any(|value| {
                let sources = entry.flow().sources(*value);
                sources.contains(&read)
                    && !sources.iter().any(is_found_there)
                    && !is_the_name(*value)
                    && !asks_for_kind(*value)
            })
        }
        _ => false,
    };
    entry.steps_of(Kinds::CHECK).any(|check| read < check && check < act && decides(check))
}

/// Whether what was opened is compared with what was looked at before anything comes of it: `fstat` of it has the number of the same file.
fn is_compared(entry: &Entry<'_>, read: At, act: At) -> bool {
    let mut opened = entry.all(Kinds::READ | Kinds::WRITE, follows_links).filter(|at| *at > read);
    let Some(first) = opened.find(|at| *at == act || entry.alias().same_record(*at, act)) else {
        return false;
    };
    let is_of_it = |from: &At| {
        let of_file =
            |op: &Op| matches!(op, Op::Read { aspect: Aspect::Metadata, of: Resource::File(_), .. });
        *from > first && entry.op(*from).is_some_and(of_file)
    };
    let compares = |op: &Op| match op {
        Op::Check { on, .. } => {
            let sources = entry.flow().sources_of(on);
            sources.contains(&read) && sources.iter().any(is_of_it)
        }
        _ => false,
    };
    entry.all(Kinds::CHECK, compares).any(|check| check > first)
}

fn leads_to_it(entry: &Entry<'_>, read: At, act: At) -> bool {
    let Some(Op::Read { into, aspect: Aspect::Target, .. }) = entry.op(read) else { return false };
    let named = match entry.resource(act) {
        Some(Resource::File(path)) => {
            entry.flow().values_in(path).iter().any(|value| entry.flow().depends_on(*value, *into))
        }
        _ => false,
    };
    named || entry.alias().overlap(read, act).is_some()
}

fn swapped(entry: &Entry<'_>, read: At, act: At) -> Issue {
    let thing = entry.thing(act);
    let writes = matches!(entry.op(act), Some(Op::Write { .. }));
    let verb = if writes { "written" } else { "read" };
    let message = format!(
        "Where {thing} leads is checked and then it is opened by name, so a link put in its place meanwhile is {verb} through"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let mut issue = Issue::at(entry, read, &[act], Reach::CrossProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, "finds that the name leads inside")
        .step(Lane::B, seen, "puts a link to the outside in its place")
        .step(Lane::A, done, format!("opens {thing}, and what lies outside is {verb}"));
    issue.severity = Some(if writes { Severity::Medium } else { Severity::Low });
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    issue
}
