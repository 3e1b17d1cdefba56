//! Check-act pairs (TOCTOU): a read and a later act on the same thing, with a race window that another call fits into.
//!
//! Which rule a pair belongs to is decided by the table in `claims.rs`, so that one race window is one finding. Why two steps make no pair is noted for
//! whoever asks (`decision.rs`).

use std::ops::Deref;

use interlock_model::{
    Confidence, HazardId, Lane, Reach, Span,
    ir::{Aspect, Comparison, Condition, Name, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue, Outcome, Reason,
    claims::{Claim, claim},
    decision::{needs, unless},
    dependences::data_dependences,
    fields::{asks_presence, is_version, same_name, says_it_went_well},
    gates::{Gates, is_claimed},
    keys::key_of,
    lexicon::Topic,
    rows::{adds_missing, adds_to, is_of_own_making, is_worked_off},
    view::{At, Entry, Kinds, Overlap, View},
};

/// How many reads a check can go by and still be a question about each of them.
const MOST_SOURCES: usize = 8;

/// A read and a later act on the same thing, with a race window between them.
pub(crate) struct CheckAct<'v, 'e> {
    pub(crate) entry: &'v Entry<'e>,
    pair: Pair,
}

/// A check-act pair by the numbers of its steps, so that a view can keep what all rules ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    entry: usize,
    /// The step that reads.
    pub(crate) read: At,
    /// The step that acts.
    pub(crate) act: At,
    /// The check by which the read decided that the act runs.
    pub(crate) check: Option<At>,
    /// Whether what is written was computed from what was read.
    pub(crate) data_dependent: bool,
    /// Whether it was computed from any read of the thing.
    pub(crate) data_dependent_at_all: bool,
    /// Whether it is sure that both touch the same thing.
    pub(crate) overlap: Overlap,
    /// Who fits into the window.
    pub(crate) reach: Reach,
    /// What it is taken for: the first in the table of [`claims`](crate::claims) that fits.
    pub(crate) claim: Option<Claim>,
}

impl Deref for CheckAct<'_, '_> {
    type Target = Pair;

    fn deref(&self) -> &Pair {
        &self.pair
    }
}

/// Every check-act pair of every entry that can run beside itself.
pub(crate) fn check_act_pairs<'v, 'e>(view: &'v View<'e>) -> Vec<CheckAct<'v, 'e>> {
    let pairs = (0..view.entries.len()).flat_map(|entry| view.pairs_of(entry));
    pairs.filter_map(|pair| Some(CheckAct { entry: view.entries.get(pair.entry)?, pair: *pair })).collect()
}

/// The check-act pairs of one entry; none if it never runs beside itself.
pub(crate) fn of_entry(view: &View<'_>, index: usize, entry: &Entry<'_>) -> Vec<Pair> {
    let mut found = vec![];
    if !entry.runs_beside_itself() {
        if entry.explains() {
            entry.steps_of(Kinds::CHANGES).for_each(|act| silent(entry, &[act], Reason::BeforeCalls));
        }
        return found;
    }
    let mut gates = Gates::default();
    for act in entry.steps_of(Kinds::CHANGES) {
        match Candidates::of(view, entry, act, &mut gates) {
            Ok(candidates) => candidates.race(view, entry, &mut gates, |read, reach, overlap| {
                let check = candidates.checks.iter().rev().find(|(_, from)| *from == read);
                let mut pair = Pair {
                    entry: index,
                    read,
                    act,
                    check: check.map(|(check, _)| *check),
                    data_dependent: candidates.data.contains(&read),
                    data_dependent_at_all: !candidates.data.is_empty(),
                    overlap,
                    reach,
                    claim: None,
                };
                pair.claim = claim(view, &CheckAct { entry, pair });
                found.push(pair);
            }),
            Err(reason) => silent(entry, &[act], reason),
        }
    }
    found
}

/// Notes why some steps make no pair, for all the rules that share pairs.
fn silent(entry: &Entry<'_>, steps: &[At], reason: Reason) {
    entry.decide(None, steps, Outcome::Silent(reason));
}

/// The reads that may be out of date at an act.
struct Candidates {
    act: At,
    /// Checks that decide over the act, each with a read of the same thing that it goes by.
    checks: Vec<(At, At)>,
    /// Reads of the same thing that flow into what is written.
    data: Vec<At>,
}

