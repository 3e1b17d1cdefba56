//! A limit on what a file says that was done: its lines are counted and compared, and the call appends its own only when the work is done.
//!
//! Reported:
//! ```text
//! const used = (await readFile(LEDGER, "utf8")).split("\n").length;   // reported here
//! if (used >= BUDGET) throw new Error("too many");
//! await send(request);
//! await appendFile(LEDGER, JSON.stringify(request) + "\n");
//! ```
//! Not reported:
//! ```text
//! await appendFile(LEDGER, JSON.stringify(request) + "\n");           // counts itself first
//! const used = (await readFile(LEDGER, "utf8")).split("\n").length;
//! if (used > BUDGET) throw new Error("too many");
//! ```
//!
//! A line is appended to many files whatever they say: what is compared has to be called like a limit.

use interlock_model::{
    Confidence,
    ir::{Aspect, Op, Resource, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::unless,
    gates::is_claimed,
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, View},
    words::words,
};

use super::{HAZARD, rule::overrun};

/// The limits of an entry that are kept as lines of a file.
pub(super) fn appended(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let appends = |op: &Op| {
        matches!(op, Op::Write { to: Resource::File(_), mode: WriteMode::Append | WriteMode::Pieces, .. })
    };
    let mut found: Vec<(At, Issue)> = vec![];
    for act in entry.all(Kinds::WRITE, appends) {
        for check in entry.control().control_dependences(act).iter().copied() {
            let read = entry.flow().checked_reads(check).find(|read| is_counted(entry, *read, act));
            let Some(read) = read.filter(|read| !found.iter().any(|(known, _)| known == read)) else {
                continue;
            };
            if !entry.control().is_refused(check, act) || !is_called_a_limit(entry, check, read) {
                continue;
            }
            let raced = view.interference(entry, read, act).and_then(|reach| {
                unless(is_claimed(view, entry, read, act), Reason::ClaimedFirst)?;
                Ok(CheckAct::sure(entry, read, act, check, reach))
            });
            if let Some(pair) = entry.settle(&HAZARD.id, &[read, act], raced) {
                found.push((read, overrun(&pair, &entry.thing(read)).no_surer_than(Confidence::Medium)));
            }
        }
    }
    found.into_iter().map(|(_, issue)| issue).collect()
}

/// Whether a step reads what is in the file that a line is appended to.
fn is_counted(entry: &Entry<'_>, read: At, act: At) -> bool {
    matches!(entry.op(read), Some(Op::Read { of: Resource::File(_), aspect: Aspect::Content, .. }))
        && read < act
        && entry.alias().overlap(read, act) == Some(Overlap::Sure)
}

/// Whether what is compared, or the function that worked it out, is called like a limit.
fn is_called_a_limit(entry: &Entry<'_>, check: At, read: At) -> bool {
    let says = |name: &str| {
        words(name.rsplit('.').next().unwrap_or_default()).iter().any(|word| {
            let lexicon = entry.lexicon();
            lexicon.has(Topic::Limit, word) || lexicon.has(Topic::Bound, word)
        })
    };
    let Some(Op::Check { on, .. }) = entry.op(check) else { return false };
    let functions = [entry.function_of(read), entry.function_of(check)];
    functions.iter().any(|function| says(&entry.function_name(*function)))
        || on.iter().any(|value| {
            says(entry.name_of(*value)) || entry.alias().field_of(*value).is_some_and(|field| says(&field))
        })
}
