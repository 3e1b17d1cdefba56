//! Race windows, held open: what a call does behind a line that a scan names is done later, so that others come in between.
//!
//! ```text
//! 7  const notes = JSON.parse(await readFile(path));     read in the window: the operation is done, and told 60 ms later
//! 8  notes.push(text);
//! 9  await writeFile(path, JSON.stringify(notes));       the write, which is not held
//! ```
//!
//! Nothing is paused where the runtime would not pause by itself, or a suspension would be seen that is none:
//!
//! | | in one process | between processes |
//! |---|---|---|
//! | Node | an asynchronous operation that was begun in the window is told late | a synchronous file operation in it is followed by a standstill |
//! | Python, coroutines | an `await` in the window that gave way to the loop goes on late | a call in it is followed by a standstill |
//! | Python, threads | the thread sleeps when a call in the window has come back | the same |
//!
//! So an illegal outcome is a broken server. No source is touched: Node's operations are recognised by their stack, through source maps where
//! there are any, and Python's functions are given code that was compiled once more, until the hold is let go.
//!
//! A file is known by the end of its path, as a scan names it; a file of that name in somebody else's package is left alone.

use std::{io, path::Path};

use interlock_model::RaceWindow;
use serde_json::{Value, json};

use super::{Leash, Perturb, node::Node, program::Inherited, python::PythonSwitches};
use crate::launch::Launch;

/// Holds race windows of Node and Python servers open.
#[derive(Debug, Clone, Default)]
pub struct HeldWindows {
    node: Node,
    python: PythonSwitches,
}

/// How a tick of this begins: a call went on later and others could run meanwhile, or all of the process stood still.
pub(crate) const HELD: &str = "hold ";
pub(crate) const STALLED: &str = "stall ";

/// The windows, as the servers' side reads them.
pub(super) fn told(windows: &[RaceWindow]) -> Value {
    let one =
        |RaceWindow { file, first, last }: &RaceWindow| json!({ "file": file, "first": first, "last": last });
    windows.iter().map(one).collect()
}

impl HeldWindows {
    /// For servers that are started in this environment.
    #[must_use]
    pub fn new(inherited: Inherited) -> Self {
        Self { node: Node::new(inherited.clone()), python: PythonSwitches::new(inherited) }
    }
}

impl Perturb for HeldWindows {
    fn name(&self) -> &'static str {
        "held-window"
    }

    fn applies(&self, launch: &Launch) -> Result<(), String> {
        self.node.applies(launch).or_else(|_| self.python.applies(launch)).map_err(|_| {
            "the server is neither Node nor a Python that can be reached, whose steps alone can be held open"
                .to_owned()
        })
    }

    fn attach(&self, launch: &mut Launch, folder: &Path) -> io::Result<Box<dyn Leash>> {
        match self.node.applies(launch) {
            Ok(()) => self.node.attach(launch, folder),
            Err(_) => self.python.attach(launch, folder),
        }
    }
}
