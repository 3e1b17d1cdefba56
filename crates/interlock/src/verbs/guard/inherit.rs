//! What guards that died have left behind on this machine, and what this one writes down for those after it.
#![expect(clippy::disallowed_methods, reason = "the binary is where the environment is read")]

use std::{env, path::PathBuf, process::Command, sync::Arc, time::Duration};

use interlock_guard::{
    event::{Event, Watch},
    leftover::{self, Children, Journal},
    manage::{Phase, Phases},
    policy::{Config, Reach},
};
use interlock_sync::store::Store;

/// How often it is looked whether another guard of this machine has died.
const LOOK: Duration = Duration::from_secs(2);

/// The files of all guards of one store on this machine.
pub(super) struct Inherited {
    folder: Option<PathBuf>,
    pub(super) journal: Option<Arc<Journal>>,
    store: Arc<dyn Store>,
    watch: Arc<dyn Watch>,
}

impl Inherited {
    /// Settles what dead guards have left behind, and opens a file for this one.
    pub(super) async fn open(config: &Config, store: &Arc<dyn Store>, watch: &Arc<dyn Watch>) -> Self {
        let runtime = env::var_os("XDG_RUNTIME_DIR").map_or_else(env::temp_dir, PathBuf::from);
        let folder = leftover::folder(&config.state, &config.namespace(), &runtime);
        let programs = config.upstreams.iter().filter(|one| matches!(one.reach, Reach::Command { .. }));
        let opened =
            folder.as_ref().map(|folder| Journal::open(folder, programs.map(|one| one.name.clone())));
        let journal = match opened.transpose() {
            Ok(journal) => journal.map(Arc::new),
            Err(error) => {
                let words = format!(
                    "what calls hold is not written down, so if this guard dies it is held until it runs out: {error}"
                );
                watch.note(&Event::Notice { about: "takeover", words: &words });
                None
            }
        };
        let inherited = Self { folder, journal, store: Arc::clone(store), watch: Arc::clone(watch) };
        inherited.look().await;
        inherited
    }

    /// Where the processes of this guard are known, and who ends them if it cannot.
    pub(super) fn children(&self, watch: &Arc<dyn Watch>) -> Arc<Children> {
        // Also when its file has been replaced by another version.
        let mut command = Command::new("/proc/self/exe");
        command.args(["guard", "--end-with-input"]);
        let children = || Children::new(self.journal.clone());
        Arc::new(children().watched_by(command).unwrap_or_else(|error| {
            let words = format!("if this guard is killed, its servers are not ended for it: {error}");
            watch.note(&Event::Notice { about: "takeover", words: &words });
            children()
        }))
    }

    /// Looks now and again whether another has died, until the guard ends.
    pub(super) fn keep(self, phases: Phases) {
        if self.folder.is_none() {
            return;
        }
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = phases.reached(Phase::Ending) => return,
                    () = tokio::time::sleep(LOOK) => self.look().await,
                }
            }
        });
    }

    async fn look(&self) {
        let Some(folder) = &self.folder else { return };
        let taken = leftover::take_over(folder, &*self.store).await;
        if taken.calls > 0 || taken.programs > 0 {
            let words = format!(
                "a guard on this machine died: {} of its calls are settled, of which nobody knows how they ended, and {} of its servers were ended",
                taken.calls, taken.programs
            );
            self.watch.note(&Event::Notice { about: "takeover", words: &words });
        }
    }
}
