//! A call that looks at something and later acts on it, while another call can act in between: what eight hazards have in common.
//!
//! Each of those hazards says in its rule which clashes it claims; the more specific comes first, so that one gap is one finding.

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{Aspect, Comparison, Condition, Name, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue,
    claim::{Gates, is_claimed},
    feed::fed_by,
    fields::{asks_presence, is_version, same_name, says_it_went_well},
    keys::key_of,
    rows::{adds_missing, adds_to, is_of_own_making, is_worked_off},
    view::{At, Entry, Kinds, Overlap, View, is_wrapping},
    words,
};

/// How many steps one judgement can be about.
const MOST_JUDGED: usize = 8;

/// A look and an act on the same thing, with a gap that others fit into.
pub(crate) struct Clash<'v, 'e> {
    pub(crate) entry: &'v Entry<'e>,
    /// The step that looked.
    pub(crate) look: At,
    /// The step that acts.
    pub(crate) act: At,
    /// The check by which the look decided that the act runs.
    pub(crate) check: Option<At>,
    /// Whether what is written was computed from what was seen.
    pub(crate) fed: bool,
    /// Whether it was computed from any look at the thing.
    pub(crate) fed_at_all: bool,
    /// Whether it is sure that both touch the same thing.
    pub(crate) overlap: Overlap,
    /// Who fits in between.
    pub(crate) reach: Reach,
}

/// A clash by numbers, so that a view can keep what all rules ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    entry: usize,
    look: At,
    act: At,
    check: Option<At>,
    fed: bool,
    fed_at_all: bool,
    overlap: Overlap,
    reach: Reach,
}

/// Every clash of every entry that can run beside itself.
pub(crate) fn clashes<'v, 'e>(view: &'v View<'e>) -> Vec<Clash<'v, 'e>> {
    let named = |numbers: &Numbers| {
        let Numbers { entry, look, act, check, fed, fed_at_all, overlap, reach } = *numbers;
        view.entries.get(entry).map(|entry| Clash {
            entry,
            look,
            act,
            check,
            fed,
            fed_at_all,
            overlap,
            reach,
        })
    };
    (0..view.entries.len()).flat_map(|entry| view.clashes_of(entry)).filter_map(named).collect()
}

/// The clashes of one entry; none if it never runs beside itself.
pub(crate) fn of_entry(view: &View<'_>, index: usize, entry: &Entry<'_>) -> Vec<Numbers> {
    let mut found = vec![];
    if !entry.runs_beside_itself() {
        return found;
    }
    let mut gates = Gates::default();
    for act in entry.steps_of(Kinds::CHANGES) {
        if !acts(entry, act) || entry.puts_back_itself(view, act) {
            continue;
        }
        let judgements = entry.judges(act).iter().copied().filter(|check| is_judgement(entry, *check));
        let judged: Vec<(At, At)> = judgements
            .flat_map(|check| entry.looks(check).map(move |look| (check, look)))
            .filter(|(_, look)| {
                is_read(entry, *look) && sees(entry, *look, act) && meets(entry, *look, act).is_some()
            })
            .collect();
        let fed: Vec<At> = fed_by(entry, act, &mut gates)
            .into_iter()
            .filter(|look| {
                is_content(entry, *look)
                    && sees(entry, *look, act)
                    && (entry.overlap(*look, act).is_some() || adds_to(entry, *look, act))
            })
            .collect();
        if judged.is_empty() && fed.is_empty() {
            continue;
        }
        // Somebody who looks again behind the gap, or who has claimed the thing before it, is not out of date.
        let looks_again = judged
            .iter()
            .any(|(_, look)| view.reach(entry, *look, act).is_none() && entry.comes_before(*look, act));
        if looks_again {
            continue;
        }
        // What is put in place of what is there at that moment drops nothing, whatever else it was computed from.
        let now = fed.iter().any(|look| is_of_now(view, entry, *look, act));
        let fed: Vec<At> =
            fed.into_iter().filter(|look| !now || view.reach(entry, *look, act).is_none()).collect();
        let mut looks: Vec<At> = judged.iter().map(|(_, look)| *look).chain(fed.iter().copied()).collect();
        looks.sort_unstable();
        looks.dedup();
        for look in looks {
            let (Some(reach), Some(overlap)) = (view.reach(entry, look, act), meets(entry, look, act)) else {
                continue;
            };
            if exclude(entry, look, act)
                || is_of_own_making(entry, look, act)
                || is_worked_off(entry, look, act, &judged)
                || is_claimed(view, entry, look, act)
                || (!fed.contains(&look) && gates.asked_later(entry, look, act))
            {
                continue;
            }
            let reach = match (reach, gates.single_flight(entry, look, act)) {
                (Reach::InProcess, true) => continue,
                (Reach::Both, true) => Reach::CrossProcess,
                (reach, _) => reach,
            };
            let check = judged.iter().rev().find(|(_, from)| *from == look).map(|(check, _)| *check);
            let (fed, fed_at_all) = (fed.contains(&look), !fed.is_empty());
            found.push(Numbers { entry: index, look, act, check, fed, fed_at_all, overlap, reach });
        }
    }
    found
}

