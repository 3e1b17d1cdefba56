//! Calls that are written by hand, one after another, and what they come to.

use std::{cell::RefCell, collections::HashMap};

use expect_test::Expect;
use interlock_model::{
    Span,
    ir::{AccessPath, Body, FunctionBuilder, FunctionId, Name, Origin, Program, Term, Value},
};

use crate::{Arg, Call, Kind, Outcome, Shape, Surroundings, Target, knowledge::Knowledge};

/// A function that calls libraries.
pub(super) struct Script<'s, 'f> {
    knowledge: &'s Knowledge,
    body: &'s mut Body<'f>,
    known: Known,
    line: u32,
    /// Whether the next calls are waited for.
    pub(super) awaited: bool,
    /// Whether the next calls construct.
    pub(super) construct: bool,
}

/// Something with a name, and what it is.
#[derive(Debug, Clone)]
pub(super) struct Thing {
    pub(super) path: AccessPath,
    pub(super) kind: Option<Kind>,
    pub(super) parameters: Vec<(usize, usize, Kind)>,
}

#[derive(Debug, Default)]
struct Known {
    kinds: RefCell<HashMap<AccessPath, Kind>>,
    initial: RefCell<HashMap<AccessPath, Arg>>,
}

impl Surroundings for Known {
    fn site(&self, _: u32) -> Option<Kind> {
        None
    }

    fn kind(&self, path: &AccessPath) -> Option<Kind> {
        self.kinds.borrow().get(path).cloned()
    }

    fn initial(&self, path: &AccessPath) -> Option<Arg> {
        self.initial.borrow().get(path).cloned()
    }
}

/// Runs a script with the parameters `id`, `amount` and `data`, and compares what it does.
pub(super) fn check(steps: impl FnOnce(&mut Script<'_, '_>, [Arg; 3]), expected: Expect) {
    check_with(super::knowledge(), steps, expected);
}

pub(super) fn check_with(
    knowledge: &Knowledge,
    steps: impl FnOnce(&mut Script<'_, '_>, [Arg; 3]),
    expected: Expect,
) {
    let function = FunctionBuilder::new("f").body(["id", "amount", "data"], |body, parameters| {
        let known = Known::default();
        let mut script = Script { knowledge, body, known, line: 0, awaited: true, construct: false };
        steps(&mut script, parameters.map(value));
    });
    let closure = FunctionBuilder::new("closure").body([], |_, []| {});
    let mut program = Program::default();
    program.add_file("a.ts");
    program.add_function(function);
    program.add_function(closure);
    let text = program.to_string();
    let steps: Vec<&str> =
        text.lines().skip(2).take_while(|line| !line.is_empty()).map(|line| line.trim_end()).collect();
    expected.assert_eq(&(steps.join("\n") + "\n"));
}

impl Script<'_, '_> {
    /// An object at a global.
    pub(super) fn object(&mut self, kind: &str, name: &str) -> Thing {
        let path = AccessPath::global(format!("a.ts::{name}"));
        let kind = Some(Kind::named(kind));
        self.remember(Thing { path, kind, parameters: vec![] })
    }

    /// Something of which nothing is known.
    pub(super) fn stranger(&mut self, name: &str) -> Thing {
        Thing { path: AccessPath::global(format!("a.ts::{name}")), kind: None, parameters: vec![] }
    }

    /// A constant.
    pub(super) fn constant(&mut self, name: &str, initial: Arg) -> Arg {
        let path = AccessPath::global(format!("a.ts::{name}"));
        self.known.initial.borrow_mut().insert(path.clone(), initial);
        Arg::opaque(path.into(), vec![])
    }

    /// Calls an export of a library.
    pub(super) fn export(&mut self, library: &str, path: &str, arguments: impl AsRef<[Arg]>) -> Thing {
        let named = path.rsplit('.').next().filter(|name| !name.is_empty()).unwrap_or("made");
        self.call(Target::Export { library, path }, named, arguments.as_ref())
    }

    /// Calls a method.
    pub(super) fn method(&mut self, of: &Thing, name: &str, arguments: impl AsRef<[Arg]>) -> Thing {
        let named = if name.is_empty() { "called" } else { name.rsplit('.').next().unwrap_or(name) };
        let target = match &of.kind {
            Some(kind) => Target::Method { kind, receiver: &of.path, name },
            None => Target::Other { receiver: Some(&of.path), name },
        };
        self.call(target, named, arguments.as_ref())
    }

