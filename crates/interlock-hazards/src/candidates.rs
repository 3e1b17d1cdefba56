//! Candidates for check-act pairs: for each act of an entry the reads that may be out of date by then, and why the others are not.
//!
//! A read counts where a check on it decides over the act (control dependence) or where it flows into what is written (data dependence). What is
//! no race for any rule is left out here, with its reason; what a race means is said by the rules (`claims.rs`).

use interlock_model::{
    Reach,
    ir::{Aspect, Interleaving, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Outcome, Reason,
    check_act::{CheckAct, Pair},
    chosen_names::{chosen_names, is_one_of_its_names},
    claims::claim,
    decision::{needs, unless},
    dependences::data_dependences,
    found_entries::puts_found_entry,
    gates::{Gates, asked_before, checks_presence, is_claimed},
    lexicon::Topic,
    rows::{adds_missing, adds_row, adds_to, is_ensured_by_another_key, is_of_own_making, is_worked_off},
    view::{At, Entry, Kinds, Overlap, Runs, View},
};

/// How many reads a check can go by and still be a question about each of them.
const MOST_SOURCES: usize = 8;

/// The check-act pairs of one entry. What never runs beside itself has none, but for loops that run on beside calls which change the same.
pub(crate) fn of_entry(view: &View<'_>, index: usize, entry: &Entry<'_>) -> Vec<Pair> {
    let mut found = vec![];
    let alone = !entry.runs_beside_itself();
    let mut gates = Gates::default();
    for act in entry.steps_of(Kinds::CHANGES) {
        if alone && (entry.background_loop(act).is_none() || !view.is_changed_by_calls(entry, act)) {
            silent(entry, &[act], Reason::BeforeCalls);
            continue;
        }
        match Candidates::of(view, entry, act, &mut gates) {
            Ok(candidates) => candidates.race(view, entry, &mut gates, |read, reach, overlap| {
                if alone && entry.control().detached(read) != entry.control().detached(act) {
                    return silent(entry, &[read, act], Reason::BeforeCalls);
                }
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

/// Whether nothing that is known calls the entry, and nothing in it says that the object which it changes has more than one user. Where
/// calls interleave anywhere, every method that changes a field would be a race otherwise.
fn is_nobodys(entry: &Entry<'_>, act: At) -> bool {
    let anywhere = || {
        let function = entry.program.function(entry.function_of(act));
        function.is_some_and(|function| function.interleaving == Interleaving::Anywhere)
    };
    let of_object = || matches!(entry.resource(act), Some(Resource::Shared(path)) if path.root == Root::This);
    let locks = || (0..entry.steps.len()).any(|at| matches!(entry.op(at), Some(Op::Acquire { .. })));
    *entry.runs == Runs::Unreached && anywhere() && of_object() && !locks()
}

impl Candidates {
    fn of(view: &View<'_>, entry: &Entry<'_>, act: At, gates: &mut Gates) -> Result<Self, Reason> {
        let ensured = takes_effect(entry, act).err();
        unless(ensured.is_some() && !is_ensured_row(entry, act), ensured.unwrap_or(Reason::OutOfScope))?;
        unless(is_nobodys(entry, act), Reason::NotKnownShared)?;
        unless(entry.alias().puts_back_itself(view, act), Reason::PutsBackItself)?;
        let (judgements, digests): (Vec<At>, Vec<At>) =
            entry.control().control_dependences(act).iter().partition(|check| is_judgement(entry, **check));
        let plain: Vec<(At, At)> = digests.iter().flat_map(|check| plainly_compared(entry, *check)).collect();
        let compares = |check: &At| plain.iter().any(|(compared, _)| compared == check);
        let unclear = digests.iter().filter(|check| !compares(check));
        unclear.for_each(|check| silent(entry, &[*check, act], Reason::TooManySources));
        let mut checks: Vec<(At, At)> = judgements
            .into_iter()
            .flat_map(|check| entry.flow().checked_reads(check).map(move |read| (check, read)))
            .chain(plain)
            .chain(chosen_names(entry, act))
            .filter(|(_, read)| {
                is_read(entry, *read)
                    && sees(entry, *read, act)
                    && meets(entry, *read, act).is_some()
                    && (ensured.is_none() || is_ensured_by_another_key(entry, *read, act))
            })
            .collect();
        if let Some(reason) = ensured.filter(|_| checks.is_empty()) {
            return Err(reason);
        }
        let mut data = data_dependences(entry, act, gates);
        data.retain(|_| ensured.is_none());
        data.retain(|read| {
            is_content(entry, *read)
                && sees(entry, *read, act)
                && (touches(entry, *read, act).is_some() || adds_to(entry, *read, act))
        });
        // Of what is made of the old state the story is told already.
        let further_in = if data.is_empty() && ensured.is_none() { early_exits(entry, act) } else { vec![] };
        let of_some = further_in.len();
        checks.splice(0..0, further_in);
        needs(!checks.is_empty() || !data.is_empty(), Reason::NothingReadBefore)?;
        // A check that is repeated behind the race window, or a claim before it, is not out of date.
        let closed = |read: At| {
            let reason = view.interference(entry, read, act).err()?;
            entry.control().comes_before(read, act).then_some(reason)
        };
        // Not every way comes by the checks further in, so none of them closes the race window for all.
        let on_all_ways = checks.get(of_some..).unwrap_or_default();
        let repeated = on_all_ways.iter().find_map(|(check, read)| Some((*check, *read, closed(*read)?)));
        if let Some((check, read, reason)) = repeated {
            silent(entry, &[read, act], reason);
            let mut others = checks.iter().map(|(_, other)| other).chain(&data);
            let is_alone = others.all(|other| *other == read);
            // A second check that the key exists does not compare its value, so a value computed from the old one still overwrites it.
            if !checks_presence(entry, check, read) || data.iter().all(|other| *other == read) {
                return Err(if is_alone { Reason::OutOfScope } else { Reason::CheckedAgain });
            }
            checks.clear();
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
        unless(is_file_of_its_own(entry, act), Reason::NameOfItsOwn)?;
        unless(is_worked_off(entry, read, act, &self.checks), Reason::WorkList)?;
        unless(is_claimed(view, entry, read, act), Reason::ClaimedFirst)?;
        let flows = self.data.contains(&read);
        let of_read = |(check, from): &(At, At)| *from == read && !checks_presence(entry, *check, read);
        let judged = self.checks.iter().any(of_read);
        unless(!flows && gates.asked_later(entry, read, act, judged), Reason::CheckedLater)?;
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

/// Whether an act is on a file whose name no other call has: it carries chance, a count or the time.
fn is_file_of_its_own(entry: &Entry<'_>, act: At) -> bool {
    matches!(entry.resource(act), Some(Resource::File(path)) if entry.alias().is_another_each_time(path))
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

/// Whether an act is on a row under a name that no other call has, so that it is none of those which were read.
fn is_row_of_its_own(entry: &Entry<'_>, act: At) -> bool {
    matches!(entry.op(act), Some(Op::Write { mode: WriteMode::Blind, .. }))
        && matches!(entry.resource(act), Some(Resource::Row { key, .. }) if entry.alias().is_another_each_time(key))
}

/// In how far an act is on what a read has named: a row of its own is none of many that were read.
fn touches(entry: &Entry<'_>, read: At, act: At) -> Option<Overlap> {
    let overlap = entry.alias().overlap(read, act);
    overlap.filter(|overlap| *overlap == Overlap::Sure || !is_row_of_its_own(entry, act))
}

/// In how far an act touches what a read has seen.
fn meets(entry: &Entry<'_>, read: At, act: At) -> Option<Overlap> {
    let adds = || adds_to(entry, read, act) || adds_missing(entry, read, act);
    let seen = entry
        .alias()
        .meets(read, act)
        .filter(|seen| *seen == Overlap::Sure || !is_row_of_its_own(entry, act));
    let renamed = || is_one_of_its_names(entry, read, act);
    let seen = seen.or_else(|| (adds() || renamed()).then_some(Overlap::Maybe))?;
    // Which entry was found is not known.
    Some(if puts_found_entry(entry, read, act) { Overlap::Maybe } else { seen })
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
        // A row under an id that was drawn for it is always a new one, whatever is to be done where it is there already.
        Some(Op::Write { mode: WriteMode::Ensure, to: Resource::Row { .. }, .. }) => {
            needs(adds_row(entry, act), Reason::OnlyAdds)
        }
        Some(Op::Write { mode, .. }) => unless(
            matches!(mode, WriteMode::Ensure | WriteMode::Expiry | WriteMode::Append | WriteMode::Pieces),
            Reason::OnlyAdds,
        ),
        Some(Op::Delete { .. }) => unless(makes_room(entry, act), Reason::MakesRoom),
        Some(Op::Rename { .. }) => Ok(()),
        _ => Err(Reason::OutOfScope),
    }
}

/// Whether an act adds a row unless there is one with the same key.
fn is_ensured_row(entry: &Entry<'_>, act: At) -> bool {
    matches!(entry.op(act), Some(Op::Write { mode: WriteMode::Ensure, to: Resource::Row { .. }, .. }))
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

/// The checks further in that have turned some callers away, each with a read of the same thing that it goes by. Not every way to the act comes by them,
/// so they count less than others: not where the thing is looked at once more, and not where it is only likely that it is the same.
fn early_exits(entry: &Entry<'_>, act: At) -> Vec<(At, At)> {
    let judged = entry.control().early_exits(act).iter().filter(|check| is_judgement(entry, **check));
    let mut asked: Option<Vec<At>> = None;
    let mut looks_again = |(check, read): &(At, At)| {
        let asked = asked.get_or_insert_with(|| asked_before(entry, act));
        let again = |later: &At| {
            later > check
                && entry.alias().overlap(*read, *later) == Some(Overlap::Sure)
                && entry.control().comes_before(*later, act)
        };
        asked.iter().any(again)
    };
    let reads = judged.flat_map(|check| entry.flow().checked_reads(*check).map(move |read| (*check, read)));
    reads
        .filter(|(_, read)| is_read(entry, *read) && sees(entry, *read, act))
        .filter(|(_, read)| match meets(entry, *read, act) {
            Some(Overlap::Sure) => true,
            Some(Overlap::Maybe) => {
                adds_missing(entry, *read, act) || adds_to(entry, *read, act) || adds_row(entry, act)
            }
            None => false,
        })
        .filter(|judged| !looks_again(judged))
        .collect()
}

/// Whether a check judges what it depends on. Whether all went well depends on everything before, and says nothing of any of it.
fn is_judgement(entry: &Entry<'_>, check: At) -> bool {
    entry.flow().condition_sources(check).len() <= MOST_SOURCES
}

/// The reads behind the simple operand of a comparison whose other operand has too many sources: `price > balance` checks the balance,
/// however many reads the price was computed from.
fn plainly_compared(entry: &Entry<'_>, check: At) -> Vec<(At, At)> {
    let Some(Op::Check { on, .. }) = entry.op(check) else { return vec![] };
    let sources = on.iter().map(|value| entry.flow().sources(*value)).filter(|_| on.len() == 2);
    sources
        .filter(|sources| sources.len() <= MOST_SOURCES)
        .flat_map(|sources| sources.iter().map(|read| (check, *read)))
        .collect()
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
        (Some(Resource::Shared(seen)), Some(Resource::Shared(put))) => {
            seen.fields.len() >= put.fields.len() || puts_found_entry(entry, read, act)
        }
        _ => true,
    }
}
