//! A policy that can be replaced while calls run: one generation at a time, and a broken file leaves the one in force.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use interlock_model::Mode;

use super::{
    check::check,
    config::{Config, Defaults, read_file},
    problem::{Broken, Problem},
    rules::Rules,
    substitute::Environment,
};

/// A `guard.toml` in force.
#[derive(Debug)]
pub struct Live {
    path: PathBuf,
    environment: Environment,
    /// What counts more than what the file says of it.
    mode: Option<Mode>,
    rules: Arc<Rules>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    config: Arc<Config>,
    /// The text that was read last, whether it was any good or not: it is not read again before it changes.
    seen: Result<String, String>,
}

/// What became of a reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    /// The generation in force now.
    pub generation: u64,
    /// The configuration in force now.
    pub config: Arc<Config>,
    /// What surprises in it.
    pub warnings: Vec<Problem>,
    /// The tables that changed and hold only after a restart.
    pub after_restart: Vec<&'static str>,
}

impl Live {
    /// Reads a file and puts it in force as the first generation. If a mode is given, the file's own does not count.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or something in it is wrong.
    pub fn open(path: &Path, environment: Environment, mode: Option<Mode>) -> Result<Self, Broken> {
        let file = path.display().to_string();
        let text = read_file(path).map_err(|why| Broken::whole(&file, why))?;
        let mut config = Config::parse(&file, &text, path.parent(), &environment)?;
        config.mode = mode.unwrap_or(config.mode);
        Broken::unless_fine(check(&config, None))?;
        Ok(Self {
            path: path.to_owned(),
            environment,
            mode,
            rules: Arc::new(Rules::of_config(&config)),
            state: Mutex::new(State { config: Arc::new(config), seen: Ok(text) }),
        })
    }

    /// The rules in force, now and after every reload.
    #[must_use]
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.state.lock().unwrap_or_else(PoisonError::into_inner).config)
    }

    /// Reads the file again and puts it in force, also if it is the same: what it imports may have changed.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or something in it is wrong. What was in force stays.
    pub fn reload(&self) -> Result<Reloaded, Broken> {
        self.put(read_file(&self.path))
    }

    /// Reads the file again if it says something else than last time. Reading it costs less than the mistakes of comparing times: a
    /// second change within one tick of the file system's clock, or a file that was put in place by a rename.
    ///
    /// # Errors
    ///
    /// As [`reload`](Self::reload).
    pub fn reload_if_changed(&self) -> Option<Result<Reloaded, Broken>> {
        let now = read_file(&self.path);
        let is_same = self.state.lock().unwrap_or_else(PoisonError::into_inner).seen == now;
        (!is_same).then(|| self.put(now))
    }

    fn put(&self, text: Result<String, String>) -> Result<Reloaded, Broken> {
        let file = self.path.display().to_string();
        // Held throughout, so that of two reloads at once the later text is the one in force.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.seen.clone_from(&text);
        let text = text.map_err(|why| Broken::whole(&file, why))?;
        let mut config = Config::parse(&file, &text, self.path.parent(), &self.environment)?;
        config.mode = self.mode.unwrap_or(config.mode);
        let config = Arc::new(config);
        let warnings = Broken::unless_fine(check(&config, None))?;
        let after_restart = only_at_start(&state.config, &config);
        let generation = self.rules.replace(&config);
        state.config = Arc::clone(&config);
        Ok(Reloaded { generation, config, warnings, after_restart })
    }
}

/// The tables that differ and cannot change while the guard runs.
fn only_at_start(before: &Config, after: &Config) -> Vec<&'static str> {
    let tables = [
        ("[state]", place(before) != place(after)),
        ("[listen]", before.listen != after.listen),
        ("[admin]", before.admin != after.admin),
        ("[audit]", before.audit != after.audit),
        ("[[upstream]]", before.upstreams != after.upstreams),
        ("[defaults]: waiting, longest, longest_task and close", terms(before) != terms(after)),
    ];
    tables.into_iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| name).collect()
}

/// Where the state is, and under which terms.
fn place(config: &Config) -> impl PartialEq + '_ {
    (&config.state, config.namespace(), config.may_forget)
}

