//! Ways to disturb a server while calls are under way: one file or folder each.

pub mod node;
mod program;
pub mod python;
pub mod slow_files;
pub mod windows;

use std::{io, path::Path, sync::Arc};

use async_trait::async_trait;
use interlock_model::{Perturbation, TickKind};

pub use self::program::Inherited;
pub(crate) use self::program::find_program;
use self::{node::Node, python::PythonSwitches, slow_files::SlowFiles, windows::HeldWindows};
use crate::{clock::Instant, launch::Launch};

/// A way of disturbing a server that we start ourselves.
pub trait Perturb: Send + Sync {
    /// The [`Perturbation::name`] of what it does.
    fn name(&self) -> &'static str;

    /// Whether it has a hold on a server that is started like this; if not, why, in words that a report can print.
    fn applies(&self, launch: &Launch) -> Result<(), String>;

    /// Prepares one instance before it is started. `folder` is for files that it needs: outside of what the server sees, and
    /// removed with the instance. Until [`Leash::arm`] the server runs as if nobody were there.
    fn attach(&self, launch: &mut Launch, folder: &Path) -> io::Result<Box<dyn Leash>>;
}

/// The hold on one instance.
#[async_trait]
pub trait Leash: Send {
    /// From now on disturbs; with [`Perturbation::None`], only looks on. `ids` are the ids of the requests that are about to be sent, in the order of the set.
    async fn arm(&mut self, perturbation: &Perturbation, ids: &[i64]) -> io::Result<()>;

    /// Lets the server run freely again, and tells what was seen since [`arm`](Self::arm).
    async fn disarm(&mut self) -> io::Result<Observed>;
}

/// What a leash saw.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// Operations, in time order.
    pub ticks: Vec<Tick>,
    /// What could have gone at each point where more than one operation waited, and what went.
    pub choices: Vec<Choice>,
    /// Whether something was put in an order that the runtime itself would never produce: then an illegal outcome is latent.
    pub unnatural: bool,
    /// Whether the disturbance did what it was told: a schedule that could not be followed is no schedule.
    pub diverged: Option<String>,
}

/// One operation of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    /// The request on whose behalf, where that is known.
    pub request: Option<i64>,
    /// When.
    pub at: Instant,
    /// What kind.
    pub kind: TickKind,
    /// On what: a path, an address, a statement; with a word for the operation in front: `readFile memory.json`.
    pub on: String,
}

/// A point where a schedule had to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The waiting operations: on whose behalf, and a word for each that is the same in every run. Those of one request in the
    /// order they were issued.
    pub waiting: Vec<(i64, String)>,
    /// The one that went, as an index into `waiting`.
    pub taken: usize,
}

/// All of them, the gentlest first. `inherited` is the environment that servers are started in.
#[must_use]
pub fn all(inherited: &Inherited) -> Vec<Arc<dyn Perturb>> {
    vec![
        Arc::new(SlowFiles::new(inherited.clone())),
        Arc::new(PythonSwitches::new(inherited.clone())),
        Arc::new(Node::new(inherited.clone())),
        Arc::new(HeldWindows::new(inherited.clone())),
    ]
}
