//! A compare-and-set whose result is thrown away: the loser of the race does the work as well.
//!
//! Reported:
//! ```text
//! await db.run("UPDATE jobs SET state = 'running' WHERE id = ? AND state = 'new'", id);  // reported here
//! await send(job);
//! ```
//! Not reported:
//! ```text
//! const { changes } = await db.run("UPDATE jobs SET state = 'running' WHERE id = ? AND state = 'new'", id);
//! if (changes === 1) await send(job);
//! ```
//!
//! A claim without work behind it harms nobody and is left alone.

use interlock_model::{
    Confidence, Lane,
    ir::{
        Argument, Change, Comparator, Comparison, Condition, Exit, Name, Op, Resource, Term, Value, WriteMode,
    },
};

use crate::{
    Issue, Reason,
    decision::unless,
    fields::same_name,
    keys::key_of,
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, View},
};

use super::HAZARD;

/// Claims whose row count is thrown away before the work is done.
pub(super) fn unseen(view: &View<'_>, reported: impl Fn(&Entry<'_>, At) -> bool) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    // A part and the whole that it belongs to are claimed one after the other, which is one story.
    racing
        .filter_map(|entry| {
            let judge = |claim: At| {
                unless(reported(entry, claim), Reason::ReportedElsewhere)?;
                judge(view, entry, claim)
            };
            claims(entry).find_map(|claim| entry.settle(&HAZARD.id, &[claim], judge(claim)))
        })
        .collect()
}

/// The statements that move one row from a state to another.
fn claims<'v>(entry: &'v Entry<'_>) -> impl Iterator<Item = At> + 'v {
    let conditional = |op: &Op| matches!(op, Op::Write { mode: WriteMode::Conditional(_), .. });
    entry
        .all(Kinds::WRITE, conditional)
        .filter(|at| !entry.control().is_recovery(*at) && moved(entry, *at).is_some())
}

/// The column that a statement both demands something of and sets, of a row that is named.
fn moved(entry: &Entry<'_>, claim: At) -> Option<Name> {
    let Some(Op::Write { mode: WriteMode::Conditional(condition), .. }) = entry.op(claim) else {
        return None;
    };
    let Some(Resource::Row { key, columns, .. }) = entry.resource(claim) else { return None };
    if matches!(**key, Term::Any | Term::Unknown) {
        return None;
    }
    let Condition(demands) = entry.alias().condition(condition);
    // What is compared with something that was found out is no state that a row is in, and what is set where it is not set yet may be
    // set by anybody.
    let fixed = |demand: &&Comparison| {
        demand.how == Comparator::Equal
            && matches!(&demand.with, Term::Literal(state) if !state.eq_ignore_ascii_case("null"))
    };
    let mut states = demands.iter().filter(fixed).map(|demand| &demand.column);
    states.find(|column| columns.iter().any(|set| same_name(set, column))).cloned()
}

fn judge(view: &View<'_>, entry: &Entry<'_>, claim: At) -> Result<Issue, Reason> {
    let Some(Op::Write { outcome, .. }) = entry.op(claim) else { return Err(Reason::OutOfScope) };
    let looked_at = match outcome {
        Some(outcome) => is_looked_at(entry, claim, *outcome),
        // Of several statements that go together the answer is not told apart.
        None => !entry.locks().open(claim).is_empty(),
    };
    unless(looked_at, Reason::OutcomeDecides)?;
    unless(is_judged_in_turn(view, entry, claim), Reason::ClaimedFirst)?;
    let column = moved(entry, claim).ok_or(Reason::OutOfScope)?;
    let work = work(entry, claim, &column).ok_or(Reason::NothingTwice)?;
    // Whoever reads the row again finds out whose it is.
    let reads_back =
        entry.all(Kinds::READ, |op| matches!(op, Op::Read { of: Resource::Row { .. }, .. })).any(|read| {
            read > claim
                && read < work
                && entry.alias().meets(claim, read).is_some()
                && entry.control().leads_to(claim, read).is_some()
        });
    unless(reads_back, Reason::CheckedAgain)?;
    Ok(issue(view, entry, claim, work, &column))
}