impl Candidates {
    fn of(view: &View<'_>, entry: &Entry<'_>, act: At, gates: &mut Gates) -> Result<Self, Reason> {
        takes_effect(entry, act)?;
        unless(entry.alias().puts_back_itself(view, act), Reason::PutsBackItself)?;
        let (judgements, digests): (Vec<At>, Vec<At>) =
            entry.control().control_dependences(act).iter().partition(|check| is_judgement(entry, **check));
        digests.iter().for_each(|check| silent(entry, &[*check, act], Reason::TooManySources));
        let checks: Vec<(At, At)> = judgements
            .into_iter()
            .flat_map(|check| entry.flow().checked_reads(check).map(move |read| (check, read)))
            .filter(|(_, read)| {
                is_read(entry, *read) && sees(entry, *read, act) && meets(entry, *read, act).is_some()
            })
            .collect();
        let mut data = data_dependences(entry, act, gates);
        data.retain(|read| {
            is_content(entry, *read)
                && sees(entry, *read, act)
                && (entry.alias().overlap(*read, act).is_some() || adds_to(entry, *read, act))
        });
        needs(!checks.is_empty() || !data.is_empty(), Reason::NothingReadBefore)?;
        // A check that is repeated behind the race window, or a claim before it, is not out of date.
        let closed = |read: At| {
            let reason = view.interference(entry, read, act).err()?;
            entry.control().comes_before(read, act).then_some(reason)
        };
        if let Some((read, reason)) = checks.iter().find_map(|(_, read)| Some((*read, closed(*read)?))) {
            silent(entry, &[read, act], reason);
            let mut others = checks.iter().map(|(_, other)| other).chain(&data);
            let is_alone = others.all(|other| *other == read);
            return Err(if is_alone { Reason::OutOfScope } else { Reason::CheckedAgain });
        }
        // What is put in place of what is there at that moment drops nothing, whatever else it was computed from.
        if data.iter().any(|read| is_current(view, entry, *read, act)) {
            data.retain(|read| {
                let outdated = view.reach(entry, *read, act).is_some();
                if outdated {
                    silent(entry, &[*read, act], Reason::ReplacesCurrent);
                }
                !outdated
            });
        }
        Ok(Self { act, checks, data })
    }

    /// Hands on each read that races with the act.
    fn race(
        &self,
        view: &View<'_>,
        entry: &Entry<'_>,
        gates: &mut Gates,
        mut found: impl FnMut(At, Reach, Overlap),
    ) {
        let mut reads: Vec<At> =
            self.checks.iter().map(|(_, read)| *read).chain(self.data.iter().copied()).collect();
        reads.sort_unstable();
        reads.dedup();
        for read in reads {
            match self.races(view, entry, gates, read) {
                Ok((reach, overlap)) => found(read, reach, overlap),
                Err(reason) => silent(entry, &[read, self.act], reason),
            }
        }
    }

    /// Who can come between a read and the act, or why nobody who does makes it a race.
    fn races(
        &self,
        view: &View<'_>,
        entry: &Entry<'_>,
        gates: &mut Gates,
        read: At,
    ) -> Result<(Reach, Overlap), Reason> {
        let act = self.act;
        let reach = view.interference(entry, read, act)?;
        let overlap = meets(entry, read, act).ok_or(Reason::OutOfScope)?;
        unless(exclude_each_other(entry, read, act), Reason::ExclusiveBranches)?;
        unless(is_of_own_making(entry, read, act), Reason::OwnRecord)?;
        unless(is_worked_off(entry, read, act, &self.checks), Reason::WorkList)?;
        unless(is_claimed(view, entry, read, act), Reason::ClaimedFirst)?;
        let flows = self.data.contains(&read);
        unless(!flows && gates.asked_later(entry, read, act), Reason::CheckedLater)?;
        let reach = match (reach, gates.single_flight(entry, read, act)) {
            (Reach::InProcess, true) => return Err(Reason::SingleFlight),
            (Reach::Both, true) => Reach::CrossProcess,
            (reach, _) => reach,
        };
        Ok((reach, overlap))
    }
}

