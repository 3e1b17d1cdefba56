//! Isolation: a server that is proved works in a folder of its own and can do no harm elsewhere.
//!
//! Three things, each independent of the others. `surroundings` move the current folder, the home folder and all that follows from them
//! into the instance's folder; that works everywhere and keeps honest servers at home. `confine` has the kernel refuse the rest, where it
//! can: writing elsewhere, and the network. `watch` looks afterwards whether something changed all the same, where the kernel does not
//! refuse. What the command names is found before (`resolve`): the server does not stand where the user stands.

pub mod confine;
mod kernel;
mod launchers;
pub(crate) mod own;
mod resolve;
mod surroundings;
pub mod watch;
mod words;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_model::{Confinement, Folders, Refusal};

pub(crate) use self::resolve::{Resolved, resolve};
pub use self::{kernel::Kernel, own::OwnFolders};
use crate::{launch::Launch, perturb::Inherited, target::Scratch};

/// What the kernel refuses a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers {
    /// Landlock: contents and names of files outside of the writable folders.
    pub landlock: bool,
    /// Read-only mounts in a namespace of its own: the same, and modes, owners, times.
    pub mounts: bool,
    /// A network of its own, with nothing in it.
    pub network: bool,
    /// Landlock: TCP connections, where there is no network of its own.
    pub connections: bool,
}

/// What somebody wants to give a server.
#[derive(Debug, Clone, Copy, Default)]
pub struct Leave {
    /// The user's own current folder and home.
    pub in_place: bool,
    /// The network.
    pub network: bool,
}

/// How servers are kept apart.
#[derive(Debug, Clone, Default)]
pub struct Isolation {
    /// How this program is started so that it calls [`confine::become_confined`]; what follows are options.
    pub helper: Vec<OsString>,
    /// What the kernel can refuse here.
    pub kernel: Kernel,
    /// What is given all the same.
    pub leave: Leave,
    /// The environment that servers are started in.
    pub inherited: Inherited,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// A folder of the user's of which every instance finds a copy in its own.
    pub seed: Option<PathBuf>,
    /// Folders beside the server's code of which each instance has a copy.
    pub own: Arc<OwnFolders>,
}

impl Isolation {
    /// The folders that copies are laid over, where the kernel can do that.
    pub(crate) fn own_folders(&self) -> Vec<PathBuf> {
        if self.gives_copies() { self.own.places() } else { Vec::new() }
    }

    /// Whether a folder can be given as a copy.
    pub(crate) fn gives_copies(&self) -> bool {
        self.layers().mounts && !self.leave.in_place
    }

    /// The layers that are put in place.
    #[must_use]
    pub fn layers(&self) -> Layers {
        let (kernel, open) = (&self.kernel, self.leave.network);
        let network = !open && kernel.network.is_ok();
        Layers {
            landlock: kernel.landlock.is_ok(),
            mounts: kernel.mounts.is_ok(),
            network,
            connections: !open && !network && kernel.connections.is_ok(),
        }
    }

    /// What is true of a server that is started by this program, for the report.
    #[must_use]
    pub fn told(&self, program: &str) -> Confinement {
        let layers = self.layers();
        let mut told = Confinement {
            folders: if self.leave.in_place { Folders::InPlace } else { Folders::Moved },
            files: match (layers.landlock, layers.mounts) {
                _ if self.leave.in_place => Refusal::Open,
                (true, true) => Refusal::Refused,
                (false, false) => Refusal::Open,
                _ => Refusal::Partly,
            },
            network: match (layers.network, layers.connections) {
                (true, _) => Refusal::Refused,
                (false, true) => Refusal::Partly,
                (false, false) => Refusal::Open,
            },
            ..Confinement::default()
        };
        if words::runs_elsewhere(program) {
            (told.files, told.network) = (Refusal::Open, Refusal::Open);
        }
        told.said = words::said(self, &told, program);
        told
    }

    /// Moves a server that is about to be started into the instance's folders.
    pub(crate) fn move_in(&self, launch: &mut Launch, scratch: &Scratch) {
        surroundings::give(launch, scratch, self);
    }

    /// The command that confines itself and becomes the server; nothing if there is nothing to put in place.
    pub(crate) fn wrapped(
        &self,
        launch: &Launch,
        folder: &Path,
        copies: &[(PathBuf, PathBuf)],
    ) -> Option<Vec<OsString>> {
        let layers = self.layers();
        if layers == Layers::default() {
            return None;
        }
        let mut words = self.helper.clone();
        words.extend(options(layers));
        words.extend(["--directory".into(), launch.directory.clone().into_os_string()]);
        let given = [Some(&launch.directory), self.home.as_ref()].into_iter().flatten();
        let given = given.filter(|_| self.leave.in_place).map(PathBuf::as_path);
        for writable in given.chain([folder]) {
            words.extend(["--writable".into(), writable.as_os_str().to_owned()]);
        }
        for (place, copy) in copies {
            words.extend(["--over".into(), place.as_os_str().to_owned()]);
            words.extend(["--copy".into(), copy.as_os_str().to_owned()]);
        }
        if let Some(preload) = launch.environment.get(std::ffi::OsStr::new(PRELOAD)) {
            words.extend(["--preload".into(), preload.clone()]);
        }
        words.extend(["--".into(), launch.program.clone()]);
        words.extend(launch.arguments.iter().cloned());
        Some(words)
    }
}

/// What the loader loads first. It is for the server, not for the process that becomes the server.
pub(crate) const PRELOAD: &str = "LD_PRELOAD";

/// The layers as the hidden verb takes them.
fn options(layers: Layers) -> impl Iterator<Item = OsString> {
    let Layers { landlock, mounts, network, connections } = layers;
    let named = [
        (landlock, "--landlock"),
        (mounts, "--mounts"),
        (network, "--no-network"),
        (connections, "--no-connections"),
    ];
    named.into_iter().filter(|(wanted, _)| *wanted).map(|(_, option)| option.into())
}
