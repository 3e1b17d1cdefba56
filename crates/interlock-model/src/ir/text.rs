//! The stable text form of the IR: one line a step, its source line in front, blocks indented.
//!
//! Tests compare it and people read it in bug reports, so a change here shows up in every expectation; that is intended.

use std::fmt::{self, Display, Formatter};

use super::{
    AccessPath, Argument, Aspect, Backoff, Block, Bound, Callee, Change, Condition, Effect, Exit, Field,
    Finish, Fresh, Function, Hold, Interleaving, Isolation, Lease, Lock, LockKind, Op, Origin, Program,
    Resource, Role, Root, Scope, Start, Term, Transport, Value, Via, WriteMode,
};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for server in &self.servers {
            let transport = match server.transport {
                Transport::Stdio => "stdio",
                Transport::Http => "http",
            };
            let limited = if server.limited { ", limited" } else { "" };
            writeln!(f, "{:<4}  server on {transport}{limited}", server.span.line)?;
        }
        for (position, function) in self.functions.iter().enumerate() {
            if position > 0 || !self.servers.is_empty() {
                writeln!(f)?;
            }
            Printer { program: self, function }.function(f)?;
        }
        for note in &self.notes {
            writeln!(f, "{:<4}  note: {}", note.span.line, note.text)?;
        }
        Ok(())
    }
}

/// Prints one function; everything below it needs the function for its values' names and the program for its functions'.
#[derive(Clone, Copy)]
struct Printer<'p> {
    program: &'p Program,
    function: &'p Function,
}

