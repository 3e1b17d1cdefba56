//! A statement on the rows of a table, however it was written: as SQL, as a filter and an update, or clause by clause.

use interlock_model::ir::{
    Aspect, Body, Comparator, Comparison, Condition, Fresh, Name, Op, Origin, Resource, Term, Value, Via,
    WriteMode,
};

use super::identity;
use crate::Surroundings;

/// A statement.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) verb: Verb,
    pub(super) table: Term,
    /// The rows that it is about: all of these hold.
    pub(super) demands: Vec<Demand>,
    /// What it writes.
    pub(super) sets: Vec<Set>,
    /// What it asks for; empty for everything.
    pub(super) columns: Vec<Name>,
    /// What the store does about a row that is there already, in an insert; or one that is not, in an update.
    pub(super) conflict: Conflict,
    /// Demands on a row that is there already.
    pub(super) on_conflict: Vec<Demand>,
    /// The columns that say which row an insert means, where it names them.
    pub(super) target: Vec<Name>,
    /// Whether it could not be read as a whole: which rows it is about is not known then.
    pub(super) unreadable: bool,
    /// Whether the call itself asks for the one row with a key.
    pub(super) unique: bool,
    /// The keys that the table is declared with.
    keys: Vec<Vec<Name>>,
}

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Read { aspect: Aspect, locking: bool },
    Update,
    Insert,
    Delete,
}

/// What happens when a row is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conflict {
    /// It fails.
    Fail,
    /// It stays.
    Ignore,
    /// It is overwritten.
    Overwrite,
}

/// One thing that a row must fulfil.
#[derive(Debug, Clone)]
pub(super) struct Demand {
    pub(super) column: Name,
    pub(super) how: Comparator,
    pub(super) with: Term,
}

/// One thing that is written.
#[derive(Debug, Clone)]
pub(super) struct Set {
    /// The column; `None` for columns that are not understood.
    pub(super) column: Option<Name>,
    pub(super) to: To,
    /// What the column is called afterwards, for an insert's key.
    pub(super) term: Term,
    pub(super) values: Vec<Value>,
}

/// What a column is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// What the caller has computed.
    Absolute,
    /// What the store computes from what is there.
    Relative,
    /// The time, a default: nothing that a caller has judged.
    Neutral,
    /// Only where the row is new.
    Initial,
}

impl Statement {
    /// A statement that says nothing more yet.
    pub(super) fn new(verb: Verb, table: Term) -> Self {
        Self {
            verb,
            table,
            demands: vec![],
            sets: vec![],
            columns: vec![],
            conflict: Conflict::Fail,
            on_conflict: vec![],
            target: vec![],
            unreadable: false,
            unique: false,
            keys: vec![],
        }
    }

    /// A plain read.
    pub(super) fn read(table: Term) -> Self {
        Self::new(Verb::Read { aspect: Aspect::Content, locking: false }, table)
    }

    /// The rows that it is about, as a whole.
    pub(super) fn rows(&self, own_id: Option<Term>) -> Resource {
        let key = self.known_key(own_id);
        Resource::rows(self.table.clone(), key, vec![])
    }

    /// What its rows are found by. Where that is not known here, because another function has asked for them, a row goes by its own id.
    fn known_key(&self, own_id: Option<Term>) -> Term {
        match (self.split(), own_id) {
            ((Term::Unknown, _), Some(own_id)) => own_id,
            ((key, _), _) => key,
        }
    }

    /// The row that it makes, as a whole.
    pub(super) fn new_row(&self) -> Resource {
        Resource::rows(self.table.clone(), self.new_key(), vec![])
    }

    /// Writes it down. `into` is what it gives.
    pub(super) fn emit(
        mut self,
        around: &dyn Surroundings,
        body: &mut Body<'_>,
        into: Option<Value>,
        via: Option<Via>,
    ) {
        let via = via.map(Box::new);
        if let Term::Literal(table) = &self.table {
            self.keys = around.keys(table).to_vec();
        }
        match self.verb {
            Verb::Read { aspect, locking } => {
                let by_key = self.unique || !self.unreadable && self.declared().is_some();
                let into = into.unwrap_or_else(|| body.declare("rows", Origin::Step));
                let (key, condition) = self.split();
                let mut columns = self.columns;
                if !columns.is_empty() {
                    columns.extend(condition.0.iter().map(|demand| demand.column.clone()));
                }
                let of = Resource::rows(self.table, key, unique(columns));
                body.push(Op::Read { into, of, aspect, locking, unique: by_key, demands: condition, via });
            }
            Verb::Delete => {
                let (key, condition) = self.split();
                let of = Resource::rows(self.table, key, vec![]);
                let when = (!condition.0.is_empty()).then_some(condition);
                body.push(Op::Delete { of, when, outcome: into, via });
            }
            Verb::Insert => self.insert(body, into, via),
            Verb::Update => self.update(body, into, via),
        }
    }

