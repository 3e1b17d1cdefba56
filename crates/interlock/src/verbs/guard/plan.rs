//! What the command line and the configuration come to together.
#![expect(clippy::disallowed_methods, reason = "the binary is where the environment is read")]

use std::{collections::BTreeMap, env, sync::Arc};

use anyhow::{Context, Result, bail};
use interlock_guard::policy::{
    Bare, Broken, Config, Environment, Live, Processes, Reach, Reloaded, Rules, Sharing, UpstreamConfig,
};
use interlock_model::Mode;

use super::{DurabilityName, Guard, ModeName};

/// What is to be guarded, and how.
pub(super) struct Plan {
    /// The configuration with what the command line adds to it.
    pub(super) config: Config,
    /// The rules in force, now and after every reload.
    pub(super) rules: Arc<Rules>,
    /// The file behind it, if there is one.
    live: Option<Live>,
}

impl Plan {
    pub(super) fn of(options: &Guard) -> Result<Self> {
        let mode = options.mode.map(Mode::from);
        let live = match &options.config {
            Some(path) => Some(Live::open(path, environment(), mode).map_err(|broken| told(&broken))?),
            None => None,
        };
        let mut config = match &live {
            Some(live) => (*live.config()).clone(),
            None => bare(options)?,
        };
        override_with(options, &mut config);
        let rules = match &live {
            Some(live) => Arc::clone(live.rules()),
            None => Arc::new(Rules::of_config(&config)),
        };
        Ok(Self { config, rules, live })
    }

    /// Reads the configuration again. `None` if there is none to read.
    pub(super) fn reload(&self) -> Option<Result<Reloaded, Broken>> {
        Some(self.live.as_ref()?.reload())
    }

    /// Reads it again if it says something else than before.
    pub(super) fn reload_if_changed(&self) -> Option<Result<Reloaded, Broken>> {
        self.live.as_ref()?.reload_if_changed()
    }
}

/// What the command line says counts more than the file.
pub(super) fn override_with(options: &Guard, config: &mut Config) {
    config.mode = options.mode.map_or(config.mode, Mode::from);
    if let Some(state) = &options.state {
        config.state.clone_from(state);
    }
    if let Some(durability) = options.durability {
        config.may_forget = durability == DurabilityName::None;
    }
    config.listen.address = options.listen.or(config.listen.address);
    config.admin = options.admin.or(config.admin);
    if let Some(grace) = options.grace {
        config.defaults.close = std::time::Duration::from_millis(grace);
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

/// The configuration of a server alone.
fn bare(options: &Guard) -> Result<Config> {
    let reach = match (&options.url, options.command.first()) {
        (Some(url), _) => Reach::Url { url: url.clone(), headers: BTreeMap::new(), ca: None },
        (None, None) => bail!("no server is named: put its command behind `--`, or give --url or --config"),
        (None, Some(program)) if program.is_empty() => bail!("the command is empty"),
        (None, Some(_)) => {
            Reach::Command { command: options.command.clone(), env: BTreeMap::new(), folder: None }
        }
    };
    let locks = options.locks.iter().map(|text| Bare::lock(text)).collect::<Result<Vec<_>, _>>()?;
    let rate = options.rate.as_deref().map(str::parse).transpose().context("--rate")?;
    let rules = Bare { locks, rate, in_flight: options.in_flight }.rules()?;
    let upstream = UpstreamConfig {
        name: "server".to_owned(),
        reach,
        is_required: true,
        prefix: String::new(),
        sharing: Sharing::One,
        processes: Processes::default(),
    };
    Ok(Config { file: "the command line".to_owned(), upstreams: vec![upstream], rules, ..Config::default() })
}
