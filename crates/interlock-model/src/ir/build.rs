//! Building functions step by step: what front ends and tests write IR with.

use crate::Span;

use super::{
    AccessPath, Argument, Aspect, Block, Bound, Callee, Effect, Exit, Function, Hold, Interleaving, Lock, Op,
    Origin, Resource, Role, Term, Tool, Value, ValueInfo, Via, WriteMode,
};

/// A function in the making: its head. [`FunctionBuilder::body`] completes it.
#[derive(Debug)]
pub struct FunctionBuilder(Function);

/// A block in the making. Each step stands where the last [`Body::line`] or [`Body::span`] said.
#[derive(Debug)]
pub struct Body<'f> {
    values: &'f mut Vec<ValueInfo>,
    span: Span,
    block: Block,
}

impl FunctionBuilder {
    /// A helper that interleaves at suspensions.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(Function {
            name: name.into(),
            span: Span::default(),
            role: Role::Helper,
            owner: None,
            asynchronous: false,
            interleaving: Interleaving::AtSuspension,
            unwinds: true,
            captures: vec![],
            parameters: vec![],
            values: vec![],
            body: vec![],
        })
    }

    /// Places it.
    #[must_use]
    pub fn span(mut self, span: Span) -> Self {
        self.0.span = span;
        self
    }

    /// Makes it the handler of a tool, or of one more.
    #[must_use]
    pub fn handles(mut self, tool: &str) -> Self {
        let tool = Tool { name: tool.into(), read_only: false, idempotent: false };
        match &mut self.0.role {
            Role::Handler(tools) => tools.push(tool),
            role => *role = Role::Handler(vec![tool]),
        }
        self
    }

    /// Makes it run before calls are accepted.
    #[must_use]
    pub fn at_start_up(mut self) -> Self {
        self.0.role = Role::StartUp;
        self
    }

    /// Lets other calls in between any two steps.
    #[must_use]
    pub fn interleaves_anywhere(mut self) -> Self {
        self.0.interleaving = Interleaving::Anywhere;
        self
    }

    /// Leaves failures to checks and exits: Go, Rust.
    #[must_use]
    pub fn fails_explicitly(mut self) -> Self {
        self.0.unwinds = false;
        self
    }

    /// Takes something along from the function around it, and says what it is called here.
    pub fn capture(&mut self, name: &str) -> Value {
        let mut body = Body { values: &mut self.0.values, span: self.0.span, block: vec![] };
        let value = body.declare(name, Origin::Capture);
        self.0.captures.push(value);
        value
    }

    /// Adds the parameters and the steps; the closure is given the parameters as values.
    #[must_use]
    pub fn body<const N: usize>(
        mut self,
        parameters: [&str; N],
        steps: impl FnOnce(&mut Body<'_>, [Value; N]),
    ) -> Function {
        let mut body = Body { values: &mut self.0.values, span: self.0.span, block: vec![] };
        let parameters = parameters.map(|name| body.declare(name, Origin::Argument));
        steps(&mut body, parameters);
        self.0.body = body.block;
        self.0.parameters = parameters.into();
        self.0
    }
}

impl<'f> Body<'f> {
    /// Steps for a function that is already there: their values are added to its own.
    pub fn over(values: &'f mut Vec<ValueInfo>, span: Span) -> Self {
        Self { values, span, block: vec![] }
    }

    /// The steps.
    #[must_use]
    pub fn finish(self) -> Block {
        self.block
    }
}