    /// The demands that together are a key that the table is declared with.
    fn declared(&self) -> Option<Vec<&Demand>> {
        let named = |column: &Name| {
            let mut equal = self.demands.iter().filter(|demand| demand.how == Comparator::Equal);
            equal.find(|demand| demand.column.eq_ignore_ascii_case(column))
        };
        self.keys.iter().find_map(|key| key.iter().map(named).collect())
    }

    fn split(&self) -> (Term, Condition) {
        if self.unreadable {
            return (Term::Unknown, Condition::default());
        }
        let written: Vec<&Name> = match self.verb {
            Verb::Update => self.sets.iter().filter_map(|set| set.column.as_ref()).collect(),
            _ => vec![],
        };
        let declared = self.declared().unwrap_or_default();
        identity::split(&self.table, &self.demands, &written, &declared)
    }

    /// Whether a column may say which row an insert means.
    fn identifies(&self, column: &Name) -> bool {
        self.target.is_empty() || self.target.contains(column)
    }

    fn new_key(&self) -> Term {
        let demand = |set: &Set| {
            let column = set.column.clone().filter(|column| self.identifies(column))?;
            Some(Demand { column, how: Comparator::Equal, with: set.term.clone() })
        };
        let given: Vec<Demand> = self.sets.iter().filter_map(demand).collect();
        match (self.target.is_empty(), identity::of_new(&self.table, &given)) {
            (false, _) => identity::by_all(&given),
            // It may be there already, whatever it is called.
            (true, Term::Fresh(_)) if self.conflict != Conflict::Fail => Term::Unknown,
            (true, key) => key,
        }
    }

    fn insert(self, body: &mut Body<'_>, into: Option<Value>, via: Option<Box<Via>>) {
        let key = self.new_key();
        let relative = self.sets.iter().any(|set| set.to == To::Relative);
        let mode = match self.conflict {
            Conflict::Fail if self.demands.is_empty() => WriteMode::Exclusive,
            Conflict::Fail => WriteMode::Conditional(condition(&self.demands)),
            Conflict::Ignore => WriteMode::Ensure,
            Conflict::Overwrite if !self.on_conflict.is_empty() => {
                WriteMode::Conditional(condition(&self.on_conflict))
            }
            Conflict::Overwrite if relative => WriteMode::Atomic,
            Conflict::Overwrite => WriteMode::Blind,
        };
        let whole = self.sets.iter().any(|set| set.column.is_none());
        // As in an update: where the store computes one column, the others are still what the caller has computed. The columns
        // that say which row it is are the same before and after.
        let given: Vec<Set> = if mode == WriteMode::Atomic && !whole {
            let is_given = |set: &&Set| set.to == To::Absolute && !self.is_in_key(set.column.as_ref());
            self.sets.iter().filter(is_given).cloned().collect()
        } else {
            vec![]
        };
        let is_other = |set: &&Set| !given.iter().any(|given| given.column == set.column);
        let others: Vec<Set> = self.sets.iter().filter(is_other).cloned().collect();
        let all = if whole { vec![] } else { columns(&others, |_| true) };
        let to = Resource::rows(self.table.clone(), key.clone(), all);
        let from = values(&others, |_| true);
        body.push(Op::Write { to, from, mode, outcome: into, via: via.clone() });
        if !given.is_empty() {
            let to = Resource::rows(self.table, key, columns(&given, |_| true));
            let from = values(&given, |_| true);
            body.push(Op::Write { to, from, mode: WriteMode::Blind, outcome: None, via });
        }
    }

