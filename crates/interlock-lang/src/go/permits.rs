//! Channels as locks: where a send or a receive takes a permit, and where it gives one back.
//!
//! ```text
//! s.turn <- struct{}{}                                // room for one: whoever comes next waits here
//! defer func() { <-s.turn }()
//! ```
//!
//! Taken for a lock is a channel into which one goroutine puts something that says nothing and out of which the same goroutine takes it
//! again, or the other way round where it was filled before. The two may stand in methods of their own whose body is nothing else.
//! A signal (`done <- struct{}{}` here, `<-done` there), a queue, a pool, and what is closed or gone through are none: what they carry
//! or say is used, or another goroutine is at the other end.
//!
//! How many it lets in is told by where it is made. Where that is not seen, or is no number, it bounds the work and protects nothing.

use interlock_model::ir::LockKind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    ast::{Call, Case, Expr, File, For, Function, Kind, Place, Stmt, StmtKind, Type},
    bind::Facts,
};

/// What a send or a receive does to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Permit {
    /// Whether it takes one, and does not give one back.
    pub(super) takes: bool,
    pub(super) kind: LockKind,
}

/// The sends and receives of a file that are no messages, by where they stand.
pub(super) fn permits<'a>(file: &'a File<'a>, facts: &Facts<'a>) -> FxHashMap<u32, Permit> {
    let mut walk = Walk { facts, helpers: helpers(file, facts), ..Walk::new(facts) };
    for variables in &file.variables {
        for (name, value) in variables.names.iter().zip(&variables.values) {
            walk.made((None, name.text), value);
        }
        variables.values.iter().for_each(|value| walk.expression(value));
    }
    for function in &file.functions {
        walk.own_goroutine(|this| this.statements(&function.body));
    }
    walk.settle()
}

/// A channel: a local by its number, anything else by its last name.
type Channel<'a> = (Option<u32>, &'a str);

/// A send or a receive whose value says nothing.
#[derive(Debug, Clone, Copy)]
struct Move {
    puts: bool,
    /// Where it stands; `None` for a call of a method that does nothing else.
    at: Option<u32>,
    /// The goroutine that does it, among those of the file.
    goroutine: usize,
}

#[derive(Debug, Default)]
struct Uses {
    moves: Vec<Move>,
    /// How many have room in it, each time that it is made.
    room: Vec<Option<i64>>,
    /// Whether it is closed, gone through, or what comes out of it is used.
    speaks: bool,
}

struct Walk<'w, 'a> {
    facts: &'w Facts<'a>,
    channels: FxHashMap<Channel<'a>, Uses>,
    /// Methods that do nothing but move one thing: which channel, and whether they put.
    helpers: FxHashMap<&'a str, (Channel<'a>, bool, u32)>,
    goroutine: usize,
    goroutines: usize,
}