/// The times and numbers that are no tool's own.
fn terms(config: &Config) -> impl PartialEq {
    let Defaults { waiting, longest, longest_task, close, .. } = config.defaults;
    (waiting, longest, longest_task, close)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn live(text: &str) -> (tempfile::TempDir, Live) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("guard.toml");
        fs::write(&path, text).unwrap();
        let live = Live::open(&path, Environment::default(), None).unwrap();
        (folder, live)
    }

    fn write(folder: &tempfile::TempDir, text: &str) {
        fs::write(folder.path().join("guard.toml"), text).unwrap();
    }

    const ONE: &str = "[[tool]]\nmatch = '*'\nlock = 'a'\n";
    const OTHER: &str = "[[tool]]\nmatch = '*'\nlock = 'b'\n";

    fn lock(rules: &Rules) -> String {
        rules.of("tool", false).lock.as_ref().map(|lock| lock.value[0].to_string()).unwrap_or_default()
    }

    #[test]
    fn a_file_that_changed_comes_into_force_and_one_that_did_not_is_left() {
        let (folder, live) = live(ONE);
        let rules = Arc::clone(live.rules());
        assert_eq!((lock(&rules).as_str(), rules.generation()), ("a", 1));
        assert!(live.reload_if_changed().is_none());
        write(&folder, OTHER);
        let reloaded = live.reload_if_changed().unwrap().unwrap();
        assert_eq!((reloaded.generation, reloaded.after_restart.len()), (2, 0));
        assert_eq!((lock(&rules).as_str(), rules.generation()), ("b", 2));
        assert!(live.reload_if_changed().is_none());
        assert_eq!(live.reload().unwrap().generation, 3);
        assert_eq!(live.config().rules.len(), 1);
    }

    #[test]
    fn a_broken_file_leaves_what_was_in_force_and_is_reported_once() {
        let (folder, live) = live(ONE);
        for broken in ["[[tool]]", "[[tool]]\nmatch = '*'\nlock = 'x'\nchanges = 'x'\nrequires_fresh = 'x'\n"]
        {
            write(&folder, broken);
            assert!(live.reload_if_changed().unwrap().is_err());
            assert!(live.reload_if_changed().is_none());
            assert_eq!((lock(live.rules()).as_str(), live.rules().generation()), ("a", 1));
        }
        fs::remove_file(folder.path().join("guard.toml")).unwrap();
        let broken = live.reload_if_changed().unwrap().unwrap_err().to_string();
        assert!(broken.ends_with("guard.toml`: there is no such file"), "{broken}");
        write(&folder, OTHER);
        assert_eq!(live.reload_if_changed().unwrap().unwrap().generation, 2);
    }

    #[test]
    fn what_holds_only_after_a_restart_is_said() {
        let (folder, live) = live(ONE);
        write(&folder, &format!("[state]\nurl = 'sqlite:x'\n[listen]\nat = '127.0.0.1:1'\n{ONE}"));
        assert_eq!(live.reload().unwrap().after_restart, ["[state]", "[listen]"]);
        write(
            &folder,
            &format!(
                "[defaults]\nwait = '1s'\n[state]\nurl = 'sqlite:x'\n[listen]\nat = '127.0.0.1:1'\n{ONE}"
            ),
        );
        assert!(live.reload().unwrap().after_restart.is_empty());
    }

    #[test]
    fn a_mode_that_was_given_counts_in_every_generation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("guard.toml");
        fs::write(&path, ONE).unwrap();
        let live = Live::open(&path, Environment::default(), Some(Mode::Observe)).unwrap();
        let mode = || live.rules().of("tool", false).lock.as_ref().map(|lock| lock.mode);
        assert_eq!(mode(), Some(Mode::Observe));
        write(&folder, &format!("mode = 'enforce'\n{OTHER}"));
        assert_eq!(live.reload().unwrap().generation, 2);
        assert_eq!((lock(live.rules()).as_str(), mode()), ("b", Some(Mode::Observe)));
    }

    #[test]
    fn a_policy_that_cannot_be_meant_does_not_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("guard.toml");
        fs::write(&path, "[[tool]]\nmatch = '*'\nlock = 'x'\nchanges = 'x'\nrequires_fresh = 'x'\n").unwrap();
        let broken = Live::open(&path, Environment::default(), None).unwrap_err().to_string();
        assert!(broken.contains("no tool `observes` `x`"), "{broken}");
    }
}