impl Body<'_> {
    /// The following steps stand on this line of the same file.
    pub fn line(&mut self, line: u32) -> &mut Self {
        self.span = Span::on_line(self.span.file, line);
        self
    }

    /// The following steps stand here.
    pub fn span(&mut self, span: Span) -> &mut Self {
        self.span = span;
        self
    }

    /// What a value is called; nothing where it is not one of these.
    #[must_use]
    pub fn name_of(&self, value: Value) -> Option<&str> {
        self.values.get(value.0 as usize).map(|info| &*info.name)
    }

    /// A new value. Several may have the same name; the text form tells them apart.
    pub fn declare(&mut self, name: &str, origin: Origin) -> Value {
        self.values.push(ValueInfo { name: name.into(), origin, bounded: false });
        Value(u32::try_from(self.values.len() - 1).unwrap_or(u32::MAX))
    }

    /// Any step.
    pub fn push(&mut self, op: Op) {
        self.block.push(Effect { span: self.span, op });
    }

    /// Reads content.
    pub fn read(&mut self, name: &str, of: Resource) -> Value {
        self.read_as(name, of, Aspect::Content, None)
    }

    /// Reads some side of a resource, some way.
    pub fn read_as(&mut self, name: &str, of: Resource, aspect: Aspect, via: Option<Via>) -> Value {
        let into = self.declare(name, Origin::Step);
        self.push(Op::look(into, of, aspect, via.map(Box::new)));
        into
    }

    /// Writes, and does not look whether it took effect.
    pub fn write(&mut self, to: Resource, from: impl Into<Vec<Value>>, mode: WriteMode) {
        self.push(Op::Write { to, from: from.into(), mode, outcome: None, via: None });
    }

    /// Writes, and learns whether it took effect.
    pub fn write_seen(
        &mut self,
        name: &str,
        to: Resource,
        from: impl Into<Vec<Value>>,
        mode: WriteMode,
        via: Option<Via>,
    ) -> Value {
        let outcome = self.declare(name, Origin::Step);
        self.push(Op::Write { to, from: from.into(), mode, outcome: Some(outcome), via: via.map(Box::new) });
        outcome
    }

    /// Computes a value from others, in a way that is not looked into.
    pub fn derive(&mut self, name: &str, from: impl Into<Vec<Value>>) -> Value {
        let into = self.declare(name, Origin::Step);
        self.push(Op::Derive { into, from: from.into(), term: Term::Unknown });
        into
    }

    /// Gives something a name of its own.
    pub fn bind(&mut self, name: &str, term: impl Into<Term>, from: impl Into<Vec<Value>>) -> Value {
        let into = self.declare(name, Origin::Step);
        self.push(Op::Derive { into, from: from.into(), term: term.into() });
        into
    }

    /// Makes something that no other call can see yet.
    pub fn make(&mut self, name: &str) -> Value {
        let into = self.declare(name, Origin::Step);
        self.push(Op::New { into, lock: None });
        into
    }

    /// Lets other calls in.
    pub fn suspend(&mut self) {
        self.push(Op::Suspend);
    }

    /// Takes a lock and waits for it.
    pub fn acquire(&mut self, lock: &Lock, hold: Hold) {
        self.push(Op::Acquire { lock: lock.clone(), hold, outcome: None });
    }

    /// Gives a lock back.
    pub fn release(&mut self, lock: &Lock) {
        self.push(Op::Release { lock: lock.clone() });
    }

    /// Calls a function for its result.
    pub fn call(&mut self, name: &str, callee: Callee, arguments: impl Into<Vec<Argument>>) -> Value {
        let into = self.declare(name, Origin::Step);
        self.push(Op::Call {
            into: Some(into),
            callee,
            receiver: None,
            arguments: arguments.into(),
            awaited: true,
        });
        into
    }

    /// Goes one way or the other.
    pub fn check(
        &mut self,
        on: impl Into<Vec<Value>>,
        then: impl FnOnce(&mut Body<'_>),
        otherwise: impl FnOnce(&mut Body<'_>),
    ) {
        let span = self.span;
        let (then, otherwise) = (self.nested(then), self.nested(otherwise));
        self.block.push(Effect {
            span,
            op: Op::Check { on: on.into(), equal: None, asks: vec![], then, otherwise },
        });
    }

    /// Repeats.
    pub fn repeat(&mut self, bound: Bound, body: impl FnOnce(&mut Body<'_>)) {
        let span = self.span;
        let body = self.nested(body);
        self.block.push(Effect { span, op: Op::Loop { bound, item: None, body } });
    }

    /// Guarantees an end, whatever happens before it.
    pub fn try_finally(&mut self, body: impl FnOnce(&mut Body<'_>), finally: impl FnOnce(&mut Body<'_>)) {
        let span = self.span;
        let (body, finally) = (self.nested(body), self.nested(finally));
        self.block.push(Effect { span, op: Op::Try { body, catch: None, finally } });
    }

    /// Returns.
    pub fn ret(&mut self, values: impl Into<Vec<Value>>) {
        self.push(Op::Exit(Exit::Return(values.into())));
    }

    /// Fails.
    pub fn throw(&mut self) {
        self.push(Op::Exit(Exit::Throw));
    }

    /// A block inside this one, for an [`Op`] that is pushed by hand.
    pub fn nested(&mut self, steps: impl FnOnce(&mut Body<'_>)) -> Block {
        let mut inner = Body { values: self.values, span: self.span, block: vec![] };
        steps(&mut inner);
        let (span, block) = (inner.span, inner.block);
        self.span = span;
        block
    }
}

impl From<Value> for Argument {
    fn from(value: Value) -> Self {
        Self::Term(value.into())
    }
}

impl From<AccessPath> for Argument {
    fn from(path: AccessPath) -> Self {
        Self::Term(Term::Path(path))
    }
}
