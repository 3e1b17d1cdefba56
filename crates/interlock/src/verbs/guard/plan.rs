//! What the command line and the configuration come to together.
#![expect(clippy::disallowed_methods, reason = "the binary is where the environment is read")]

use std::{collections::BTreeMap, env, sync::Arc};

use anyhow::{Context, Result, bail};
use interlock_guard::policy::{
    Bare, Broken, Config, Environment, Live, Reach, Reloaded, Rules, Sharing, UpstreamConfig,
};
use interlock_model::Mode;

use super::{Guard, ModeName};

/// What is to be guarded, and how.
pub(super) struct Plan {
    /// The configuration with what the command line adds to it.
    pub(super) config: Config,
    /// The rules in force, now and after every reload.
    pub(super) rules: Arc<Rules>,
    /// The file behind it, if there is one.
    live: Option<Live>,
    mode: Option<Mode>,
}

impl Plan {
    pub(super) fn of(options: &Guard) -> Result<Self> {
        let live = match &options.config {
            Some(path) => Some(Live::open(path, environment()).map_err(|broken| told(&broken))?),
            None => None,
        };
        let mut config = match &live {
            Some(live) => (*live.config()).clone(),
            None => bare(options)?,
        };
        let mode = options.mode.map(Mode::from);
        if let Some(state) = &options.state {
            config.state.clone_from(state);
        }
        if options.listen.is_some() {
            config.listen.address = options.listen;
        }
        if options.admin.is_some() {
            config.admin = options.admin;
        }
        if let Some(grace) = options.grace {
            config.defaults.close = std::time::Duration::from_millis(grace);
        }
        let plan = match live {
            Some(live) => {
                let rules = Arc::clone(live.rules());
                Self { config, rules, live: Some(live), mode }
            }
            None => Self { rules: Arc::new(Rules::of_config(&config)), config, live: None, mode },
        };
        plan.override_mode(plan.config.clone());
        Ok(plan)
    }

    /// Reads the configuration again. `None` if there is none to read.
    pub(super) fn reload(&self) -> Option<Result<Reloaded, Broken>> {
        let mut reloaded = self.live.as_ref()?.reload();
        if let Ok(reloaded) = &mut reloaded
            && let Some(generation) = self.override_mode((*reloaded.config).clone())
        {
            reloaded.generation = generation;
        }
        Some(reloaded)
    }

    /// What the command line says of the mode counts more than what the file says.
    fn override_mode(&self, mut config: Config) -> Option<u64> {
        config.mode = self.mode?;
        Some(self.rules.replace(&config))
    }
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Enforce => Self::Enforce,
            ModeName::Observe => Self::Observe,
        }
    }
}

/// The environment that configurations may take values from.
pub(super) fn environment() -> Environment {
    env::vars().collect()
}

/// Everything that is wrong with a configuration, as one error.
pub(super) fn told(broken: &Broken) -> anyhow::Error {
    anyhow::anyhow!("{broken}")
}

/// The configuration of a command alone.
fn bare(options: &Guard) -> Result<Config> {
    let Some(program) = options.command.first() else {
        bail!("no server is named: put its command behind `--`, or give --config");
    };
    if program.is_empty() {
        bail!("the command is empty");
    }
    let locks = options.locks.iter().map(|text| Bare::lock(text)).collect::<Result<Vec<_>, _>>()?;
    let rate = options.rate.as_deref().map(str::parse).transpose().context("--rate")?;
    let rules = Bare { locks, rate, in_flight: options.in_flight }.rules()?;
    let upstream = UpstreamConfig {
        name: "server".to_owned(),
        reach: Reach::Command { command: options.command.clone(), env: BTreeMap::new(), folder: None },
        is_required: true,
        prefix: String::new(),
        sharing: Sharing::One,
    };
    Ok(Config { file: "the command line".to_owned(), upstreams: vec![upstream], rules, ..Config::default() })
}