    /// Whether a column belongs to what says which row an insert means.
    fn is_in_key(&self, column: Option<&Name>) -> bool {
        let Some(column) = column else { return false };
        match self.target.is_empty() {
            false => self.target.contains(column),
            true => {
                identity::may_name(&self.table, column)
                    || self.keys.iter().flatten().any(|key| key.eq_ignore_ascii_case(column))
            }
        }
    }

    fn update(self, body: &mut Body<'_>, into: Option<Value>, via: Option<Box<Via>>) {
        let (key, condition) = self.split();
        self.put(key, condition, body, into, via);
    }

    /// Writes columns of the rows that it has found: by what they are, whatever it found them by, and where a condition still holds.
    pub(super) fn change(
        self,
        sets: Vec<Set>,
        condition: Condition,
        own_id: Option<Term>,
        body: &mut Body<'_>,
        into: Option<Value>,
        via: Option<Box<Via>>,
    ) {
        let key = self.known_key(own_id);
        Self { sets, ..self }.put(key, condition, body, into, via);
    }

    fn put(
        self,
        key: Term,
        condition: Condition,
        body: &mut Body<'_>,
        into: Option<Value>,
        via: Option<Box<Via>>,
    ) {
        let any = |wanted: To| self.sets.iter().any(|set| set.to == wanted);
        let (absolute, relative) = (any(To::Absolute), any(To::Relative));
        let whole = self.sets.is_empty() || self.sets.iter().any(|set| set.column.is_none());
        let mut outcome = into;
        let mut write = |columns: Vec<Name>, from: Vec<Value>, mode: WriteMode| {
            let to = Resource::rows(self.table.clone(), key.clone(), columns);
            body.push(Op::Write { to, from, mode, outcome: outcome.take(), via: via.clone() });
        };
        let all = if whole { vec![] } else { columns(&self.sets, |_| true) };
        if !condition.0.is_empty() {
            write(all, values(&self.sets, |_| true), WriteMode::Conditional(condition));
        } else if relative && absolute && !whole {
            // Two halves of one statement: the store computes the one, the caller the other, and only the other can be stale.
            let computed = |to: To| to != To::Absolute;
            write(columns(&self.sets, computed), values(&self.sets, computed), WriteMode::Atomic);
            let given = |to: To| to == To::Absolute;
            write(columns(&self.sets, given), values(&self.sets, given), WriteMode::Blind);
        } else {
            let mode = match (absolute || self.sets.is_empty(), relative, any(To::Initial)) {
                (true, ..) => WriteMode::Blind,
                (false, false, true) => WriteMode::Ensure,
                // Also where it only sets the time: nothing that anybody has judged.
                (false, ..) => WriteMode::Atomic,
            };
            write(all, values(&self.sets, |_| true), mode);
        }
    }
}

impl Set {
    /// A column that the caller has computed, with a look at what that is: the time of day was not judged by anybody.
    pub(super) fn to_given(column: Option<Name>, term: Term, values: Vec<Value>) -> Self {
        let stamp = column.as_deref().is_some_and(is_time_stamp) || term == Term::Fresh(Fresh::Time);
        Self { column, to: if stamp { To::Neutral } else { To::Absolute }, term, values }
    }
}

/// Whether a column is called like one that every update sets to the time.
fn is_time_stamp(column: &str) -> bool {
    let plain: String = column.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    matches!(
        plain.as_str(),
        "updatedat" | "modifiedat" | "lastmodified" | "updated" | "modified" | "lastupdated" | "updatetime"
    )
}

fn condition(demands: &[Demand]) -> Condition {
    let comparison = |demand: &Demand| Comparison {
        column: demand.column.clone(),
        how: demand.how,
        with: demand.with.clone(),
    };
    Condition(demands.iter().map(comparison).collect())
}

fn columns(sets: &[Set], which: impl Fn(To) -> bool) -> Vec<Name> {
    unique(sets.iter().filter(|set| which(set.to)).filter_map(|set| set.column.clone()).collect())
}

fn values(sets: &[Set], which: impl Fn(To) -> bool) -> Vec<Value> {
    unique(sets.iter().filter(|set| which(set.to)).flat_map(|set| set.values.iter().copied()).collect())
}

/// The same things, each where it stood first.
pub(super) fn unique<T: PartialEq>(things: Vec<T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::with_capacity(things.len());
    for thing in things {
        if !kept.contains(&thing) {
            kept.push(thing);
        }
    }
    kept
}