    /// Calls a chain of methods of which only the last is waited for.
    pub(super) fn chain(&mut self, of: &Thing, calls: &[(&str, Vec<Arg>)]) -> Thing {
        let (last, first) = calls.split_last().unwrap();
        self.awaited = false;
        let mut at = of.clone();
        for (name, arguments) in first {
            at = self.method(&at, name, arguments);
            self.line -= 1;
        }
        self.awaited = true;
        self.method(&at, last.0, &last.1)
    }

    /// Calls an export that nobody waits for.
    pub(super) fn plain(&mut self, library: &str, path: &str, arguments: impl AsRef<[Arg]>) -> Thing {
        self.awaited = false;
        let thing = self.export(library, path, arguments);
        self.awaited = true;
        thing
    }

    pub(super) fn create(&mut self, library: &str, path: &str, arguments: impl AsRef<[Arg]>) -> Thing {
        self.construct = true;
        let thing = self.export(library, path, arguments);
        self.construct = false;
        thing
    }

    fn call(&mut self, target: Target<'_>, named: &str, arguments: &[Arg]) -> Thing {
        self.line += 1;
        let into = self.body.declare(named, Origin::Step);
        let call = Call {
            span: Span::on_line(interlock_model::FileId(0), self.line),
            target,
            construct: self.construct,
            arguments,
            into: Some(into),
            awaited: self.awaited,
            surroundings: &self.known,
        };
        let outcome = self.knowledge.apply(&call, self.body);
        let Outcome { kind, parameters, .. } =
            outcome.unwrap_or_else(|| panic!("{:?} is not known", call.target));
        self.remember(Thing { path: into.into(), kind, parameters })
    }

    fn remember(&mut self, thing: Thing) -> Thing {
        if let Some(kind) = &thing.kind {
            self.known.kinds.borrow_mut().insert(thing.path.clone(), kind.clone());
        }
        thing
    }
}

impl Thing {
    /// As an argument.
    pub(super) fn arg(&self) -> Arg {
        let values = match self.path.root {
            interlock_model::ir::Root::Value(value) => vec![value],
            _ => vec![],
        };
        Arg::opaque(self.path.clone().into(), values)
    }
}

pub(super) fn value(value: Value) -> Arg {
    Arg::opaque(value.into(), vec![value])
}

pub(super) fn text(text: &str) -> Arg {
    Arg { term: text.into(), values: vec![], shape: Shape::Text(vec![text.into()]) }
}

/// Text with holes.
pub(super) fn template<const N: usize>(parts: [Arg; N]) -> Arg {
    let terms: Vec<Term> = parts.iter().map(|part| part.term.clone()).collect();
    let values = parts.into_iter().flat_map(|part| part.values).collect();
    Arg { term: Term::Join(terms.clone()), values, shape: Shape::Text(terms) }
}

pub(super) fn number(number: i64) -> Arg {
    Arg { term: Term::Literal(number.to_string().into()), values: vec![], shape: Shape::Number(number) }
}

pub(super) fn yes() -> Arg {
    Arg { term: Term::Literal("true".into()), values: vec![], shape: Shape::Bool(true) }
}

pub(super) fn object<const N: usize>(members: [(&str, Arg); N]) -> Arg {
    let members: Vec<(Name, Arg)> = members.into_iter().map(|(name, arg)| (name.into(), arg)).collect();
    let values = members.iter().flat_map(|(_, arg)| arg.values.clone()).collect();
    Arg { term: Term::Unknown, values, shape: Shape::Object(members) }
}

pub(super) fn list<const N: usize>(items: [Arg; N]) -> Arg {
    let values = items.iter().flat_map(|arg| arg.values.clone()).collect();
    Arg { term: Term::Unknown, values, shape: Shape::List(items.into()) }
}

pub(super) fn closure() -> Arg {
    let shape = Shape::Function { function: FunctionId(1), captures: vec![] };
    Arg { term: Term::Unknown, values: vec![], shape }
}

/// A member of a library or a table by its path: `constants.O_EXCL`, `users.id`.
pub(super) fn named(path: &str) -> Arg {
    let mut parts = path.split('.');
    let root = AccessPath::global(format!("a.ts::{}", parts.next().unwrap()));
    Arg::opaque(parts.fold(root, |path, part| path.field(part)).into(), vec![])
}