/// The functions whose body is one send or one receive.
fn helpers<'a>(file: &'a File<'a>, facts: &Facts<'a>) -> FxHashMap<&'a str, (Channel<'a>, bool, u32)> {
    let mut found: FxHashMap<&str, (Channel<'_>, bool, u32)> = FxHashMap::default();
    let mut others: FxHashSet<&str> = FxHashSet::default();
    for function in &file.functions {
        let mut walk = Walk::new(facts);
        walk.statements(&function.body);
        let only = match function.body.as_slice() {
            [only] => is_wait(only),
            [first, Stmt { kind: StmtKind::Return(results), .. }] => {
                is_wait(first) && results.iter().all(|it| matches!(it.kind, Kind::Nil | Kind::Bool(_)))
            }
            _ => false,
        };
        let mut moved = walk.channels.iter().filter(|(_, uses)| !uses.moves.is_empty());
        let one = moved.next().filter(|_| only && moved.next().is_none());
        match one.map(|(channel, uses)| (*channel, uses.moves.as_slice(), uses.speaks)) {
            Some((channel @ (None, _), [Move { puts, at: Some(at), .. }], false)) => {
                if found.insert(function.name, (channel, *puts, *at)).is_some() {
                    others.insert(function.name);
                }
            }
            _ => {
                others.insert(function.name);
            }
        }
    }
    found.retain(|name, _| !others.contains(name));
    found
}

/// Whether a statement is nothing but a send or a receive. Who chooses between several has to say what came of it.
fn is_wait(statement: &Stmt<'_>) -> bool {
    match &statement.kind {
        StmtKind::Send(..) => true,
        StmtKind::Expr(it) => matches!(it.kind, Kind::Unary("<-", _)),
        _ => false,
    }
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(facts: &'w Facts<'a>) -> Self {
        let (channels, helpers) = (FxHashMap::default(), FxHashMap::default());
        Self { facts, channels, helpers, goroutine: 0, goroutines: 0 }
    }

    fn settle(self) -> FxHashMap<u32, Permit> {
        let mut permits = FxHashMap::default();
        for (channel, uses) in &self.channels {
            let Some((puts_first, paired)) = pairs(uses) else { continue };
            let Some(kind) = kind(uses) else { continue };
            let permit = |puts: bool| Permit { takes: puts == puts_first, kind };
            for step in uses.moves.iter().filter(|step| paired.contains(&step.goroutine)) {
                permits.extend(step.at.map(|at| (at, permit(step.puts))));
            }
            let helpers = self.helpers.values().filter(|(of, ..)| of == channel);
            permits.extend(helpers.map(|(_, puts, at)| (*at, permit(*puts))));
        }
        permits
    }

    fn channel(&self, channel: &Expr<'a>) -> Option<Channel<'a>> {
        match &channel.kind {
            Kind::Name(name) => Some((self.facts.meant(channel.at.0), name)),
            Kind::Selector(_, name) => Some((None, name)),
            _ => None,
        }
    }

    fn uses(&mut self, channel: &Expr<'a>) -> Option<&mut Uses> {
        let channel = self.channel(channel)?;
        Some(self.channels.entry(channel).or_default())
    }

    fn speaks(&mut self, channel: &Expr<'a>) {
        if let Some(uses) = self.uses(channel) {
            uses.speaks = true;
        }
    }

    fn moves(&mut self, channel: &Expr<'a>, puts: bool, at: Place) {
        let goroutine = self.goroutine;
        if let Some(uses) = self.uses(channel) {
            uses.moves.push(Move { puts, at: Some(at.0), goroutine });
        }
    }

    /// `make(chan struct{}, 1)`.
    fn made(&mut self, channel: Channel<'a>, value: &Expr<'a>) {
        let Kind::Call(call) = &value.kind else { return };
        let [first, rest @ ..] = call.arguments.as_slice() else { return };
        let is_channel = matches!(first.kind, Kind::Convert(Type::Channel(_), None));
        if !is_channel || !matches!(call.callee.kind, Kind::Name("make")) {
            return;
        }
        let room = match rest.first().map(|room| &room.kind) {
            None => Some(0),
            Some(Kind::Number(room)) => *room,
            Some(_) => None,
        };
        self.channels.entry(channel).or_default().room.push(room);
    }

    fn own_goroutine(&mut self, inner: impl FnOnce(&mut Self)) {
        self.goroutines += 1;
        let outer = std::mem::replace(&mut self.goroutine, self.goroutines);
        inner(self);
        self.goroutine = outer;
    }

    fn statements(&mut self, statements: &'a [Stmt<'a>]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'a Stmt<'a>) {
        match &statement.kind {
            StmtKind::Expr(Expr { kind: Kind::Unary("<-", channel), at }) => self.moves(channel, false, *at),
            StmtKind::Send(channel, value) => {
                if says_nothing(value) {
                    self.moves(channel, true, statement.at);
                } else {
                    self.speaks(channel);
                    self.expression(value);
                }
            }
            StmtKind::Expr(it) => self.expression(it),
            StmtKind::Go(it) => self.own_goroutine(|this| this.expression(it)),
            // What is deferred is this goroutine's, and so is what is called where it is written.
            StmtKind::Defer(it) => self.expression(it),
            StmtKind::Define(left, right) | StmtKind::Assign(left, _, right) => {
                for (left, right) in left.iter().zip(right) {
                    if let Some(channel) = self.channel(left) {
                        self.made(channel, right);
                    }
                }
                left.iter().chain(right).for_each(|it| self.expression(it));
            }
            StmtKind::Variables(it) => {
                for (name, value) in it.names.iter().zip(&it.values) {
                    self.made((self.facts.meant(name.at.0), name.text), value);
                }
                it.values.iter().for_each(|it| self.expression(it));
            }
            StmtKind::Block(it) | StmtKind::Several(it) => self.statements(it),
            StmtKind::If(it) => {
                it.initial.iter().for_each(|it| self.statement(it));
                self.expression(&it.condition);
                self.statements(&it.then);
                it.otherwise.iter().for_each(|it| self.statement(it));
            }
            StmtKind::For(it) => self.turns(it),
            StmtKind::Switch(it) => {
                it.initial.iter().for_each(|it| self.statement(it));
                it.value.iter().for_each(|it| self.expression(it));
                it.cases.iter().for_each(|case| self.case(case));
            }
            StmtKind::Select(cases) => self.select(cases),
            StmtKind::Return(it) => it.iter().for_each(|it| self.expression(it)),
            StmtKind::Break | StmtKind::Continue | StmtKind::Other => {}
        }
    }

    fn turns(&mut self, it: &'a For<'a>) {
        match it {
            For::Clause { initial, condition, update, body } => {
                initial.iter().for_each(|it| self.statement(it));
                condition.iter().for_each(|it| self.expression(it));
                update.iter().for_each(|it| self.statement(it));
                self.statements(body);
            }
            For::Range { left, over, body, .. } => {
                self.speaks(over);
                left.iter().chain([over]).for_each(|it| self.expression(it));
                self.statements(body);
            }
        }
    }

    /// `select` waits for one of several. What it moves is a permit where that way goes on behind it and every other one leaves: a
    /// function that leaves with the permit tells its caller by what it returns whether it has it.
    fn select(&mut self, cases: &'a [Case<'a>]) {
        let stays = |case: &Case<'_>| !case.body.last().is_some_and(leaves);
        for (number, case) in cases.iter().enumerate() {
            let mut others = cases.iter().enumerate().filter(|(other, _)| *other != number);
            let only_way = stays(case) && others.all(|(_, other)| !stays(other));
            match &case.waits {
                Some(waits) if only_way => self.statement(waits),
                Some(Stmt { kind: StmtKind::Send(channel, value), .. }) => {
                    self.speaks(channel);
                    self.expression(value);
                }
                Some(Stmt {
                    kind: StmtKind::Expr(Expr { kind: Kind::Unary("<-", channel), .. }), ..
                }) => {
                    self.speaks(channel);
                    self.expression(channel);
                }
                Some(waits) => self.statement(waits),
                None => {}
            }
            self.statements(&case.body);
        }
    }

    fn case(&mut self, case: &'a Case<'a>) {
        case.values.iter().for_each(|it| self.expression(it));
        self.statements(&case.body);
    }

    fn call(&mut self, call: &'a Call<'a>) {
        if let (Kind::Name("close"), [channel]) = (&call.callee.kind, call.arguments.as_slice()) {
            self.speaks(channel);
        }
        match &call.callee.kind {
            Kind::Function(function) => self.statements(&function.body),
            Kind::Name(name) | Kind::Selector(_, name) => {
                let goroutine = self.goroutine;
                if let Some((channel, puts, _)) = self.helpers.get(name).copied() {
                    let step = Move { puts, at: None, goroutine };
                    self.channels.entry(channel).or_default().moves.push(step);
                }
                self.expression(&call.callee);
            }
            _ => self.expression(&call.callee),
        }
        call.arguments.iter().for_each(|it| self.expression(it));
    }

    fn literal(&mut self, function: &'a Function<'a>) {
        self.own_goroutine(|this| this.statements(&function.body));
    }

    fn expression(&mut self, expression: &'a Expr<'a>) {
        match &expression.kind {
            Kind::Unary("<-", channel) => {
                self.speaks(channel);
                self.expression(channel);
            }
            Kind::Selector(inner, _) | Kind::Unary(_, inner) | Kind::Assert(inner, _) => {
                self.expression(inner);
            }
            Kind::Convert(_, inner) => inner.iter().for_each(|it| self.expression(it)),
            Kind::Index(object, index) => {
                self.expression(object);
                self.expression(index);
            }
            Kind::Slice(object, ends) => {
                self.expression(object);
                ends.iter().for_each(|it| self.expression(it));
            }
            Kind::Call(call) => self.call(call),
            Kind::Binary(first, rest) => {
                self.expression(first);
                rest.iter().for_each(|(_, it)| self.expression(it));
            }
            Kind::Function(function) => self.literal(function),
            Kind::Composite(_, elements) => {
                for element in elements {
                    if let Some(Expr { kind: Kind::Name(name), .. }) = &element.key {
                        self.made((None, name), &element.value);
                    }
                    self.expression(&element.value);
                }
            }
            Kind::Other(inner) => inner.iter().for_each(|it| self.expression(it)),
            Kind::Name(_) | Kind::Text(_) | Kind::Number(_) | Kind::Bool(_) | Kind::Nil => {}
        }
    }
}