/// Whether a look is only taken where a switch of the caller says no, and the act only where it says yes, or the other way round:
/// `if (!overwrite && exists(path)) return`, and `if (overwrite) rename(…)`. So it is with what says whether something is there.
fn exclude(entry: &Entry<'_>, look: At, act: At) -> bool {
    let switch = |check: At| match entry.op(check) {
        Some(Op::Check { on, equal: None, .. }) => match on.as_slice() {
            [only] => {
                let said = entry.resolve(&(*only).into());
                let is_path = matches!(said, Term::Path(_));
                let switched = || is_switch(entry, *only) && entry.sources(*only).is_empty();
                (is_path && (says_existence(entry, *only, &said) || switched())).then_some(said)
            }
            _ => None,
        },
        _ => None,
    };
    entry.judges(look).iter().any(|one| {
        let Some((said, answer)) = switch(*one).zip(entry.answer(*one, look)) else { return false };
        let other_way =
            |other: &At| entry.answer(*other, act) == Some(!answer) && switch(*other).as_ref() == Some(&said);
        entry.judges(act).iter().any(other_way)
    })
}

/// Whether a value is the answer to whether something is there, as it was given.
fn says_existence(entry: &Entry<'_>, value: Value, said: &Term) -> bool {
    let is_answer = |at: &At| match entry.op(*at) {
        Some(Op::Read { aspect: Aspect::Existence, into, .. }) => *said == Term::from(*into),
        _ => false,
    };
    entry.sources(value).iter().any(is_answer)
}

/// Whether a value is called like something that is only on or off, so that two questions for it are the same.
fn is_switch(entry: &Entry<'_>, value: Value) -> bool {
    const SWITCHES: [&str; 9] =
        ["overwrite", "force", "replace", "clobber", "upsert", "append", "exclusive", "dry", "recreate"];
    let named = |name: &str| words(name).iter().any(|word| SWITCHES.contains(&word.as_str()));
    named(entry.name_of(value)) || entry.field_of(value).is_some_and(|field| named(&field))
}

/// In how far an act touches what a look has seen.
fn meets(entry: &Entry<'_>, look: At, act: At) -> Option<Overlap> {
    let adds = || adds_to(entry, look, act) || adds_missing(entry, look, act);
    entry.meets(look, act).or_else(|| adds().then_some(Overlap::Maybe))
}

/// Whether a look at memory is the last word on all that an act replaces: nobody else has a turn between the two, and what is looked
/// at is not a copy that was taken before.
fn is_of_now(view: &View<'_>, entry: &Entry<'_>, look: At, act: At) -> bool {
    let (Some(Op::Read { of: Resource::Shared(place), .. }), Some(Resource::Shared(put))) =
        (entry.op(look), entry.resource(act))
    else {
        return false;
    };
    let is_copy = matches!(place.root, Root::Value(value) if !entry.sources(value).is_empty());
    let whole = matches!(entry.resource(look), Some(Resource::Shared(seen)) if seen.names_the_same_as(put));
    whole && !is_copy && view.reach(entry, look, act).is_none() && entry.comes_before(look, act)
}

/// Whether an act takes effect on what others may have changed.
fn acts(entry: &Entry<'_>, act: At) -> bool {
    match entry.op(act) {
        Some(Op::Write { mode, .. }) => {
            !matches!(mode, WriteMode::Ensure | WriteMode::Expiry | WriteMode::Append | WriteMode::Pieces)
        }
        Some(Op::Delete { .. }) => !makes_room(entry, act),
        Some(Op::Rename { .. }) => true,
        _ => false,
    }
}

/// Whether a file is removed only for another one to be put in its place, where a rename alone does not replace what is there.
fn makes_room(entry: &Entry<'_>, act: At) -> bool {
    let replaced = |rename: At| {
        rename > act
            && entry.frame_of(rename) == entry.frame_of(act)
            && entry.overlap(act, rename) == Some(Overlap::Sure)
            && entry.leads_to(act, rename).is_some()
            && entry.judges(rename).iter().all(|judge| entry.judges(act).contains(judge))
    };
    matches!(entry.resource(act), Some(Resource::File(_))) && entry.steps_of(Kinds::RENAME).any(replaced)
}

/// Whether a check judges what it depends on. Whether all went well depends on everything before, and says nothing of any of it.
fn is_judgement(entry: &Entry<'_>, check: At) -> bool {
    entry.asked_by(check).len() <= MOST_JUDGED
}

