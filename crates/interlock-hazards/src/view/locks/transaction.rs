//! Transactions: which connection a statement goes over, and what the transaction on it keeps true.

use interlock_model::{
    Span,
    ir::{AccessPath, Callee, Field, Function, FunctionId, Isolation, Name, Op, Root, Value, Via},
};

use crate::{
    lexicon::Topic,
    view::{At, Kinds, Locks},
};

impl<'v, 'e> Locks<'v, 'e> {
    /// Whether a transaction makes a read and a later write one: both go over its connection, and the read is kept true.
    pub(in crate::view) fn covers(self, begin: At, read: At, write: At) -> bool {
        let transaction = match self.0.op(begin) {
            Some(Op::Begin { transaction }) => transaction,
            // Where one was asked for and found, whoever began it did so for this.
            _ => return self.was_asked_for(begin, read) && self.was_asked_for(begin, write),
        };
        let Via::Client(_) = transaction.via else { return false };
        let through = self.0.alias().via(&transaction.via);
        let one_writer = matches!(
            transaction.isolation,
            Isolation::SingleWriter | Isolation::Serializable | Isolation::FirstUpdaterWins
        );
        let inside = |at: At, via: Option<&Via>| {
            let Some(named) = via else { return true };
            let via = self.0.alias().via(named);
            via == through
                || through.is_unknown()
                || one_writer && self.are_one_connection(&via, &through, transaction.isolation)
                || self.is_handed_inside(begin, at, named)
        };
        let (locking, read_via) = match self.0.op(read) {
            Some(Op::Read { locking, via, .. }) => (*locking, via.as_deref()),
            Some(Op::Write { via, .. } | Op::Delete { via, .. }) => (true, via.as_deref()),
            _ => (false, None),
        };
        let write_via = match self.0.op(write) {
            Some(Op::Write { via, .. } | Op::Delete { via, .. }) => via.as_deref(),
            _ => None,
        };
        let kept = match transaction.isolation {
            Isolation::ReadCommitted | Isolation::Unknown => locking,
            Isolation::SingleWriter | Isolation::Serializable => true,
            Isolation::FirstUpdaterWins => locking || self.0.alias().overlap(read, write).is_some(),
        };
        kept && inside(read, read_via) && inside(write, write_via)
    }

    /// Whether a row that was read for update stays locked until a change of it takes effect, on a connection that opens its
    /// transactions by itself.
    pub(in crate::view) fn stays_locked(self, read: At, write: At) -> bool {
        let Some(Op::Read { locking: true, .. }) = self.0.op(read) else { return false };
        match (self.connection(read), self.connection(write)) {
            // Of a row that somebody else has read it is not known which way it is written: the way that it was read.
            (Some(connection), None) => self.is_ended_behind(read, write, &connection),
            _ => self.are_committed_together(read, write),
        }
    }

    /// The connection that a change, or a read for update, goes over.
    fn connection(self, at: At) -> Option<Via> {
        match self.0.op(at) {
            Some(Op::Write { via, .. } | Op::Delete { via, .. } | Op::Read { locking: true, via, .. }) => {
                via.as_deref().map(|via| self.0.alias().via(via))
            }
            _ => None,
        }
    }

    /// Whether two changes take effect with one commit, on a connection that opens its transactions by itself: nothing begins one on it,
    /// but somebody commits, as with the drivers of Python.
    pub(crate) fn are_committed_together(self, first: At, second: At) -> bool {
        match (self.connection(first), self.connection(second)) {
            (Some(one), Some(other)) if one == other => self.is_ended_behind(first, second, &one),
            _ => false,
        }
    }

    /// Whether the first end on a connection behind a step comes behind another step as well.
    fn is_ended_behind(self, first: At, second: At, connection: &Via) -> bool {
        let is_it = |via: &Via| self.0.alias().via(via) == *connection;
        let begins = |op: &Op| matches!(op, Op::Begin { transaction } if is_it(&transaction.via));
        if self.0.all(Kinds::OTHER, begins).next().is_some() {
            return false;
        }
        let ends = self.0.all(Kinds::OTHER, |op| matches!(op, Op::End { via, .. } if is_it(via)));
        let ends: Vec<At> = ends.collect();
        let leads = |from: At, to: At| self.0.control().leads_to(from, to).is_some();
        ends.iter().any(|end| leads(second, *end))
            && !ends.iter().any(|end| leads(first, *end) && leads(*end, second))
    }

    /// Whether what is asked is whether a transaction is open already: `if (db.inTransaction) return run();`.
    pub(in crate::view) fn asks_for_a_transaction(self, on: &[Value], equal: Option<&Name>) -> bool {
        let [asked] = on else { return false };
        let name = self.0.name_of(*asked);
        let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
        equal.is_none_or(|word| &**word == "true") && self.0.lexicon().has(Topic::InTransaction, last)
    }

