//! What a server lists, by name.

use serde_json::Value;

use crate::{
    lab::Lab,
    request::{Progress, Request},
    trouble::Trouble,
};

/// The names of the tools that a server lists. One instance is started and asked; no tool is called.
///
/// # Errors
/// If the server cannot be started or does not answer.
pub async fn list(request: &Request, progress: &dyn Progress) -> Result<Vec<String>, Trouble> {
    let lab = Lab::new(request, 0, progress).await?;
    progress.doing("asking the server for its tools");
    let tools = lab.tools().await?;
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
    Ok(tools.iter().filter_map(name).collect())
}