/// Whether a read is only taken where a switch of the caller says no, and the act only where it says yes, or the other way round:
/// `if (!overwrite && exists(path)) return`, and `if (overwrite) rename(…)`. So it is with what says whether something is there.
fn exclude_each_other(entry: &Entry<'_>, read: At, act: At) -> bool {
    let switch = |check: At| match entry.op(check) {
        Some(Op::Check { on, equal: None, .. }) => match on.as_slice() {
            [only] => {
                let said = entry.alias().resolve(&(*only).into());
                let is_path = matches!(said, Term::Path(_));
                let switched = || is_switch(entry, *only) && entry.flow().sources(*only).is_empty();
                (is_path && (says_existence(entry, *only, &said) || switched())).then_some(said)
            }
            _ => None,
        },
        _ => None,
    };
    entry.control().control_dependences(read).iter().any(|one| {
        let Some((said, answer)) = switch(*one).zip(entry.control().answer(*one, read)) else { return false };
        let other_way = |other: &At| {
            entry.control().answer(*other, act) == Some(!answer) && switch(*other).as_ref() == Some(&said)
        };
        entry.control().control_dependences(act).iter().any(other_way)
    })
}

/// Whether a value is the answer to whether something is there, as it was given.
fn says_existence(entry: &Entry<'_>, value: Value, said: &Term) -> bool {
    let is_answer = |at: &At| match entry.op(*at) {
        Some(Op::Read { aspect: Aspect::Existence, into, .. }) => *said == Term::from(*into),
        _ => false,
    };
    entry.flow().sources(value).iter().any(is_answer)
}

/// Whether a value is called like something that is only on or off, so that two checks of it are the same.
fn is_switch(entry: &Entry<'_>, value: Value) -> bool {
    let named = |name: &str| entry.lexicon().has_word_of(Topic::Switch, name);
    named(entry.name_of(value)) || entry.alias().field_of(value).is_some_and(|field| named(&field))
}

/// In how far an act touches what a read has seen.
fn meets(entry: &Entry<'_>, read: At, act: At) -> Option<Overlap> {
    let adds = || adds_to(entry, read, act) || adds_missing(entry, read, act);
    entry.alias().meets(read, act).or_else(|| adds().then_some(Overlap::Maybe))
}

/// Whether a read of memory is the last word on all that an act replaces: nobody else has a turn between the two, and what is looked
/// at is not a copy that was taken before.
fn is_current(view: &View<'_>, entry: &Entry<'_>, read: At, act: At) -> bool {
    let (Some(Op::Read { of: Resource::Shared(location), .. }), Some(Resource::Shared(put))) =
        (entry.op(read), entry.resource(act))
    else {
        return false;
    };
    let is_copy = matches!(location.root, Root::Value(value) if !entry.flow().sources(value).is_empty());
    let whole = matches!(entry.resource(read), Some(Resource::Shared(seen)) if seen.names_the_same_as(put));
    whole && !is_copy && view.reach(entry, read, act).is_none() && entry.control().comes_before(read, act)
}

/// Whether an act takes effect on what others may have changed.
fn takes_effect(entry: &Entry<'_>, act: At) -> Result<(), Reason> {
    match entry.op(act) {
        Some(Op::Write { mode, .. }) => unless(
            matches!(mode, WriteMode::Ensure | WriteMode::Expiry | WriteMode::Append | WriteMode::Pieces),
            Reason::OnlyAdds,
        ),
        Some(Op::Delete { .. }) => unless(makes_room(entry, act), Reason::MakesRoom),
        Some(Op::Rename { .. }) => Ok(()),
        _ => Err(Reason::OutOfScope),
    }
}

/// Whether a file is removed only for another one to be put in its place, where a rename alone does not replace what is there.
fn makes_room(entry: &Entry<'_>, act: At) -> bool {
    let replaced = |rename: At| {
        rename > act
            && entry.frame_of(rename) == entry.frame_of(act)
            && entry.alias().overlap(act, rename) == Some(Overlap::Sure)
            && entry.control().leads_to(act, rename).is_some()
            && entry
                .control()
                .control_dependences(rename)
                .iter()
                .all(|judge| entry.control().control_dependences(act).contains(judge))
    };
    matches!(entry.resource(act), Some(Resource::File(_))) && entry.steps_of(Kinds::RENAME).any(replaced)
}

