//! Check-act pairs (TOCTOU): a read and a later act on the same thing, with a race window that another call fits into.
//!
//! Which rule a pair belongs to is decided by the table in `claims.rs`, so that one race window is one finding. Why two steps make no pair is noted for
//! whoever asks (`decision.rs`).

use std::ops::Deref;

use interlock_model::{
    Confidence, HazardId, Lane, Reach, Span,
    ir::{Comparison, Condition, Fresh, Name, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue, Outcome,
    claims::Claim,
    fields::{asks_presence, is_version, same_name, says_it_went_well},
    keys::key_of,
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, View},
};

/// A read and a later act on the same thing, with a race window between them.
pub(crate) struct CheckAct<'v, 'e> {
    pub(crate) entry: &'v Entry<'e>,
    pub(crate) pair: Pair,
}

/// A check-act pair by the numbers of its steps, so that a view can keep what all rules ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) entry: usize,
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

/// Whether it is not known what a demand is about: its text is put together elsewhere.
fn is_unread(demand: &Comparison) -> bool {
    &*demand.column == "?"
}

impl CheckAct<'_, '_> {
    /// The columns or fields that the check compares; empty if it only asks whether there is something.
    pub(crate) fn judged_fields(&self) -> Vec<Name> {
        let Some(Op::Check { on, equal, .. }) = self.check.and_then(|check| self.entry.op(check)) else {
            return vec![];
        };
        // In `{ status: "success", data: row }` the field `status` belongs to the answer of a helper, not to the row.
        let went_well = |value: &Value| {
            let of_answer = || match self.entry.alias().field_path(*value).map(|path| &path.root) {
                Some(Root::Value(whole)) => {
                    !matches!(self.entry.op(self.read), Some(Op::Read { into, .. }) if into == whole)
                }
                _ => false,
            };
            equal.as_ref().is_some_and(|word| self.entry.lexicon().has(Topic::WentWell, word)) && of_answer()
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
                || says_it_went_well(self.entry, *value, &field)
                || went_well(value);
            Some((field, only_asks))
        };
        let judged: Vec<(Name, bool)> = on.iter().filter_map(of_value).collect();
        // Two questions for whether there is something compare nothing.
        let only_asks = judged.len() == on.len() && judged.iter().all(|(_, only_asks)| *only_asks);
        let compared = judged.into_iter().filter(|(_, only_asks)| !only_asks);
        let mut fields: Vec<Name> = compared.map(|(field, _)| field).collect();
        let with_something = on.len() > 1 || equal.is_some();
        if fields.is_empty() && with_something && !only_asks && on.iter().any(seen) {
            // Compared as a whole with something else: what was asked for is what is judged.
            fields.extend(self.entry.alias().columns(self.read).into_iter().flatten().cloned());
        }
        for demanded in
            self.demanded_fields().into_iter().chain(self.entry.flow().fields_looked_up(on, self.read))
        {
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
        // Of many rows only one that was picked out of them, and is changed by its own id, was judged by that.
        if self.reads_many() && !self.is_picked() {
            return vec![];
        }
        // Who only sets a time, as when something is marked as deleted, takes nothing from whoever did so before.
        let updates = matches!(
            self.entry.op(self.act),
            Some(Op::Write { mode: WriteMode::Blind | WriteMode::Conditional(_), .. })
        );
        let columns = self.entry.alias().columns(self.act).filter(|_| updates).unwrap_or_default();
        let mut demanded: Vec<Name> = vec![];
        for Comparison { column, .. } in &demands.0 {
            if !demanded.contains(column) && columns.iter().any(|changed| same_name(changed, column)) {
                demanded.push(column.clone());
            }
        }
        demanded
    }

    /// Whether the read names no row.
    fn reads_many(&self) -> bool {
        matches!(self.entry.resource(self.read), Some(Resource::Row { key, .. }) if matches!(**key, Term::Any | Term::Unknown))
    }

    /// Whether the act is on the one row that was picked out of those which the read saw: the next open job, by its id.
    pub(crate) fn is_picked(&self) -> bool {
        let Some(Resource::Row { key, .. }) = self.entry.resource(self.act) else { return false };
        let of_read = |value: &Value| self.entry.flow().sources(*value).contains(&self.read);
        self.reads_many()
            && self.entry.flow().values_in(key).iter().any(of_read)
            && !self.entry.alias().is_one_of_many(self.read, self.act)
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
                || is_unread(demand) && self.is_outcome_judged()
        })
    }

    /// Whether the act demands something that is put into its text elsewhere.
    pub(crate) fn has_unread_demand(&self) -> bool {
        match self.entry.op(self.act) {
            Some(Op::Write { mode: WriteMode::Conditional(Condition(demands)), .. }) => {
                demands.iter().any(is_unread)
            }
            Some(Op::Delete { when: Some(Condition(demands)), .. }) => demands.iter().any(is_unread),
            _ => false,
        }
    }

    /// Whether anything is decided by what the act came to: how many rows it has changed.
    fn is_outcome_judged(&self) -> bool {
        let Some(Op::Write { outcome: Some(outcome), .. } | Op::Delete { outcome: Some(outcome), .. }) =
            self.entry.op(self.act)
        else {
            return false;
        };
        let judges = |op: &Op| match op {
            Op::Check { on, .. } => on.iter().any(|on| self.entry.flow().depends_on(*on, *outcome)),
            _ => false,
        };
        self.entry.all(Kinds::CHECK, judges).any(|check| check > self.act)
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
            Some(Op::Write { mode: WriteMode::Blind, from, .. }) => {
                let compared = |check| match self.entry.op(check) {
                    Some(Op::Check { equal: Some(_), .. }) => true,
                    Some(Op::Check { on, equal: None, .. }) => self.stands_in(on, from),
                    _ => false,
                };
                self.data_dependent
                    || self.check.is_some_and(compared) && !self.entry.control().is_recovery(self.act)
            }
            _ => false,
        }
    }

    /// Whether the act puts there what an answer says to a question that was put with what was read: the place where a list goes on.
    pub(crate) fn moves_on(&self) -> bool {
        let Some(Op::Write { mode: WriteMode::Blind, from, .. }) = self.entry.op(self.act) else {
            return false;
        };
        let flow = self.entry.flow();
        let is_asked_with = |answer: &At| {
            let is_read = |value: &Value| flow.sources(*value).contains(&self.read);
            *answer != self.read && flow.asked_with(*answer).iter().any(is_read)
        };
        flow.sources_of(from).iter().any(is_asked_with)
    }

    /// Whether the act puts there what the read was compared with.
    pub(crate) fn puts_what_was_compared(&self) -> bool {
        match (self.check.and_then(|check| self.entry.op(check)), self.entry.op(self.act)) {
            (Some(Op::Check { on, equal: None, .. }), Some(Op::Write { from, .. })) => {
                self.stands_in(on, from)
            }
            _ => false,
        }
    }

    /// Whether the written value is computed from the other operand of the check: `if turn != player: raise`, then `turn = after(player)`.
    fn stands_in(&self, on: &[Value], from: &[Value]) -> bool {
        let flow = self.entry.flow();
        let is_read = |value: &Value| flow.sources(*value).contains(&self.read);
        let (read, other): (Vec<&Value>, Vec<&Value>) = on.iter().partition(|value| is_read(value));
        let ([_], [other]) = (read.as_slice(), other.as_slice()) else { return false };
        // The time that something was last done is compared with now, and is now afterwards: nobody's state was judged.
        !flow.is_made_of_fresh(&[**other], Fresh::Time)
            && from.iter().any(|value| flow.depends_on(*value, **other))
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
