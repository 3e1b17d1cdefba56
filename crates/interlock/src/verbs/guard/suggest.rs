//! `--suggest`: asks a server for its tools, and prints a policy to start from.

use std::{fs, io::Write};

use anyhow::{Context, Result};
use interlock_guard::policy;
use interlock_model::Finding;

use super::{Guard, plan::Plan, survey};
use crate::{console::Console, exit::Exit};

pub(super) fn run(options: &Guard, console: &mut Console) -> Result<Exit> {
    let plan = Plan::of(options)?;
    let findings = findings(options)?;
    let tools = survey::ask(&plan.config)?;
    write!(console, "{}", policy::suggest(&plan.config.upstreams, &tools, &findings))?;
    Ok(if tools.is_empty() { Exit::Nothing } else { Exit::Clean })
}

/// What a scan has found, if its report was given.
fn findings(options: &Guard) -> Result<Vec<Finding>> {
    let Some(path) = &options.from else { return Ok(Vec::new()) };
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let report = interlock_report::json::read(&text)
        .with_context(|| format!("{} is no report of a scan", path.display()))?;
    Ok(report.findings)
}
