//! What a server lists, and what its command comes to.

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    isolate::{Isolation, Resolved, resolve},
    lab::Lab,
    request::{Progress, Request},
    target::Target,
    trouble::Trouble,
};

/// The names of the tools that a server lists. One instance is started and asked; no tool is called.
///
/// # Errors
/// If the server cannot be started or does not answer.
pub async fn list(request: &Request, progress: &dyn Progress) -> Result<Vec<String>, Trouble> {
    let tools = tools(request, progress).await?;
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
    Ok(tools.iter().filter_map(name).collect())
}

/// The tools as a server lists them, with their schemas and annotations.
///
/// # Errors
/// As [`list`].
pub async fn tools(request: &Request, progress: &dyn Progress) -> Result<Vec<Value>, Trouble> {
    let lab = Lab::new(request, 0, progress).await?;
    progress.doing("asking the server for its tools");
    lab.tools().await
}

/// A command that means the same wherever it is started, so that another program can start it, or it can be proved more than once
/// without being fetched again.
#[derive(Debug)]
pub struct Settled {
    /// The command.
    pub target: Target,
    /// What was fetched for it; gone when this is dropped.
    _stage: Option<TempDir>,
}

/// Finds what a command names, and fetches what it would fetch.
///
/// # Errors
/// If something is not there, or cannot be told before the command is started.
pub async fn settle(
    target: &Target,
    isolation: &Isolation,
    progress: &dyn Progress,
) -> Result<Settled, Trouble> {
    let Resolved { target, stage } = resolve(target, isolation, progress).await?;
    Ok(Settled { target, _stage: stage })
}
