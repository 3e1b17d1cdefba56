//! `--suggest`: asks a server for its tools, and prints a policy to start from.

use std::{fs, io::Write, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use interlock_guard::{
    manage::{
        Phases,
        process::{Launch, Pipes, Process},
    },
    policy::{self, ListedTool, Reach, UpstreamConfig},
};
use interlock_model::Finding;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    runtime::Runtime,
};

use super::{Guard, plan::Plan};
use crate::{console::Console, exit::Exit};

/// How long a server may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(60);
/// A longer line is no list of tools.
const LONGEST: u64 = 64 << 20;
/// More pages are not asked for.
const PAGES: u32 = 100;

pub(super) fn run(options: &Guard, console: &mut Console) -> Result<Exit> {
    let plan = Plan::of(options)?;
    let findings = findings(options)?;
    let runtime = Runtime::new().context("failed to start")?;
    let tools = runtime.block_on(async {
        let mut tools = Vec::new();
        for upstream in &plan.config.upstreams {
            let asked = tokio::time::timeout(PATIENCE, ask(upstream)).await;
            let asked = asked.unwrap_or_else(|_| bail!("it took longer than {} s", PATIENCE.as_secs()));
            let listed = asked.with_context(|| format!("failed to ask `{}` for its tools", upstream.name))?;
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

async fn ask(upstream: &UpstreamConfig) -> Result<Vec<ListedTool>> {
    let Reach::Command { command, env, folder } = &upstream.reach else {
        bail!("it is reached by a URL; a policy is suggested for servers that are started by a command");
    };
    let launch = Launch { command: command.clone(), env: env.clone(), folder: folder.clone() };
    let (process, pipes) = Process::start(&launch, Arc::new(|_| {}))?;
    let asked = tokio::select! {
        tools = list(pipes) => tools,
        () = process.ended() => Err(anyhow::anyhow!("{}", process.obituary().await.1)),
    };
    process.end(Duration::from_secs(2), &Phases::default()).await;
    asked
}

async fn list(pipes: Pipes) -> Result<Vec<ListedTool>> {
    let Pipes { mut stdin, stdout } = pipes;
    let mut lines = BufReader::new(stdout);
    let info = json!({ "name": "interlock-guard", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    request(&mut stdin, &mut lines, "initialize", hello).await?;
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await?;
    let (mut tools, mut cursor) = (Vec::new(), None::<Value>);
    for _ in 0..PAGES {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let page = request(&mut stdin, &mut lines, "tools/list", params).await?;
        tools.extend(ListedTool::all_of(&page));
        cursor = page.get("nextCursor").filter(|cursor| !cursor.is_null()).cloned();
        if cursor.is_none() {
            break;
        }
    }
    Ok(tools)
}

/// Asks, and passes over what the server says by itself in between.
async fn request(
    stdin: &mut tokio::process::ChildStdin,
    lines: &mut BufReader<tokio::process::ChildStdout>,
    method: &str,
    params: Value,
) -> Result<Value> {
    let asked = json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params });
    stdin.write_all(format!("{asked}\n").as_bytes()).await?;
    loop {
        let mut line = Vec::new();
        if lines.take(LONGEST).read_until(b'\n', &mut line).await? == 0 {
            bail!("it closed its output");
        }
        let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { continue };
        if message.get("id").and_then(Value::as_str) != Some(method) || message.get("method").is_some() {
            continue;
        }
        if let Some(error) = message.get("error") {
            bail!("it refused `{method}`: {error}");
        }
        return Ok(message.get_mut("result").map(Value::take).unwrap_or_default());
    }
}