    /// Whether a statement goes over the connection that was asked whether a transaction is open on it.
    fn was_asked_for(self, check: At, statement: At) -> bool {
        let Some(Op::Check { on, .. }) = self.0.op(check) else { return false };
        let asked = on.first().map(|asked| self.0.alias().resolve_path(&(*asked).into()));
        let Some(mut connection) = asked.filter(|asked| !asked.fields.is_empty()) else { return false };
        connection.fields.pop();
        match self.0.op(statement) {
            Some(Op::Read { via, .. } | Op::Write { via, .. } | Op::Delete { via, .. }) => {
                match via.as_deref() {
                    Some(via) => self.0.alias().via(via) == Via::Client(connection),
                    None => false,
                }
            }
            _ => false,
        }
    }

    /// Whether two connections can be taken for one where a transaction keeps others out: they go by the same name, as an object keeps what
    /// it was handed, or the same helper was asked for both. A file is mostly opened once; a pool gives another one each time it is asked.
    fn are_one_connection(self, one: &Via, other: &Via, isolation: Isolation) -> bool {
        let (Via::Client(one), Via::Client(other)) = (one, other) else { return false };
        let name = |path: &AccessPath| match (path.fields.last(), &path.root) {
            (Some(Field::Name(name)), _) => Some(name.clone()),
            (None, Root::Global(global)) => global.rsplit("::").next().map(Name::from),
            _ => None,
        };
        name(one).is_some_and(|one| name(other) == Some(one))
            || isolation == Isolation::SingleWriter
                && (self.0.alias().are_asked_alike(one, other) || self.are_got_alike(one, other))
    }

    /// Whether two connections were got by calling the same function that is not known: `const db = getDb()`, where `getDb` was handed in.
    fn are_got_alike(self, one: &AccessPath, other: &AccessPath) -> bool {
        let (Root::Value(first), Root::Value(second)) = (&one.root, &other.root) else { return false };
        let got = |value: Value| match self.0.op(self.0.flow().definition_site(value)?) {
            Some(Op::Call { callee, arguments, receiver: None, .. }) if arguments.is_empty() => Some(callee),
            _ => None,
        };
        let called = |name: &str| name.split('.').next().map(str::to_owned);
        let is_same = match (got(*first), got(*second)) {
            // What a closure captured goes by the name that it has where it is written.
            (Some(Callee::Value(one)), Some(Callee::Value(other))) => {
                one == other || called(self.0.name_of(*one)) == called(self.0.name_of(*other))
            }
            (Some(Callee::Named(one)), Some(Callee::Named(other))) => one == other,
            _ => false,
        };
        is_same && one.fields == other.fields
    }

    /// Whether a statement goes over what its function was handed by the one who began a transaction and called back:
    /// `transaction(fn) { begin(); await fn(adapter); commit(); }`. Whatever an adapter is, it was handed over for this.
    fn is_handed_inside(self, begin: At, at: At, via: &Via) -> bool {
        let Via::Client(AccessPath { root: Root::Value(handed), .. }) = via else { return false };
        let (Some(beginner), Some(statement)) =
            (self.0.control().flow_facts(begin), self.0.control().flow_facts(at))
        else {
            return false;
        };
        let mut around = self.frames_from(statement.frame);
        // The last before the one who began it is whom that one has called.
        let called = around.by_ref().take_while(|(frame, _)| *frame != beginner.frame).last();
        let outer: Vec<FunctionId> = around.map(|(_, function)| function).collect();
        let function = |id: FunctionId| self.0.program.function(id);
        let beginner = self.0.frames.get(beginner.frame).and_then(|frame| function(frame.function));
        let (Some(beginner), Some(called)) = (beginner, called.and_then(|(_, id)| function(id))) else {
            return false;
        };
        let name = self.0.name_of(*handed);
        let is_parameter = called
            .parameters
            .iter()
            .any(|parameter| called.values.get(parameter.0 as usize).is_some_and(|info| &*info.name == name));
        let is_inside = |outer: &Function| encloses(outer.span, called.span);
        // It is a function of somebody who has asked for the transaction, and not of the one who began it.
        is_parameter
            && !encloses(beginner.span, called.span)
            && outer.iter().any(|outer| function(*outer).is_some_and(is_inside))
    }

    /// A inlined call and those around it, each with its function, up to the entry's own.
    fn frames_from(self, frame: usize) -> impl Iterator<Item = (usize, FunctionId)> + 'v {
        let mut next = Some(frame);
        std::iter::from_fn(move || {
            let number = next?;
            let frame = self.0.frames.get(number)?;
            next = (number != frame.parent).then_some(frame.parent);
            Some((number, frame.function))
        })
    }
}

fn encloses(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end && outer != inner
}