/// Whether a check judges what it depends on. Whether all went well depends on everything before, and says nothing of any of it.
fn is_judgement(entry: &Entry<'_>, check: At) -> bool {
    entry.flow().condition_sources(check).len() <= MOST_SOURCES
}

fn is_read(entry: &Entry<'_>, at: At) -> bool {
    matches!(entry.op(at), Some(Op::Read { .. }))
}

fn is_content(entry: &Entry<'_>, at: At) -> bool {
    matches!(entry.op(at), Some(Op::Read { aspect: Aspect::Content | Aspect::Total, .. }))
}

/// Whether a read of memory saw what the act puts in place, not only the thing that it is a part of.
fn sees(entry: &Entry<'_>, read: At, act: At) -> bool {
    match (entry.resource(read), entry.resource(act)) {
        (Some(Resource::Shared(seen)), Some(Resource::Shared(put))) => seen.fields.len() >= put.fields.len(),
        _ => true,
    }
}

impl<'v, 'e> CheckAct<'v, 'e> {
    /// A pair that a rule has found by itself.
    pub(crate) const fn sure(entry: &'v Entry<'e>, read: At, act: At, check: At, reach: Reach) -> Self {
        let pair = Pair {
            entry: 0,
            read,
            act,
            check: Some(check),
            data_dependent: false,
            data_dependent_at_all: false,
            overlap: Overlap::Sure,
            reach,
            claim: None,
        };
        Self { entry, pair }
    }
}

impl CheckAct<'_, '_> {
    /// The columns or fields that the check compares; empty if it only asks whether there is something.
    pub(crate) fn judged_fields(&self) -> Vec<Name> {
        let Some(Op::Check { on, .. }) = self.check.and_then(|check| self.entry.op(check)) else {
            return vec![];
        };
        let seen = |value: &Value| {
            self.entry.flow().sources(*value).contains(&self.read)
                && !self.entry.flow().is_opaque_result(*value, self.read)
        };
        let of_look = |value: &Value| match self.entry.alias().field_path(*value).map(|path| &path.root) {
            Some(Root::Value(whole)) => self.entry.flow().sources(*whole).contains(&self.read),
            _ => true,
        };
        let of_value = |value: &Value| {
            // A field of something else that the row only stands in for says nothing of the row: `given.id || row.id`.
            let field = self.entry.alias().field_of(*value).filter(|_| seen(value) && of_look(value))?;
            let only_asks = asks_presence(self.entry, *value, &field, self.act)
                || says_it_went_well(self.entry, *value, &field);
            Some((field, only_asks))
        };
        let judged: Vec<(Name, bool)> = on.iter().filter_map(of_value).collect();
        // Two questions for whether there is something compare nothing.
        let only_asks = judged.len() == on.len() && judged.iter().all(|(_, only_asks)| *only_asks);
        let compared = judged.into_iter().filter(|(_, only_asks)| !only_asks);
        let mut fields: Vec<Name> = compared.map(|(field, _)| field).collect();
        if fields.is_empty() && on.len() > 1 && !only_asks && on.iter().any(seen) {
            // Compared as a whole with something else: what was asked for is what is judged.
            fields.extend(self.entry.alias().columns(self.read).into_iter().flatten().cloned());
        }
        for demanded in self.demanded_fields() {
            if !fields.contains(&demanded) {
                fields.push(demanded);
            }
        }
        fields
    }

    /// Whether all that is judged of the row stands in columns of its own, and not inside of what a column holds: `order.payment.status`.
    pub(crate) fn judges_columns(&self) -> bool {
        let Some(Op::Check { on, .. }) = self.check.and_then(|check| self.entry.op(check)) else {
            return true;
        };
        let of_look = |value: &&Value| self.entry.flow().sources(**value).contains(&self.read);
        let mut paths = on.iter().filter(of_look).filter_map(|value| self.entry.alias().field_path(*value));
        paths.all(|path| {
            let branch = self.entry.alias().resolve_path(path).fields;
            branch
                .split_last()
                .is_none_or(|(_, before)| before.iter().all(|field| self.entry.alias().is_wrapping(field)))
        })
    }

