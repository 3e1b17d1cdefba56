//! Which of its duties the guard was called for.
#![expect(clippy::disallowed_methods, reason = "the binary is where the input is read")]

use std::{fs, io::Write, path::Path};

use anyhow::{Context, Result};
use interlock_guard::{
    leftover::end_with,
    policy::{self, Config, Weight},
};

use super::{
    Guard, LogForm,
    plan::{Plan, environment, override_with, told},
    serve, survey,
};
use crate::{console::Console, exit::Exit};

pub(super) fn run(options: &Guard, console: &mut Console) -> Result<Exit> {
    if options.schema {
        writeln!(console, "{}", policy::schema().trim_end())?;
        return Ok(Exit::Clean);
    }
    if options.end_with_input {
        end_with(std::io::stdin().lock()).context("failed to wait for the end of the guard")?;
        return Ok(Exit::Clean);
    }
    if let Some(path) = &options.import {
        return import(path, console);
    }
    if options.suggest {
        return super::suggest::run(options, console);
    }
    if let (true, Some(path)) = (options.check, &options.config) {
        return check(path, options, console);
    }
    let outcome = Plan::of(options).and_then(|plan| serve::run(&plan, options, console));
    match outcome {
        // Whoever reads lines of JSON reads the last one as well.
        Err(error) if options.log == LogForm::Json => {
            super::wire::write_json(
                &serde_json::json!({ "level": "error", "event": "failed", "words": format!("{error:#}") }),
            );
            Ok(Exit::Failed)
        }
        outcome => outcome,
    }
}

/// Says what is wrong with a configuration, with what the command line adds to it, and, if they are known, with its tools: 2 if it cannot be used, 1 if something in it surprises.
fn check(path: &Path, options: &Guard, console: &mut Console) -> Result<Exit> {
    let problems = match Config::load(path, &environment()) {
        Ok(mut config) => {
            override_with(options, &mut config);
            let tools = match &options.tools {
                Some(path) => Some(survey::read(path)?),
                None if options.live => Some(survey::ask(&config)?),
                None => None,
            };
            policy::check(&config, tools.as_deref())
        }
        Err(broken) => broken.problems,
    };
    for problem in &problems {
        writeln!(console, "{problem}")?;
    }
    Ok(match problems.iter().map(|problem| problem.weight).max() {
        None => {
            writeln!(console, "{}: nothing is wrong", path.display())?;
            Exit::Clean
        }
        Some(Weight::Warning) => Exit::Found,
        Some(Weight::Error) => Exit::Failed,
    })
}

fn import(path: &Path, console: &mut Console) -> Result<Exit> {
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let upstreams =
        policy::import(&path.display().to_string(), &text, &environment()).map_err(|broken| told(&broken))?;
    write!(console, "{}", super::import::written(&upstreams))?;
    Ok(Exit::Clean)
}
