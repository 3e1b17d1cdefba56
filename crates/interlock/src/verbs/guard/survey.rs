//! The tools that a policy is about: asked of the servers, or read from what somebody saved.

use std::{fs::File, io::Read as _, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use interlock_guard::{
    policy::{Config, ListedTool},
    upstream::Upstream,
};
use serde_json::Value;
use tokio::runtime::Runtime;

/// How long a server may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest list that is read.
const LONGEST: u64 = 64 << 20;

/// Starts each server, or asks the one at its URL, and leaves it again. Names are those that clients see.
pub(super) fn ask(config: &Config) -> Result<Vec<ListedTool>> {
    let runtime = Runtime::new().context("failed to start")?;
    runtime.block_on(async {
        let mut tools = Vec::new();
        for upstream in &config.upstreams {
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
    })
}

/// The tools of a saved answer to `tools/list`: the whole answer, its result, or the list alone.
pub(super) fn read(path: &Path) -> Result<Vec<ListedTool>> {
    let shown = path.display();
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("failed to read {shown}"))?;
    file.take(LONGEST).read_to_string(&mut text).with_context(|| format!("failed to read {shown}"))?;
    let saved: Value = serde_json::from_str(&text)
        .with_context(|| format!("{shown} is no JSON of up to {LONGEST} bytes"))?;
    let result = match saved {
        Value::Array(tools) => serde_json::json!({ "tools": tools }),
        Value::Object(mut answer) => answer.remove("result").unwrap_or(Value::Object(answer)),
        _ => Value::Null,
    };
    let tools = ListedTool::all_of(&result);
    if tools.is_empty() {
        bail!("{shown} lists no tools; what is read is an answer to `tools/list`");
    }
    Ok(tools)
}
