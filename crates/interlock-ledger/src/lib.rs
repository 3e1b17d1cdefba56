//! The reference MCP server: every pattern that the catalogue warns of, as a real tool, in a safe and a naive twin.
//!
//! The safe twin is written with the primitives of `interlock-sync`, as the author of a server would; the naive one has the gap that
//! such a tool usually has. The server holds the twins behind one set of traits and does not know which it serves, so what differs
//! between `interlock ledger` and `interlock ledger --unsafe` is the gap and nothing else.
//!
//! | where | what |
//! |---|---|
//! | [`server`] | the tools, their annotations and schemas |
//! | [`twin`] | what each topic can do, done safely and naively |
//! | [`audit`] | the append-only log of every mutation |
//! | [`payments`] | the payment provider, a process of its own, and its client |
//! | [`listen`] | Streamable HTTP and stdio, and how both end |

pub mod answer;
pub mod arguments;
pub mod audit;
pub mod caller;
pub mod listen;
pub mod payments;
pub mod refusal;
pub mod seed;
pub mod server;
pub mod twin;

mod book;
mod rows;
mod values;

/// How something that nobody asked for is told: a line for whoever keeps the server. The library itself prints nothing.
pub type Log = std::sync::Arc<dyn Fn(&str) + Send + Sync>;
