//! `--suggest`: asks a server for its tools, and prints a policy to start from.

use std::{fs, io::Write, time::Duration};

use anyhow::{Context, Result};
use interlock_guard::{policy, upstream::Upstream};
use interlock_model::Finding;
use tokio::runtime::Runtime;

use super::{Guard, plan::Plan};
use crate::{console::Console, exit::Exit};

/// How long a server may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(options: &Guard, console: &mut Console) -> Result<Exit> {
    let plan = Plan::of(options)?;
    let findings = findings(options)?;
    let runtime = Runtime::new().context("failed to start")?;
    let tools = runtime.block_on(async {
        let mut tools = Vec::new();
        for upstream in &plan.config.upstreams {
            let asked = async {
                let server = Upstream::new(upstream.clone(), None)?;
                let listed = tokio::time::timeout(PATIENCE, server.survey()).await;
                let listed =
                    listed.with_context(|| format!("it took longer than {} s", PATIENCE.as_secs()))?;
                anyhow::Ok(listed?)
            };
            let listed =
                asked.await.with_context(|| format!("failed to ask `{}` for its tools", upstream.name))?;
            tools.extend(listed.into_iter().map(|tool| tool.with_prefix(&upstream.prefix)));
        }
        anyhow::Ok(tools)
    })?;
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
