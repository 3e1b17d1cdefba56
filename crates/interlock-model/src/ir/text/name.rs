//! How things are named inside a line.

use super::Printer;
use crate::ir::{
    AccessPath, Argument, Callee, Comparator, Comparison, Condition, Field, Fresh, Lease, Lock, LockKind,
    Origin, Resource, Root, Scope, Term, Value, Via, WriteMode,
};

impl Printer<'_> {
    pub(super) fn resource(self, resource: &Resource) -> String {
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
            Resource::Flag(path) => format!("flag {}", self.path(path)),
            Resource::Stream(path) => format!("stream {}", self.path(path)),
        }
    }

    pub(super) fn mode_condition(self, mode: &WriteMode) -> String {
        match mode {
            WriteMode::Conditional(condition) => self.condition(condition),
            _ => String::new(),
        }
    }

    pub(super) fn condition(self, condition: &Condition) -> String {
        let demand = |Comparison { column, how, with }: &Comparison| {
            let how = match how {
                Comparator::Equal => "=",
                Comparator::Different => "<>",
                Comparator::AtMost => "<=",
                Comparator::AtLeast => ">=",
                Comparator::Other => "?",
            };
            format!("{column} {how} {}", self.term(with))
        };
        format!(" when {}", condition.0.iter().map(demand).collect::<Vec<_>>().join(" and "))
    }

    pub(super) fn lock(self, lock: &Lock) -> String {
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

    pub(super) fn via(self, via: Option<&Via>) -> String {
        match via {
            None => String::new(),
            Some(Via::Client(client)) => format!(" via {}", self.path(client)),
            Some(Via::Pool(pool)) => format!(" via pool {}", self.path(pool)),
        }
    }

    pub(super) fn callee(self, callee: &Callee) -> String {
        match callee {
            Callee::Function(id) => {
                self.program.function(*id).map_or_else(|| "?".into(), |f| f.name.to_string())
            }
            Callee::Value(value) => self.value(*value),
            Callee::Closure { function, captures } => {
                self.argument(&Argument::Closure { function: *function, captures: captures.clone() })
            }
            Callee::Named(name) => format!("'{name}'"),
            Callee::Pending(number) => format!("pending {number}"),
        }
    }

    pub(super) fn argument(self, argument: &Argument) -> String {
        match argument {
            Argument::Term(term) => self.term(term),
            Argument::Closure { function, captures } => {
                let captures: Vec<_> = captures.iter().map(|term| self.term(term)).collect();
                let with = if captures.is_empty() {
                    String::new()
                } else {
                    format!(" with {}", captures.join(", "))
                };
                format!("fn {}{with}", self.callee(&Callee::Function(*function)))
            }
        }
    }

    pub(super) fn term(self, term: &Term) -> String {
        match term {
            Term::Literal(text) => format!("{text:?}"),
            Term::Path(path) => self.path(path),
            Term::Join(parts) => parts.iter().map(|part| self.term(part)).collect::<Vec<_>>().join(" + "),
            Term::Fresh(Fresh::Random) => "random".into(),
            Term::Fresh(Fresh::Counter) => "counter".into(),
            Term::Fresh(Fresh::ProcessId) => "pid".into(),
            Term::Fresh(Fresh::Time) => "time".into(),
            Term::Parent(path) => format!("parent({})", self.term(path)),
            Term::TempDir => "tempdir".into(),
            Term::Any => "*".into(),
            Term::Unknown => "?".into(),
        }
    }

    pub(super) fn path(self, path: &AccessPath) -> String {
        let mut text = match &path.root {
            Root::Value(value) => self.value(*value),
            Root::This => "this".into(),
            Root::Global(name) => format!("::{name}"),
        };
        for field in &path.fields {
            match field {
                Field::Name(name) => text.extend([".", name]),
                Field::At(index) => text.extend(["[", &self.term(index), "]"]),
            }
        }
        text
    }

    pub(super) fn into(self, value: Value) -> String {
        format!("{} = ", self.value(value))
    }

    pub(super) fn maybe(self, value: Option<Value>) -> String {
        value.map(|value| self.into(value)).unwrap_or_default()
    }

    pub(super) fn list(self, before: &str, values: &[Value]) -> String {
        if values.is_empty() { String::new() } else { format!("{before}{}", self.values(values)) }
    }

    pub(super) fn values(self, values: &[Value]) -> String {
        values.iter().map(|value| self.value(*value)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn value(self, value: Value) -> String {
        let index = value.0 as usize;
        let (Some(info), Some(name)) = (self.function.values.get(index), self.names.get(index)) else {
            return format!("?{}", value.0);
        };
        match info.origin {
            Origin::Caller => format!("caller {name}"),
            Origin::Session => format!("session {name}"),
            _ => name.clone(),
        }
    }
}