impl Printer<'_> {
    fn function(self, f: &mut Formatter<'_>) -> fmt::Result {
        let Function { name, span, role, interleaving, parameters, .. } = self.function;
        write!(f, "{:<4}  fn {name}({})", span.line, self.values(parameters))?;
        match role {
            Role::Helper => {}
            Role::StartUp => write!(f, " at start-up")?,
            Role::Handler(tools) => {
                for tool in tools {
                    let read_only = if tool.read_only { " read-only" } else { "" };
                    let idempotent = if tool.idempotent { " idempotent" } else { "" };
                    write!(f, " handles {}{read_only}{idempotent}", tool.name)?;
                }
            }
        }
        writeln!(
            f,
            "{}",
            if *interleaving == Interleaving::Anywhere { ", interleaves anywhere" } else { "" }
        )?;
        self.block(f, &self.function.body, 1)
    }

    fn block(self, f: &mut Formatter<'_>, block: &Block, depth: usize) -> fmt::Result {
        block.iter().try_for_each(|effect| self.effect(f, effect, depth))
    }

    fn effect(self, f: &mut Formatter<'_>, effect: &Effect, depth: usize) -> fmt::Result {
        writeln!(f, "{:<4}  {:indent$}{}", effect.span.line, "", self.op(&effect.op), indent = depth * 2)?;
        match &effect.op {
            Op::Check { then, otherwise, .. } => {
                self.labelled(f, "then", then, depth)?;
                self.labelled(f, "else", otherwise, depth)
            }
            Op::Try { body, catch, finally } => {
                self.block(f, body, depth + 1)?;
                if let Some(catch) = catch {
                    self.label(f, "catch", depth)?;
                    self.block(f, catch, depth + 1)?;
                }
                self.labelled(f, "finally", finally, depth)
            }
            Op::Together { branches } => {
                branches.iter().try_for_each(|branch| self.labelled(f, "branch", branch, depth))
            }
            other => other.blocks().try_for_each(|inner| self.block(f, inner, depth + 1)),
        }
    }

    fn labelled(self, f: &mut Formatter<'_>, label: &str, block: &Block, depth: usize) -> fmt::Result {
        if block.is_empty() {
            return Ok(());
        }
        self.label(f, label, depth)?;
        self.block(f, block, depth + 1)
    }

    fn label(self, f: &mut Formatter<'_>, label: &str, depth: usize) -> fmt::Result {
        writeln!(f, "{:indent$}{label}", "", indent = 6 + depth * 2)
    }

    fn op(self, op: &Op) -> String {
        match op {
            Op::Read { into, of, aspect, locking, via } => {
                let aspect = match aspect {
                    Aspect::Content => "",
                    Aspect::Existence => "existence of ",
                    Aspect::Metadata => "metadata of ",
                    Aspect::Target => "target of ",
                };
                let locking = if *locking { " for update" } else { "" };
                format!(
                    "{}read {aspect}{}{locking}{}",
                    self.into(*into),
                    self.resource(of),
                    self.via(via.as_ref())
                )
            }
            Op::Write { to, from, mode, outcome, via } => {
                let (to, from) = (self.resource(to), self.list(" from ", from));
                let (outcome, mode, when) =
                    (self.maybe(*outcome), mode_name(mode), self.mode_condition(mode));
                format!("{outcome}write {mode} {to}{when}{from}{}", self.via(via.as_ref()))
            }
            Op::Delete { of, when, outcome, via } => {
                let when = when.as_ref().map(|when| self.condition(when)).unwrap_or_default();
                format!(
                    "{}delete {}{when}{}",
                    self.maybe(*outcome),
                    self.resource(of),
                    self.via(via.as_ref())
                )
            }
            Op::Rename { from, to } => format!("rename {} to {}", self.resource(from), self.resource(to)),
            Op::Derive { into, from } => format!("{}from {}", self.into(*into), self.values(from)),
            Op::Check { on, .. } => format!("check {}", self.values(on)),
            Op::Suspend => "suspend".into(),
            Op::Sleep { backoff, jitter } => {
                let backoff = match backoff {
                    Backoff::Fixed => "fixed",
                    Backoff::Growing => "growing",
                };
                format!("sleep {backoff}{}", if *jitter { " with jitter" } else { "" })
            }
            Op::Spawn { start, .. } => match start {
                Start::Now => "spawn".into(),
                Start::Timer => "spawn on timer".into(),
                Start::Event => "spawn on event".into(),
            },
            Op::Together { .. } => "together".into(),
            Op::Acquire { lock, hold, outcome } => {
                let hold = if *hold == Hold::Shared { "shared " } else { "" };
                format!("{}acquire {hold}{}", self.maybe(*outcome), self.lock(lock))
            }
            Op::Release { lock } => format!("release {}", self.lock(lock)),
            Op::Begin { transaction } => {
                let isolation = match transaction.isolation {
                    Isolation::ReadCommitted => "read-committed",
                    Isolation::FirstUpdaterWins => "first-updater-wins",
                    Isolation::SingleWriter => "single-writer",
                    Isolation::Serializable => "serializable",
                };
                format!("begin {isolation}{}", self.via(Some(&transaction.via)))
            }
            Op::End { via, finish } => {
                let finish = if *finish == Finish::Commit { "commit" } else { "rollback" };
                format!("{finish}{}", self.via(Some(via)))
            }
            Op::Open { handle } => format!("open {}", self.path(handle)),
            Op::Close { handle } => format!("close {}", self.path(handle)),
            Op::CountIn { group } => format!("count in {}", self.path(group)),
            Op::CountOut { group } => format!("count out {}", self.path(group)),
            Op::Drain { group } => format!("drain {}", self.path(group)),
            Op::External { into, service, change, idempotency, over } => {
                let verb = if *change == Change::Effect { "effect on" } else { "ask" };
                let key = idempotency.map(|key| format!(" once per {}", self.value(key))).unwrap_or_default();
                let over = over.as_ref().map(|over| format!(" over {}", self.path(over))).unwrap_or_default();
                format!("{}{verb} {}{key}{over}", self.maybe(*into), self.term(service))
            }
            Op::Call { into, callee, arguments } => {
                let arguments: Vec<_> = arguments.iter().map(|argument| self.argument(argument)).collect();
                format!("{}call {}({})", self.maybe(*into), self.callee(callee), arguments.join(", "))
            }
            Op::Loop { bound, .. } => match bound {
                Bound::Each => "loop over each".into(),
                Bound::Limited => "loop a limited number of times".into(),
                Bound::Unlimited => "loop without limit".into(),
            },
            Op::Try { .. } => "try".into(),
            Op::Exit(Exit::Return(values)) => format!("return{}", self.list(" ", values)),
            Op::Exit(Exit::Throw) => "throw".into(),
            Op::Exit(Exit::Break) => "break".into(),
            Op::Exit(Exit::Continue) => "continue".into(),
        }
    }

    fn resource(self, resource: &Resource) -> String {
        match resource {
            Resource::File(path) => format!("file {}", self.term(path)),
            Resource::Row { table, key, columns } if columns.is_empty() => {
                format!("row {}[{}]", self.term(table), self.term(key))
            }
            Resource::Row { table, key, columns } => {
                format!("row {}[{}].{{{}}}", self.term(table), self.term(key), columns.join(", "))
            }
            Resource::Shared(path) => format!("shared {}", self.path(path)),
            Resource::Key(key) => format!("key {}", self.term(key)),
            Resource::Service(service) => format!("service {}", self.term(service)),
            Resource::Flag(path) => format!("flag {}", self.path(path)),
            Resource::Stream(path) => format!("stream {}", self.path(path)),
        }
    }

    fn mode_condition(self, mode: &WriteMode) -> String {
        match mode {
            WriteMode::Conditional(condition) => self.condition(condition),
            _ => String::new(),
        }
    }

    fn condition(self, condition: &Condition) -> String {
        format!(" when {}{}", condition.columns.join(", "), self.list(" against ", &condition.values))
    }

    fn lock(self, lock: &Lock) -> String {
        let kind = if lock.kind == LockKind::Semaphore { "permit of " } else { "" };
        let key = lock.key.as_ref().map(|key| format!(" for {}", self.term(key))).unwrap_or_default();
        let scope = if lock.scope == Scope::CrossProcess { " across processes" } else { "" };
        let lease = match lock.lease {
            None => "",
            Some(Lease { renewed: false, fenced: false }) => " as lease",
            Some(Lease { renewed: true, fenced: false }) => " as renewed lease",
            Some(Lease { renewed: false, fenced: true }) => " as fenced lease",
            Some(Lease { renewed: true, fenced: true }) => " as renewed, fenced lease",
        };
        format!("{kind}{}{key}{scope}{lease}", self.path(&lock.object))
    }

    fn via(self, via: Option<&Via>) -> String {
        match via {
            None => String::new(),
            Some(Via::Client(client)) => format!(" via {}", self.path(client)),
            Some(Via::Pool(pool)) => format!(" via pool {}", self.path(pool)),
        }
    }

    fn callee(self, callee: &Callee) -> String {
        match callee {
            Callee::Function(id) => {
                self.program.function(*id).map_or_else(|| "?".into(), |f| f.name.to_string())
            }
            Callee::Value(value) => self.value(*value),
            Callee::Named(name) => format!("'{name}'"),
        }
    }

    fn argument(self, argument: &Argument) -> String {
        match argument {
            Argument::Term(term) => self.term(term),
            Argument::Function(id) => format!("fn {}", self.callee(&Callee::Function(*id))),
        }
    }

    fn term(self, term: &Term) -> String {
        match term {
            Term::Literal(text) => format!("{text:?}"),
            Term::Path(path) => self.path(path),
            Term::Join(parts) => parts.iter().map(|part| self.term(part)).collect::<Vec<_>>().join(" + "),
            Term::Fresh(Fresh::Random) => "random".into(),
            Term::Fresh(Fresh::Counter) => "counter".into(),
            Term::Fresh(Fresh::ProcessId) => "pid".into(),
            Term::Fresh(Fresh::Time) => "time".into(),
            Term::TempDir => "tempdir".into(),
            Term::Any => "*".into(),
            Term::Unknown => "?".into(),
        }
    }

    fn path(self, path: &AccessPath) -> String {
        let mut text = match &path.root {
            Root::Value(value) => self.value(*value),
            Root::This => "this".into(),
            Root::Global(name) => name.to_string(),
        };
        for field in &path.fields {
            match field {
                Field::Name(name) => text.extend([".", name]),
                Field::At(index) => text.extend(["[", &self.term(index), "]"]),
            }
        }
        text
    }

    fn into(self, value: Value) -> String {
        format!("{} = ", self.value(value))
    }

    fn maybe(self, value: Option<Value>) -> String {
        value.map(|value| self.into(value)).unwrap_or_default()
    }

    fn list(self, before: &str, values: &[Value]) -> String {
        if values.is_empty() { String::new() } else { format!("{before}{}", self.values(values)) }
    }

    fn values(self, values: &[Value]) -> String {
        values.iter().map(|value| self.value(*value)).collect::<Vec<_>>().join(", ")
    }

    fn value(self, value: Value) -> String {
        match self.function.values.get(value.0 as usize) {
            Some(info) if info.origin == Origin::Caller => format!("caller {}", info.name),
            Some(info) => info.name.to_string(),
            None => format!("?{}", value.0),
        }
    }
}

fn mode_name(mode: &WriteMode) -> &'static str {
    match mode {
        WriteMode::Blind => "blind",
        WriteMode::Conditional(_) => "conditional",
        WriteMode::Exclusive => "exclusive",
        WriteMode::Ensure => "ensure",
        WriteMode::Append => "append",
        WriteMode::Atomic => "atomic",
        WriteMode::Expiry => "expiry",
    }
}