fn is_read(entry: &Entry<'_>, at: At) -> bool {
    matches!(entry.op(at), Some(Op::Read { .. }))
}

fn is_content(entry: &Entry<'_>, at: At) -> bool {
    matches!(entry.op(at), Some(Op::Read { aspect: Aspect::Content | Aspect::Total, .. }))
}

/// Whether a look at memory saw what the act puts in place, not only the thing that it is a part of.
fn sees(entry: &Entry<'_>, look: At, act: At) -> bool {
    match (entry.resource(look), entry.resource(act)) {
        (Some(Resource::Shared(seen)), Some(Resource::Shared(put))) => seen.fields.len() >= put.fields.len(),
        _ => true,
    }
}

impl Clash<'_, '_> {
    /// The columns or fields that the check compares; empty if it only asks whether there is something.
    pub(crate) fn judged_fields(&self) -> Vec<Name> {
        let Some(Op::Check { on, .. }) = self.check.and_then(|check| self.entry.op(check)) else {
            return vec![];
        };
        let seen = |value: &Value| {
            self.entry.sources(*value).contains(&self.look) && !self.entry.is_found_out(*value, self.look)
        };
        let of_look = |value: &Value| match self.entry.field_path(*value).map(|path| &path.root) {
            Some(Root::Value(whole)) => self.entry.sources(*whole).contains(&self.look),
            _ => true,
        };
        let of_value = |value: &Value| {
            // A field of something else that the row only stands in for says nothing of the row: `given.id || row.id`.
            let field = self.entry.field_of(*value).filter(|_| seen(value) && of_look(value))?;
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
            fields.extend(self.entry.columns(self.look).into_iter().flatten().cloned());
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
        let of_look = |value: &&Value| self.entry.sources(**value).contains(&self.look);
        let mut paths = on.iter().filter(of_look).filter_map(|value| self.entry.field_path(*value));
        paths.all(|path| {
            let way = self.entry.resolve_path(path).fields;
            way.split_last().is_none_or(|(_, before)| before.iter().all(is_wrapping))
        })
    }

    /// What the statement that looked has demanded of the row itself, and the act then changes: who finds an open order has judged that
    /// it is open.
    fn demanded_fields(&self) -> Vec<Name> {
        let Some(Op::Read { demands, .. }) = self.entry.op(self.look) else { return vec![] };
        if matches!(self.entry.resource(self.look), Some(Resource::Row { key, .. }) if matches!(**key, Term::Any | Term::Unknown))
        {
            return vec![];
        }
        // Who only sets a time, as when something is marked as deleted, takes nothing from whoever did so before.
        let updates = matches!(
            self.entry.op(self.act),
            Some(Op::Write { mode: WriteMode::Blind | WriteMode::Conditional(_), .. })
        );
        let columns = self.entry.columns(self.act).filter(|_| updates).unwrap_or_default();
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
        let Condition(demands) = self.entry.condition(condition);
        let judged = self.judged_fields();
        demands.iter().any(|demand| {
            is_version(&demand.column)
                || judged.iter().any(|field| same_name(field, &demand.column))
                || self.depends_on_look(demand)
        })
    }

    fn depends_on_look(&self, demand: &Comparison) -> bool {
        let values = self.entry.values_in(&demand.with);
        values.iter().any(|value| self.entry.sources(*value).contains(&self.look))
    }

    pub(crate) fn resource(&self) -> Option<&Resource> {
        self.entry.resource(self.act)
    }

    /// The issue for this clash, told from the function that has the look and the act inside.
    pub(crate) fn issue(&self, message: String) -> Issue {
        let mut issue = Issue::at(self.entry, self.look, &[self.act], self.reach, message);
        if self.overlap == Overlap::Maybe {
            issue = issue.no_surer_than(Confidence::Medium);
        }
        issue.keys = self.resource().and_then(|resource| key_of(self.entry, resource)).into_iter().collect();
        issue
    }

    pub(crate) fn look_span(&self) -> Span {
        self.entry.place(self.look, &[self.act])
    }

    pub(crate) fn act_span(&self) -> Span {
        self.entry.place(self.act, &[self.look])
    }

    pub(crate) fn thing(&self) -> String {
        self.entry.thing(self.act)
    }

    /// Both look, then both act: the interleaving of every clash.
    pub(crate) fn told(&self, message: String, look: &str, act: &str, outcome: &str) -> Issue {
        let (seen, done) = (self.look_span(), self.act_span());
        self.issue(message).step(Lane::A, seen, look).step(Lane::B, seen, look).step(Lane::A, done, act).step(
            Lane::B,
            done,
            format!("{act}: {outcome}"),
        )
    }
}