/// Whether those who use a channel first put and then take, and which goroutines do both. `None` where they do not agree.
fn pairs(uses: &Uses) -> Option<(bool, FxHashSet<usize>)> {
    if uses.speaks {
        return None;
    }
    let mut first: FxHashMap<usize, bool> = FxHashMap::default();
    let mut both: FxHashSet<usize> = FxHashSet::default();
    for step in &uses.moves {
        if *first.entry(step.goroutine).or_insert(step.puts) != step.puts {
            both.insert(step.goroutine);
        }
    }
    let mut orders = both.iter().filter_map(|goroutine| first.get(goroutine).copied());
    let puts_first = orders.next()?;
    orders.all(|other| other == puts_first).then_some((puts_first, both))
}

/// How many it lets in. One without room is no lock: whoever sends waits for whoever receives.
fn kind(uses: &Uses) -> Option<LockKind> {
    match uses.room.as_slice() {
        rooms if rooms.contains(&Some(0)) => None,
        [Some(1), rest @ ..] if rest.iter().all(|room| *room == Some(1)) => Some(LockKind::Mutex),
        _ => Some(LockKind::Semaphore),
    }
}

/// Whether a value carries nothing: `struct{}{}`, `token{}`, `true`, `1`.
fn says_nothing(value: &Expr<'_>) -> bool {
    match &value.kind {
        Kind::Composite(_, elements) => elements.is_empty(),
        Kind::Bool(_) | Kind::Number(_) | Kind::Nil => true,
        _ => false,
    }
}

/// Whether a statement ends the way that it is on.
fn leaves(statement: &Stmt<'_>) -> bool {
    match &statement.kind {
        StmtKind::Return(_) | StmtKind::Continue => true,
        StmtKind::Expr(Expr { kind: Kind::Call(call), .. }) => {
            matches!(call.callee.kind, Kind::Name("panic"))
        }
        _ => false,
    }
}
