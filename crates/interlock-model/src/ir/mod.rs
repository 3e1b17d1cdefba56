//! The effect IR: what a function does to things that other calls can see, in the order in which it does them.
//!
//! Every front end lowers its language to this, and every rule sees only this. It forgets arithmetic, types and syntax; it
//! keeps which values come from which reads, which values decide a branch, where another call may come in, and what keeps it
//! out. Blocks are nested as the source is, so that "on every path" and "in a finally" stay visible.
//!
//! Order is evaluation order, also inside an expression. `x += await f()` becomes
//!
//! ```text
//! x = read shared ::x
//! y = call f()
//! suspend
//! write blind shared ::x from x, y
//! ```
//!
//! which shows the stale read. [`Program`]'s `Display` is the stable text form that tests compare.

mod fields;
mod term;

mod resource;

mod protection;

mod effect;

mod function;
mod program;

mod build;
mod text;

pub use build::{Body, FunctionBuilder};
pub use effect::{Argument, Asked, Backoff, Block, Bound, Callee, Catch, Change, Effect, Exit, Op, Start};
pub use fields::Fields;
pub use function::{Function, FunctionId, Interleaving, Origin, Role, Tool, Transport, ValueInfo};
pub use program::{
    Doubt, Doubtful, HandMade, Limit, Limited, Member, Note, OutOfSight, Program, Removal, Server, Table,
    Unresolved, UnresolvedReason,
};
pub use protection::{Finish, Hold, Isolation, Lease, Lock, LockKind, Scope, Transaction, Via};
pub use resource::{Aspect, Comparator, Comparison, Condition, Resource, WriteMode};
pub use term::{AccessPath, Field, Fresh, Name, Root, Term, Value};
