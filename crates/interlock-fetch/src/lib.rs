//! Turns the target of an audit (a folder, a Git address, a package) into a folder of sources and the command that starts the server.
//!
//! [`Named`] is what was written: a folder, an archive, a Git address, a package. [`fetch`] brings it here with the ordinary client of its kind, within
//! [`Limits`], with no script of anybody's run. [`start()`] says how a server in a folder is started, [`settings()`] where its sources let the
//! environment say where it keeps files, and [`clients`] which servers the MCP clients of this machine know. Nothing here starts a server.

mod archive;
mod get;
mod named;
mod run;
mod settings;
mod start;

pub mod clients;

pub use get::{Fetched, fetch};
pub use named::{Named, Unnamed};
pub use run::{Environment, FetchError, Limits, Watcher};
pub use settings::settings;
pub use start::{Start, start};