/// Whether anything goes by what a statement has come to.
fn is_looked_at(entry: &Entry<'_>, claim: At, outcome: Value) -> bool {
    let says = |values: &[Value]| values.iter().any(|value| entry.flow().depends_on(*value, outcome));
    (claim + 1..entry.steps.len()).any(|at| match entry.op(at) {
        Some(
            Op::Check { on: values, .. } | Op::Exit(Exit::Return(values)) | Op::Write { from: values, .. },
        ) => says(values),
        Some(Op::Call { arguments, receiver, .. }) => {
            let mut used: Vec<Value> = arguments.iter().flat_map(Argument::mentioned).collect();
            receiver.iter().for_each(|path| path.mention(&mut used));
            says(&used)
        }
        Some(Op::Read { of: Resource::Shared(path), .. }) => {
            let mut used = vec![];
            path.mention(&mut used);
            says(&used)
        }
        _ => false,
    })
}

/// Whether a read of the row before has decided, and nobody gets in between, or a claim before this one that was looked at: the second
/// call is turned away there.
fn is_judged_in_turn(view: &View<'_>, entry: &Entry<'_>, claim: At) -> bool {
    let in_turn = entry.flow().controlling_reads(claim).any(|(_, read)| {
        entry.alias().meets(read, claim) == Some(Overlap::Sure) && view.reach(entry, read, claim).is_none()
    });
    let has_decided = |outcome: Value| {
        entry.control().control_dependences(claim).iter().any(|check| match entry.op(*check) {
            Some(Op::Check { on, .. }) => on.iter().any(|on| entry.flow().depends_on(*on, outcome)),
            _ => false,
        })
    };
    let claimed_before = |before: At| match entry.op(before) {
        Some(Op::Write {
            mode: WriteMode::Conditional(_) | WriteMode::Exclusive,
            outcome: Some(outcome),
            ..
        }) => has_decided(*outcome),
        _ => false,
    };
    in_turn || entry.steps_of(Kinds::WRITE).take_while(|before| *before < claim).any(claimed_before)
}

/// What is done behind a claim and must not be done twice: something outside takes effect, or the row is worked at and then moved on.
fn work(entry: &Entry<'_>, claim: At, column: &Name) -> Option<At> {
    let behind = |at: &At| {
        *at > claim && !entry.control().is_recovery(*at) && entry.control().leads_to(claim, *at).is_some()
    };
    let takes_effect = |op: &Op| matches!(op, Op::External { change, .. } if *change != Change::None);
    // What somebody far from here does is another story.
    let beside = |at: &At| entry.home(&[claim, *at]) == entry.function_of(*at);
    if let Some(work) = entry.all(Kinds::EXTERNAL, takes_effect).filter(beside).find(behind) {
        return Some(work);
    }
    let moves_on = |at: &At| {
        entry.alias().meets(claim, *at) == Some(Overlap::Sure)
            && entry
                .alias()
                .columns(*at)
                .is_some_and(|columns| columns.iter().any(|set| same_name(set, column)))
            && behind(at)
    };
    let last = entry.steps_of(Kinds::WRITE).find(moves_on)?;
    let long = entry.all(Kinds::CALL | Kinds::EXTERNAL, |op| {
        matches!(op, Op::External { .. } | Op::Call { awaited: true, .. })
    });
    long.filter(|at| *at < last && behind(at)).find(|at| !only_notes(entry, *at))
}

/// Whether a call only says what happens.
fn only_notes(entry: &Entry<'_>, at: At) -> bool {
    match entry.op(at) {
        Some(Op::Call { callee: interlock_model::ir::Callee::Named(name), .. }) => {
            entry.lexicon().has_word_of(Topic::Notes, name.rsplit('.').next().unwrap_or_default())
        }
        _ => false,
    }
}

fn issue(view: &View<'_>, entry: &Entry<'_>, claim: At, work: At, column: &Name) -> Issue {
    let thing = entry.resource(claim).map_or_else(
        || entry.thing(claim),
        |row| match row {
            Resource::Row { table, .. } => format!("a row of {}", entry.quoted(table)),
            _ => entry.thing(claim),
        },
    );
    let reach = entry
        .resource(claim)
        .zip(entry.locks().race_window(claim, work))
        .and_then(|(resource, window)| view.reach_of(entry, &window, resource))
        .unwrap_or(interlock_model::Reach::Both);
    let message = format!(
        "`{column}` of {thing} is moved on only where nobody has done so before, but whether it was is not looked at: of two calls at once \
         the second changes nothing and does the work again"
    );
    let (done, worked) = (entry.position(claim, &[work]), entry.position(work, &[claim]));
    let mut issue = Issue::at(entry, claim, &[work], reach, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, done, format!("moves `{column}` of {thing} on"))
        .step(Lane::B, done, "changes no row, and does not notice")
        .step(Lane::A, worked, "does the work")
        .step(Lane::B, worked, "does the same work again");
    issue.keys = entry.resource(claim).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    issue
}
