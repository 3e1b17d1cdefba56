//! Atomicity violation across a suspension point: state in memory is read, the call is suspended, and the state is replaced by what was made of the old one.
//!
//! Reported:
//! ```text
//! const seen = totals.get(user);                    // reported here
//! const price = await quote(item);
//! totals.set(user, seen + price);                   // what another call has set meanwhile is gone
//! ```
//! Not reported:
//! ```text
//! const price = await quote(item);
//! totals.set(user, totals.get(user) + price);       // nothing can come between: no suspension
//! ```
//!
//! State of a session is `shared-session-state`, something that was missing and is loaded is `duplicate-load`. The other kinds of this hazard are beside it: `spent.rs`,
//! `twice.rs`, `emptied.rs`, `overtaken.rs`, `early.rs`, `added.rs`, `reset.rs`, `bare.rs`, `gathered.rs`.

use interlock_model::{Confidence, ir::Interleaving};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed, silent},
    decision::needs,
    view::{At, Entry, Kinds, View},
};

use super::{
    HAZARD, added::added, bare::bare, early::early, emptied::emptied, gathered::gathered,
    overtaken::overtaken, reset::reset, spent, taken, twice,
};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let mut replaced = claimed(view, Claim::StaleRead);
    // What is kept in memory of a file or a record is read and written along with it: one story, and the other one outlasts this.
    if !replaced.is_empty() {
        let spans = |pair: &CheckAct<'_, '_>| (pair.read_span(), pair.act_span());
        let lost: Vec<_> = claimed(view, Claim::LostUpdate).iter().map(spans).collect();
        replaced.retain(|pair| is_first(pair, lost.contains(&spans(pair))));
    }
    // Several parts of one thing that are read before it is replaced are one story, reported from the first of them.
    replaced.dedup_by(|next, first| {
        let is_same = std::ptr::eq(next.entry, first.entry)
            && next.act == first.act
            && next.entry.function_of(next.read) == first.entry.function_of(first.read);
        !is_first(next, is_same)
    });
    let reported = |entry: &Entry<'_>, act: At| {
        replaced.iter().any(|pair| std::ptr::eq(pair.entry, entry) && pair.act == act)
    };
    let emptied = emptied(view, reported);
    let settled = |pairs: Vec<CheckAct<'_, '_>>, issue: fn(&CheckAct<'_, '_>) -> Issue| -> Vec<Issue> {
        pairs.iter().map(|pair| pair.settle(&HAZARD.id, issue(pair))).collect()
    };
    let mut issues = settled(replaced, issue);
    issues.extend(emptied);
    issues.extend(settled(claimed(view, Claim::Overspent), spent::issue));
    issues.extend(settled(claimed(view, Claim::UsedTwice), twice::issue));
    issues.extend(settled(claimed(view, Claim::TakenName), taken::issue));
    issues.extend(view.entries_with(Kinds::WRITE).flat_map(overtaken));
    issues.extend(early(view));
    issues.extend(added(view));
    issues.extend(reset(view));
    issues.extend(bare(view));
    issues.extend(gathered(view));
    // Whether what came meanwhile mattered is seldom to be seen from the code: on the servers that this was tried on, most was meant so.
    issues.into_iter().map(|issue| issue.no_surer_than(Confidence::Medium)).collect()
}

/// Whether a pair is no part of what is reported elsewhere.
fn is_first(pair: &CheckAct<'_, '_>, is_part: bool) -> bool {
    if is_part {
        silent(pair, &HAZARD.id, Reason::ReportedElsewhere);
    }
    !is_part
}

/// Whether state in memory is replaced by what was made of an older state of it, or behind a comparison with one.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    needs(pair.is_shared(), Reason::OutOfScope)?;
    needs(pair.replaces(), Reason::NotReplaced)
}

fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    // Goroutines and threads get between any two steps, and no suspension is there to be seen.
    let between = match pair.entry.interleaving() {
        Some(Interleaving::Anywhere) => "read and then written with no lock held throughout",
        _ => "read before a suspension and trusted after it",
    };
    let message = format!("{thing} is {between}, so what another call has written meanwhile is overwritten");
    pair.report(message, &format!("reads {thing}"), &format!("writes {thing}"), "A's change is gone")
}
