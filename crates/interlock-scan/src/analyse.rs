//! The rules run over a program.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use interlock_hazards::{
    ALL, Decision, Hazard, Issue, Rule, surest,
    view::{Entry, Facts, View},
};
use interlock_model::{
    Loss, LossKind, NotFollowed, Reach, Span, ToolCoverage,
    ir::{FunctionId, Program},
};
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::{
    expand::{Expansion, expand, registrars},
    remedy::Route,
};

/// An issue, and whose it is.
#[derive(Debug)]
pub struct AttributedIssue {
    /// The hazard.
    pub hazard: &'static Hazard,
    /// What its rule said.
    pub issue: Issue,
    /// All ways to the same place.
    pub(crate) ways: Vec<Route>,
}

impl AttributedIssue {
    /// An issue that there is one way to.
    #[cfg(test)]
    pub(crate) fn alone(hazard: &'static Hazard, issue: Issue) -> Self {
        let ways = vec![Route::of(&issue)];
        Self { hazard, issue, ways }
    }
}

/// What the rules found in a program, and how much of it they got to see.
#[derive(Debug, Default)]
pub struct Analysed {
    /// The issues, in the order of the catalogue.
    pub found: Vec<AttributedIssue>,
    /// How far calls were followed, tool by tool.
    pub tools: Vec<ToolCoverage>,
    /// What was not followed.
    pub not_followed: NotFollowed,
    /// Where a server is handed to something unknown, which may announce tools.
    pub registrars: Vec<Loss>,
}

/// Runs every rule over a program. Several ways to the same place are one issue. The steps of its functions are gone afterwards.
#[must_use]
pub fn analyse(program: &mut Program) -> Analysed {
    let expansion = expand(program);
    let program = &*program;
    let (tools, lost) = expansion.lost(program);
    let not_followed = sum(&lost, expansion.unreached);
    let expanded = expansion.entries;
    let facts = Arc::new(Facts::of(program));
    let entry = |expanded| Entry::new(program, &facts, expanded);
    let view = View::of(program, expanded.par_iter().map(entry).collect());
    (0..view.entries.len()).into_par_iter().for_each(|entry| view.prepare(entry));
    let of_hazard = |hazard: &'static Hazard| {
        let found = |rule: Rule| rule(&view).into_iter().map(|issue| issue.no_surer_than(surest(&hazard.id)));
        let issues = hazard.rule.map(|rule| merge(found(rule).collect())).unwrap_or_default();
        issues.into_iter().map(|(issue, ways)| AttributedIssue { hazard, issue, ways }).collect::<Vec<_>>()
    };
    // In the order of the catalogue, whoever is done first.
    let found: Vec<Vec<AttributedIssue>> = ALL.par_iter().map(of_hazard).collect();
    // What was laid out is given back on all threads, as it was made.
    view.entries.into_par_iter().for_each(drop);
    expanded.into_par_iter().for_each(drop);
    let registrars = registrars(program);
    Analysed { found: found.into_iter().flatten().collect(), tools, not_followed, registrars }
}

/// A program's entry points, and what the rules decided about their steps, silences included.
pub(crate) fn explain(program: &mut Program) -> (Expansion, Vec<Decision>) {
    let expansion = expand(program);
    let facts = Arc::new(Facts::explaining(program));
    let entry = |expanded| Entry::new(program, &facts, expanded);
    let view = View::of(program, expansion.entries.par_iter().map(entry).collect());
    let decisions = view.explain();
    drop(view);
    (expansion, decisions)
}

/// How often each kind of loss occurs that could hide something.
fn sum(losses: &BTreeSet<Loss>, unreached: usize) -> NotFollowed {
    let count = |kind: LossKind| losses.iter().filter(|loss| loss.hides && loss.kind == kind).count();
    NotFollowed {
        unknown_libraries: count(LossKind::UnknownLibrary),
        unresolved_imports: count(LossKind::UnresolvedImport),
        unresolved_receivers: count(LossKind::UnresolvedReceiver),
        unknown_functions: count(LossKind::UnknownFunction),
        alternatives: count(LossKind::Alternatives),
        not_inlined: count(LossKind::NotInlined),
        budget: count(LossKind::Budget),
        other_programs: count(LossKind::OtherProgram),
        unknown_requests: count(LossKind::UnknownRequest),
        unreached,
    }
}

/// One issue for each place: the surest story, the tools of all of them, and each way by itself. A story that names what one of several
/// callers has handed over says so.
fn merge(issues: Vec<Issue>) -> Vec<(Issue, Vec<Route>)> {
    let mut places: BTreeMap<Span, (Issue, Vec<Route>)> = BTreeMap::new();
    let mut several: BTreeSet<Span> = BTreeSet::new();
    for issue in issues {
        match places.entry(issue.span) {
            std::collections::btree_map::Entry::Vacant(place) => {
                let way = Route::of(&issue);
                place.insert((issue, vec![way]));
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let (known, ways) = place.get_mut();
                ways.push(Route::of(&issue));
                if known.keys != issue.keys && known.message != issue.message {
                    several.insert(issue.span);
                }
                join(known, issue);
            }
        }
    }
    for span in several {
        let Some((issue, _)) = places.get_mut(&span) else { continue };
        issue.message.push_str("; other callers get here with other names");
    }
    fold(places.into_values().collect())
}

/// One issue for each act of a function: whichever of several reads it went by, the story is the same, and so is what stops it.
fn fold(issues: Vec<(Issue, Vec<Route>)>) -> Vec<(Issue, Vec<Route>)> {
    let mut folded: Vec<(Issue, Vec<Route>)> = vec![];
    let mut known: HashMap<(FunctionId, Span), usize> = HashMap::new();
    for (issue, ways) in issues {
        // Both read, then both act.
        let act = match issue.witness.as_slice() {
            [(_, read, _), (_, again, _), (_, act, _), (_, last, _)] if read == again && act == last => *act,
            _ => {
                folded.push((issue, ways));
                continue;
            }
        };
        let number = *known.entry((issue.function, act)).or_insert(folded.len());
        match folded.get_mut(number) {
            None => folded.push((issue, ways)),
            Some((first, all)) => {
                all.extend(ways);
                join(first, issue);
            }
        }
    }
    folded
}

/// Adds an issue to one that tells the same: the surer of the two is told, with the tools and the reach of both.
fn join(known: &mut Issue, issue: Issue) {
    let mut tools = std::mem::take(&mut known.tools);
    tools.extend(issue.tools.iter().cloned());
    tools.sort();
    tools.dedup();
    let reach = either(known.reach, issue.reach);
    if issue.confidence > known.confidence {
        *known = issue;
    }
    known.tools = tools;
    known.reach = reach;
}

fn either(one: Reach, other: Reach) -> Reach {
    if one == other { one } else { Reach::Both }
}
