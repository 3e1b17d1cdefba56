//! One step of a function.

use serde::{Deserialize, Serialize};

use crate::Span;

use super::{
    AccessPath, Aspect, Condition, Finish, FunctionId, Hold, Lock, LockKind, Name, Resource, Term,
    Transaction, Value, Via, WriteMode,
};

/// Steps in evaluation order.
pub type Block = Vec<Effect>;

/// A step, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Where.
    pub span: Span,
    /// What.
    pub op: Op,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// State comes in.
    Read {
        /// What was seen.
        into: Value,
        /// Of what.
        of: Resource,
        /// Which side of it.
        aspect: Aspect,
        /// Whether the store keeps it locked until the transaction ends: `FOR UPDATE`.
        locking: bool,
        /// Whether it names all of a key of which the store lets only one row exist.
        unique: bool,
        /// What it demands besides, so that it finds nothing where that is not so: `AND status = 'open'`.
        demands: Condition,
        /// Which way the statement goes.
        via: Option<Box<Via>>,
    },
    /// State goes out.
    Write {
        /// To what.
        to: Resource,
        /// The values that what is written depends on.
        from: Vec<Value>,
        /// How it meets other writes.
        mode: WriteMode,
        /// What tells whether it took effect: the row count, the previous value.
        outcome: Option<Value>,
        /// Which way the statement goes.
        via: Option<Box<Via>>,
    },
    /// State goes away.
    Delete {
        /// What.
        of: Resource,
        /// Only where this holds; one that demands nothing is content that there is nothing left to remove.
        when: Option<Condition>,
        /// What tells whether it took effect.
        outcome: Option<Value>,
        /// Which way the statement goes.
        via: Option<Box<Via>>,
    },
    /// One name takes the place of another, in one step.
    Rename {
        /// What moves.
        from: Resource,
        /// What it replaces.
        to: Resource,
    },

    /// A value is computed from others.
    Derive {
        /// The value.
        into: Value,
        /// What it depends on.
        from: Vec<Value>,
        /// What it is called, where that is understood: a field of a document, a path put together, a name with a random part.
        /// [`Term::Unknown`] otherwise.
        term: Term,
    },
    /// A value comes into being here: a lock, a map, an object. Until it is stored or handed on, no other call can see it.
    New {
        /// The value.
        into: Value,
        /// How many it lets in, if it is a lock.
        lock: Option<LockKind>,
    },
    /// A function that is written here becomes a value: it is returned, or kept in a variable.
    Closure {
        /// The value.
        into: Value,
        /// Which.
        function: FunctionId,
        /// What it takes along from here, in the order of its [`captures`](super::Function::captures).
        captures: Vec<Term>,
    },
    /// Values decide which way to go.
    Check {
        /// The values.
        on: Vec<Value>,
        /// The text that one of them must equal to go the way of `then`, in a test against a literal: a dispatch by name.
        equal: Option<Name>,
        /// What else has to be so to go the way of `then`, where texts are compared with in a larger test. Of no use once calls are
        /// followed.
        asks: Vec<Asked>,
        /// The way if they say yes.
        then: Block,
        /// The way if they say no.
        otherwise: Block,
    },

    /// Other calls of the same thread may run here.
    Suspend,
    /// Time passes. Where other calls run meanwhile, a suspension stands behind it.
    Sleep {
        /// How the delay behaves from try to try.
        backoff: Backoff,
        /// Whether chance spreads it.
        jitter: bool,
    },
    /// Something starts and is not waited for.
    Spawn {
        /// When it starts.
        start: Start,
        /// What it does.
        body: Block,
    },
    /// Several things run side by side, and all are waited for.
    Together {
        /// What they do.
        branches: Vec<Block>,
    },

    /// A lock is taken.
    Acquire {
        /// Which.
        lock: Lock,
        /// How.
        hold: Hold,
        /// What tells whether it was got, where that is not waited for.
        outcome: Option<Value>,
    },
    /// A lock is given back.
    Release {
        /// Which.
        lock: Lock,
    },
    /// A transaction starts.
    Begin {
        /// Which.
        transaction: Transaction,
    },
    /// A transaction ends.
    End {
        /// The connection it ends on.
        via: Via,
        /// How.
        finish: Finish,
    },

    /// A connection, process or listener starts to exist.
    Open {
        /// What holds it.
        handle: AccessPath,
    },
    /// It is torn down.
    Close {
        /// What held it.
        handle: AccessPath,
    },
    /// A call counts itself in, so that a close can wait for it.
    CountIn {
        /// The wait group or counter.
        group: AccessPath,
    },
    /// It counts itself out.
    CountOut {
        /// The wait group or counter.
        group: AccessPath,
    },
    /// Waits until nobody is counted in.
    Drain {
        /// The wait group or counter.
        group: AccessPath,
    },

    /// The world outside is asked or told something.
    External {
        /// What the answer is.
        into: Option<Value>,
        /// Whom.
        service: Term,
        /// Whether it takes effect there.
        change: Change,
        /// The values that what is sent depends on, where the request puts something in place of what is there.
        from: Vec<Value>,
        /// What makes a repetition harmless, if it is the same then.
        idempotency: Option<Term>,
        /// The connection it goes over.
        over: Option<AccessPath>,
    },
    /// Another function runs.
    Call {
        /// What it returns.
        into: Option<Value>,
        /// Which.
        callee: Callee,
        /// The object whose method it is: what [`Root::This`](super::Root::This) means inside.
        receiver: Option<AccessPath>,
        /// With what.
        arguments: Vec<Argument>,
        /// Whether the caller waits for it to end. One that is [asynchronous](super::Function::asynchronous) and not waited for
        /// runs on beside its caller.
        awaited: bool,
    },
    /// A function that ran in place of a call: what the analysis makes of a [`Op::Call`], never a front end. A return inside it
    /// ends it, and nothing else.
    Inlined {
        /// Which.
        function: FunctionId,
        /// The object whose method it is, in the values of the function around it.
        receiver: Option<AccessPath>,
        /// Its steps, in the same values.
        body: Block,
    },

    /// Steps that repeat.
    Loop {
        /// How often at most.
        bound: Bound,
        /// What it is at, in a loop over things.
        item: Option<Value>,
        /// The steps.
        body: Block,
    },
    /// Steps whose failure is caught or whose end is guaranteed.
    Try {
        /// The steps.
        body: Block,
        /// What runs when one of them fails; `None` where failures pass on.
        catch: Option<Catch>,
        /// What runs in every case: `finally`, `defer`, a destructor.
        finally: Block,
    },
    /// The block is left.
    Exit(Exit),
}

