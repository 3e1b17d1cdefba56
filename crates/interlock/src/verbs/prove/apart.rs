//! How the server is kept apart: what the kernel can refuse here, what somebody wants to give it all the same, and what changed.
#![expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment is read and people are asked"
)]

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use interlock_model::{Confinement, Folders, Refusal};
use interlock_prove::{
    Target,
    isolate::{
        Isolation, Kernel, Leave,
        watch::{Changes, Watch},
    },
    plan::restraint::Restraint,
};

use super::{super::given::home, Prove, target};
use crate::console::Console;

/// All that a proof needs to know of it.
pub(super) struct Apart {
    pub(super) isolation: Arc<Isolation>,
    pub(super) restraint: Arc<Restraint>,
    /// Only where the kernel does not refuse all of it.
    watch: Option<Watch>,
}

impl Apart {
    pub(super) fn new(options: &Prove, target: &Target, helper: Vec<OsString>, kernel: Kernel) -> Self {
        let Target::Command { command, directory, .. } = target else {
            let said = "not isolated: somebody else runs the server, and the kernel refuses it nothing on our behalf";
            let told = Confinement { said: vec![said.into()], ..Default::default() };
            return Self {
                isolation: Arc::default(),
                restraint: Arc::new(Restraint::new(told, options.allow_destructive)),
                watch: None,
            };
        };
        let leave = Leave { in_place: options.in_place, network: options.network };
        let isolation = isolation(helper, kernel.without(&options.kernel_without), leave);
        let isolation = Isolation { seed: options.seed.clone(), ..isolation };
        let told = isolation.told(command.first().map(String::as_str).unwrap_or_default());
        let watch = watch(&told, directory, &isolation, &written(options));
        let restraint = Restraint::new(told, options.allow_destructive);
        Self { isolation: Arc::new(isolation), restraint: Arc::new(restraint), watch }
    }

    /// What changed in the user's folders since.
    pub(super) fn changes(&self) -> Changes {
        self.watch.as_ref().map(|watch| watch.end(&self.restraint.handed())).unwrap_or_default()
    }

    /// Says what the server did that it should not have.
    pub(super) fn complain_of(&self, changes: &Changes, console: &mut Console) {
        if changes.of_server.is_empty() {
            return;
        }
        let lines = changes.of_server.join("\n  ");
        console.complain(&anyhow::anyhow!(
            "the server changed what is not its own while it was proved:\n  {lines}"
        ));
    }
}

/// How a server is kept apart that is left this much.
pub(in crate::verbs) fn isolation(helper: Vec<OsString>, kernel: Kernel, leave: Leave) -> Isolation {
    Isolation { kernel, helper, leave, inherited: target::inherited(), home: home(), ..Isolation::default() }
}

/// A look at the user's folders, where the kernel does not refuse all of them.
pub(in crate::verbs) fn watch(
    told: &Confinement,
    directory: &Path,
    isolation: &Isolation,
    written: &[PathBuf],
) -> Option<Watch> {
    let watched = told.files != Refusal::Refused && told.folders != Folders::Elsewhere;
    watched.then(|| Watch::begin(directory, isolation.home.as_deref(), written))
}

/// The files that this program writes itself.
fn written(options: &Prove) -> Vec<PathBuf> {
    let named = [Some(&options.save), options.output.as_ref(), options.merge.as_ref()];
    named.into_iter().flatten().cloned().collect()
}

/// How this program is started so that it becomes a server that is confined.
pub(in crate::verbs) fn helper() -> Result<Vec<OsString>> {
    let program = env::current_exe().context("where this program is cannot be told")?;
    Ok(vec![program.into_os_string(), "confine".into()])
}

/// Finds out what the kernel can refuse; of a server that somebody else runs nothing.
pub(in crate::verbs) async fn probe(helper: Vec<OsString>, target: &Target) -> Kernel {
    if matches!(target, Target::Url { .. }) {
        return Kernel::default();
    }
    let probed = tokio::task::spawn_blocking(move || Kernel::of_this_machine(&helper));
    probed.await.unwrap_or_default()
}

/// Says what it means to run in place, and asks.
pub(super) fn ask(options: &Prove, target: &Target, console: &mut Console) -> Result<()> {
    let Target::Command { directory, .. } = target else { return Ok(()) };
    if !options.in_place {
        return Ok(());
    }
    let home = home().map(|home| format!(" and {}", home.display())).unwrap_or_default();
    let means = format!(
        "--in-place: the server is called with made-up data, dozens of times, in {}{home}; it can write and delete there, and nothing takes \
         that back",
        directory.display()
    );
    if options.yes {
        console.remark(&means);
        return Ok(());
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!("{means}; nobody can be asked here: add --yes if that is meant");
    }
    console.remark(&format!("{means}. Go on? [y/N]"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { bail!("not started") }
}