    /// What the statement that looked has demanded of the row itself, and the act then changes: who finds an open order has judged that
    /// it is open.
    fn demanded_fields(&self) -> Vec<Name> {
        let Some(Op::Read { demands, .. }) = self.entry.op(self.read) else { return vec![] };
        if matches!(self.entry.resource(self.read), Some(Resource::Row { key, .. }) if matches!(**key, Term::Any | Term::Unknown))
        {
            return vec![];
        }
        // Who only sets a time, as when something is marked as deleted, takes nothing from whoever did so before.
        let updates = matches!(
            self.entry.op(self.act),
            Some(Op::Write { mode: WriteMode::Blind | WriteMode::Conditional(_), .. })
        );
        let columns = self.entry.alias().columns(self.act).filter(|_| updates).unwrap_or_default();
        demands
            .iter()
            .filter(|demand| columns.iter().any(|column| same_name(column, demand)))
            .cloned()
            .collect()
    }

    /// Whether the statement repeats what was judged, so that it takes no effect if that is no longer true.
    pub(crate) fn is_repeated(&self) -> bool {
        let condition = match self.entry.op(self.act) {
            Some(Op::Write { mode: WriteMode::Conditional(condition), .. }) => condition,
            Some(Op::Delete { when: Some(condition), .. }) => condition,
            _ => return false,
        };
        let Condition(demands) = self.entry.alias().condition(condition);
        let judged = self.judged_fields();
        demands.iter().any(|demand| {
            is_version(self.entry.lexicon(), &demand.column)
                || judged.iter().any(|field| same_name(field, &demand.column))
                || self.depends_on_look(demand)
        })
    }

    fn depends_on_look(&self, demand: &Comparison) -> bool {
        let values = self.entry.flow().values_in(&demand.with);
        values.iter().any(|value| self.entry.flow().sources(*value).contains(&self.read))
    }

    /// Whether the act puts something in place of what was there.
    pub(crate) fn replaces(&self) -> bool {
        match self.entry.op(self.act) {
            // Something that was there and is set to nothing was taken down, which two may do; a state that was compared and is left was
            // trusted. That something has failed is news, whatever the state was.
            Some(Op::Write { mode: WriteMode::Blind, .. }) => {
                let compared = |check| matches!(self.entry.op(check), Some(Op::Check { equal: Some(_), .. }));
                self.data_dependent
                    || self.check.is_some_and(compared) && !self.entry.control().is_recovery(self.act)
            }
            _ => false,
        }
    }

    /// Whether it is about memory that other calls see.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.resource(), Some(Resource::Shared(path)) if self.entry.alias().is_shared(path))
    }

    pub(crate) fn resource(&self) -> Option<&Resource> {
        self.entry.resource(self.act)
    }

    /// The issue for this check-act pair, reported from the function that has the read and the act inside.
    pub(crate) fn issue(&self, message: String) -> Issue {
        let mut issue = Issue::at(self.entry, self.read, &[self.act], self.reach, message);
        if self.overlap == Overlap::Maybe {
            issue = issue.no_surer_than(Confidence::Medium);
        }
        issue.keys = self.resource().and_then(|resource| key_of(self.entry, resource)).into_iter().collect();
        issue
    }

    pub(crate) fn read_span(&self) -> Span {
        self.entry.position(self.read, &[self.act])
    }

    pub(crate) fn act_span(&self) -> Span {
        self.entry.position(self.act, &[self.read])
    }

    pub(crate) fn thing(&self) -> String {
        self.entry.thing(self.act)
    }

    /// Notes that a rule reports the pair.
    pub(crate) fn settle(&self, hazard: &HazardId, issue: Issue) -> Issue {
        self.entry.decide(Some(hazard), &[self.read, self.act], Outcome::Reported);
        issue
    }

    /// Both look, then both act: the interleaving of every check-act pair.
    pub(crate) fn report(&self, message: String, read: &str, act: &str, outcome: &str) -> Issue {
        let (seen, done) = (self.read_span(), self.act_span());
        self.issue(message).step(Lane::A, seen, read).step(Lane::B, seen, read).step(Lane::A, done, act).step(
            Lane::B,
            done,
            format!("{act}: {outcome}"),
        )
    }
}