/// Texts that a test compares with beside other things that it asks: `kind === "save" && ready`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The values that are compared with them.
    pub on: Vec<Value>,
    /// The texts, one of which it has to be.
    pub texts: Vec<Name>,
    /// Whether nothing else is asked, so that each of the texts is a yes.
    pub enough: bool,
}

/// What runs when a step of a [`Op::Try`] fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catch {
    /// What went wrong, where the source looks at it.
    pub error: Option<Value>,
    /// The steps.
    pub body: Block,
}

/// How a delay behaves from try to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Backoff {
    /// Always the same.
    Fixed,
    /// Longer each time.
    Growing,
}

/// When a spawned block starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Start {
    /// At once.
    Now,
    /// After some time.
    Timer,
    /// When something happens: a signal, a message, a close.
    Event,
}

/// Whether the world outside is different afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Change {
    /// It was only asked.
    None,
    /// Something happened there that must not happen twice: a charge, a mail, an order.
    Effect,
    /// Something is as it was asked to be, however often that is asked: a PUT, a DELETE.
    Settled,
    /// It cannot be told: a plain POST.
    Unknown,
}

/// Which function a call reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callee {
    /// One of the program's.
    Function(FunctionId),
    /// What a value holds: a parameter that is called back.
    Value(Value),
    /// A function that is written right here, with what it takes along in the order of its
    /// [`captures`](super::Function::captures): the body of a critical section or a transaction.
    Closure {
        /// Which.
        function: FunctionId,
        /// What it takes along.
        captures: Vec<Term>,
    },
    /// One that is known by name only.
    Named(Name),
    /// One that the front end has yet to look up, by a number of its own. None is left in a finished program, so that whoever follows
    /// calls may use it for what it puts in later.
    Pending(u32),
}

/// What a call hands over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Argument {
    /// Something with a name.
    Term(Term),
    /// A function to be called back.
    Closure {
        /// Which.
        function: FunctionId,
        /// What it takes along from here, in the order of its [`captures`](super::Function::captures).
        captures: Vec<Term>,
    },
}

impl Argument {
    /// Every value that it mentions; a function mentions none, whatever it takes along.
    #[must_use]
    pub fn mentioned(&self) -> Vec<Value> {
        match self {
            Self::Term(term) => term.mentioned(),
            Self::Closure { .. } => vec![],
        }
    }
}

/// How often a loop runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Bound {
    /// Once for each of some things.
    Each,
    /// At most a number of times.
    Limited,
    /// Until it works.
    Unlimited,
}

/// How a block is left early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// The function returns values.
    Return(Vec<Value>),
    /// It fails.
    Throw,
    /// The loop ends.
    Break,
    /// The loop goes on with its next turn.
    Continue,
}

impl Op {
    /// A look that neither locks nor demands anything of what it finds.
    #[must_use]
    pub const fn look(into: Value, of: Resource, aspect: Aspect, via: Option<Box<Via>>) -> Self {
        Self::Read { into, of, aspect, locking: false, unique: false, demands: Condition(vec![]), via }
    }

    /// The blocks inside it, in the order in which they stand.
    #[inline]
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &Block> {
        let (first, rest): ([Option<&Block>; 3], &[Block]) = match self {
            Self::Check { then, otherwise, .. } => ([Some(then), Some(otherwise), None], &[]),
            Self::Spawn { body, .. } | Self::Loop { body, .. } | Self::Inlined { body, .. } => {
                ([Some(body), None, None], &[])
            }
            Self::Together { branches } => ([None; 3], branches),
            Self::Try { body, catch, finally } => {
                ([Some(body), catch.as_ref().map(|catch| &catch.body), Some(finally)], &[])
            }
            _ => ([None; 3], &[]),
        };
        first.into_iter().flatten().chain(rest)
    }

    /// The same, to change them.
    pub fn blocks_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Block> {
        let (first, rest): ([Option<&mut Block>; 3], &mut [Block]) = match self {
            Self::Check { then, otherwise, .. } => ([Some(then), Some(otherwise), None], &mut []),
            Self::Spawn { body, .. } | Self::Loop { body, .. } | Self::Inlined { body, .. } => {
                ([Some(body), None, None], &mut [])
            }
            Self::Together { branches } => ([None, None, None], branches),
            Self::Try { body, catch, finally } => {
                ([Some(body), catch.as_mut().map(|catch| &mut catch.body), Some(finally)], &mut [])
            }
            _ => ([None, None, None], &mut []),
        };
        first.into_iter().flatten().chain(rest)
    }
}
