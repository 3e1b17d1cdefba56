//! A busy flag that stays set: a failure leads past the line that takes it back.
//!
//! Reported:
//! ```text
//! if (this.syncing) throw new Error("busy");
//! this.syncing = true;                              // reported here
//! await this.pull();                                // throws
//! this.syncing = false;
//! ```
//! Not reported:
//! ```text
//! this.syncing = true;
//! try { await this.pull(); } finally { this.syncing = false; }
//! ```
//!
//! What is no flag by its name is left alone.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Effect, Exit, Field, Op, Resource, Root, WriteMode},
};

use super::{
    HAZARD,
    rule::{failing, touches_outside},
};
use crate::{
    Issue, Reason,
    lexicon::Topic,
    view::{At, Entry, Escape, Kinds, View},
    words::words,
};

/// Finds flags that a failure leaves set, so that every later call of the tool is turned away.
pub(super) fn left_set(view: &View<'_>) -> Vec<Issue> {
    let tools = view.entries_with(Kinds::CHECK).filter(|entry| entry.is_tool() && entry.has(Kinds::WRITE));
    tools
        .flat_map(|entry| sets(entry).filter_map(|set| entry.settle(&HAZARD.id, &[set], judge(entry, set))))
        .collect()
}

/// The steps that set something in memory to a value of its own, at a place that is called like a flag.
fn sets<'v>(entry: &'v Entry<'_>) -> impl Iterator<Item = At> + 'v {
    let fixed = |op: &Op| matches!(op, Op::Write { to: Resource::Shared(_), from, mode: WriteMode::Blind, .. } if from.is_empty());
    entry.all(Kinds::WRITE, fixed).filter(|at| flag(entry, *at).is_some())
}

fn flag<'v>(entry: &'v Entry<'_>, at: At) -> Option<&'v AccessPath> {
    let Some(Resource::Shared(path)) = entry.resource(at) else { return None };
    let name = match (path.fields.last(), &path.root) {
        (Some(Field::Name(name)), _) => name,
        (None, Root::Global(name)) => name,
        _ => return None,
    };
    let words = words(name.rsplit("::").next().unwrap_or_default());
    let says =
        words.last().is_some_and(|last| last.ends_with("ing") || entry.lexicon().has(Topic::Busy, last));
    (says && entry.alias().is_shared(path)).then_some(path)
}

fn judge(entry: &Entry<'_>, set: At) -> Result<Issue, Reason> {
    let path = flag(entry, set).ok_or(Reason::OutOfScope)?;
    // Whoever finds it set is turned away, and nobody else reads before it is set.
    let turned_away = |check: &At| match entry.op(*check) {
        Some(Op::Check { then, .. }) => {
            matches!(then.last(), Some(Effect { op: Op::Exit(Exit::Throw | Exit::Return(_)), .. }))
                && entry.control().answer(*check, set) == Some(false)
        }
        _ => false,
    };
    let asked = entry.control().control_dependences(set).iter().copied().filter(turned_away).find(|check| {
        let same = |read: At| matches!(entry.resource(read), Some(Resource::Shared(seen)) if seen == path);
        entry
            .flow()
            .checked_reads(*check)
            .any(|read| same(read) && entry.control().leads_to(read, set) == Some(false))
    });
    let asked = asked.ok_or(Reason::OutOfScope)?;
    let resets: Vec<At> =
        sets(entry).filter(|at| *at != set && entry.resource(*at) == entry.resource(set)).collect();
    let first = resets.iter().find(|reset| entry.control().leads_to(set, **reset) == Some(true));
    let first = *first.ok_or(Reason::ReleasedElsewhere)?;
    let past = |step: At| resets.contains(&step) || matches!(entry.op(step), Some(Op::Spawn { .. }));
    let escape =
        *entry.control().exits(entry.control().behind(set), past).first().ok_or(Reason::AlwaysReleased)?;
    let by = escape.at();
    let sure = match escape {
        Escape::Failure(_) => {
            matches!(entry.op(by), Some(Op::Exit(_) | Op::Call { .. })) || touches_outside(entry, by)
        }
        Escape::Return(_) => true,
    };
    let why = match escape {
        Escape::Failure(_) => format!("a failure {}", failing(entry, by)),
        Escape::Return(_) => "an early return".to_owned(),
    };
    let name = entry.path_text(path);
    let story = [set, by, first];
    let message = format!("{why} leaves `{name}` set, and every later call is turned away");
    let issue = Issue::at(entry, set, &story, Reach::InProcess, message)
        .no_surer_than(if sure { Confidence::High } else { Confidence::Medium })
        .step(Lane::A, entry.position(set, &story), format!("sets `{name}`"))
        .step(Lane::X, entry.position(by, &story), format!("leaves before `{name}` is taken back"))
        .step(
            Lane::B,
            entry.position(asked, &story),
            format!("finds `{name}` set, and is turned away for ever"),
        );
    Ok(issue)
}
