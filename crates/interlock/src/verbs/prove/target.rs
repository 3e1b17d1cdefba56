//! The server that is meant.

use std::{collections::BTreeMap, env};

use anyhow::{Context, Result, bail};
use interlock_prove::{Address, Target, perturb::Inherited};
use interlock_report::proof::replay;

use super::{
    super::given::{here, pairs},
    Prove,
};

/// The environment that servers are started in.
pub(in crate::verbs) fn inherited() -> Inherited {
    env::vars_os().collect()
}

/// What the command line says, or what a replay was saved with.
pub(super) fn target(options: &Prove, saved: Option<&replay::Target>) -> Result<Target> {
    let directory = here();
    if let Some(url) = &options.url {
        let reset = options.reset.clone().unwrap_or_default();
        return server(options, url, reset);
    }
    if let Some(program) = options.command.first() {
        if program.is_empty() {
            bail!("the command is empty");
        }
        let environment = environment(options)?;
        return Ok(Target::Command { command: options.command.clone(), environment, directory });
    }
    match saved {
        Some(replay::Target::Command { command, environment: saved }) => {
            let mut given = environment(options)?;
            for (name, value) in saved {
                match value {
                    Some(value) => {
                        given.entry(name.clone()).or_insert_with(|| value.clone());
                    }
                    None if !given.contains_key(name) => {
                        bail!("the replay does not hold the value of {name}; give it again: --env {name}=…");
                    }
                    None => {}
                }
            }
            Ok(Target::Command { command: command.clone(), environment: given, directory })
        }
        Some(replay::Target::Url { url, reset }) => {
            let reset = options.reset.clone().or_else(|| reset.clone()).unwrap_or_default();
            server(options, url, reset)
        }
        None => bail!("no server is named: put its command behind `--`, or give --url and --reset"),
    }
}

fn server(options: &Prove, url: &str, reset: String) -> Result<Target> {
    let address: Address = url.parse()?;
    if !address.is_loopback() && !options.i_own_this_server {
        bail!("{url} is not on this machine; if it is yours to break, add --i-own-this-server");
    }
    let headers = options.headers.iter().map(|header| {
        let pair = header.split_once(':').or_else(|| header.split_once('='));
        let (name, value) = pair.with_context(|| format!("`{header}` is no header: write NAME: VALUE"))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    Ok(Target::Url { address, headers: headers.collect::<Result<_>>()?, reset })
}

fn environment(options: &Prove) -> Result<BTreeMap<String, String>> {
    pairs(&options.env)
}
