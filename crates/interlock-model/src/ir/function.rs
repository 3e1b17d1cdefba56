//! A function: its steps, the values they pass on, and who calls it when.

use serde::{Deserialize, Serialize};

use crate::Span;

use super::{Block, Effect, Name, Value};

/// A function of the program, as an index into [`Program::functions`](super::Program::functions).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FunctionId(pub u32);

/// A function, method or closure, lowered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name, qualified as its language does: `Manager.Close`.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
    /// When it runs.
    pub role: Role,
    /// The class or type whose method it is, qualified so that two modules' names differ.
    pub owner: Option<Name>,
    /// Where another call can come in.
    pub interleaving: Interleaving,
    /// Whether a call of it returns at its first suspension, and is waited for apart: an `async` function.
    pub asynchronous: bool,
    /// Whether a step that fails leaves it by itself, as an exception does. Where it does not, as in Go and Rust, failures are checks
    /// and exits like any other.
    pub unwinds: bool,
    /// What it took along from the function around it, for a closure.
    pub captures: Vec<Value>,
    /// Its parameters; the receiver is [`Root::This`](super::Root::This), not one of them.
    pub parameters: Vec<Value>,
    /// Every value of the function.
    pub values: Vec<ValueInfo>,
    /// Its steps.
    pub body: Block,
}

/// When a function runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A client calls it, as these tools, any number of times at once. With no tool at all it answers something else that clients
    /// send: another request, a notification, a route.
    Handler(Vec<Tool>),
    /// Before the server accepts calls.
    StartUp,
    /// When something in the program calls it.
    Helper,
}

/// A tool as its server announces it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: Name,
    /// Whether it says that it changes nothing.
    pub read_only: bool,
    /// Whether it says that calling it again changes nothing more.
    pub idempotent: bool,
}

/// Where another call can come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Interleaving {
    /// At suspensions only: an event loop.
    AtSuspension,
    /// Between any two steps: threads, goroutines, a multi-threaded runtime.
    Anywhere,
    /// One or the other: the versions of a library differ, and the tree allows both.
    Perhaps,
    /// Calls run one after another, as this version of a library has it. Only what the program starts by itself gets between the steps.
    OneByOne,
}

/// How clients reach a server. A server on standard streams runs once per client, so files and databases are shared between
/// processes; one on the network runs once for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// HTTP.
    Http,
}

/// What is known of a value besides its uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueInfo {
    /// What the source calls it. Values of the same name are told apart by a number in the text form.
    pub name: Name,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it can only be one of a few: an enum, a boolean. A map keyed by it does not grow.
    pub bounded: bool,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Origin {
    /// An argument of the caller.
    Argument,
    /// All arguments of the caller, in one object.
    Arguments,
    /// Who the caller is, as verified by the server.
    Caller,
    /// Which session or connection the call belongs to.
    Session,
    /// The function around this one.
    Capture,
    /// A step of this function.
    Step,
}

impl Origin {
    /// Whether the caller has chosen it.
    #[must_use]
    pub const fn is_argument(self) -> bool {
        matches!(self, Self::Argument | Self::Arguments)
    }
}

impl Function {
    /// All steps, outer before inner, in the order in which they stand.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        let mut pending: Vec<&Effect> = self.body.iter().rev().collect();
        std::iter::from_fn(move || {
            let effect = pending.pop()?;
            let inner: Vec<&Effect> = effect.op.blocks().flatten().collect();
            pending.extend(inner.into_iter().rev());
            Some(effect)
        })
    }
}
