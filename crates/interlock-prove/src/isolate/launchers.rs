//! Launchers that fetch a server before they start it: `npx`, `uvx`, `pipx run`. A server that is confined has no network, no home and no
//! cache, so it is installed before, with the user's own settings and caches, into a folder that goes with the proof; what is started then is
//! the installed program.

mod npm;
mod python;

use std::{path::Path, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::process::Command;

use super::resolve::Given;
use crate::{request::Progress, trouble::Trouble};

/// How long fetching may take.
const FETCHED_WITHIN: Duration = Duration::from_secs(300);

/// Of what an installer complains so much is kept.
const KEPT: usize = 400;

/// What a launcher is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    /// What to install.
    packages: Vec<String>,
    /// The program to start; if nobody names one, that of the package.
    program: Option<String>,
    /// Options for whoever installs.
    options: Vec<String>,
    /// What the program is given.
    arguments: Vec<String>,
}

/// Puts the installed program in place of a launcher, and says where it was installed.
pub(super) async fn fetch(
    given: &mut Given<'_>,
    progress: &dyn Progress,
) -> Result<Option<TempDir>, Trouble> {
    let program = given.program().to_owned();
    let words: Vec<String> = given.command.iter().skip(1).cloned().collect();
    let behind = |count: usize| words.get(count..).unwrap_or_default();
    let first = words.first().map(String::as_str).unwrap_or_default();
    let second = words.get(1).map(String::as_str).unwrap_or_default();
    match (program.as_str(), first, second) {
        ("npx" | "pnpx" | "bunx", ..) => npm::fetch(given, &words, progress).await,
        ("npm", "exec" | "x", _) | ("pnpm" | "yarn", "dlx", _) | ("bun", "x", _) => {
            npm::fetch(given, behind(1), progress).await
        }
        ("uvx", ..) => python::fetch_by_uv(given, &words, progress).await,
        ("uv", "tool", "run") => python::fetch_by_uv(given, behind(2), progress).await,
        ("pipx", "run", _) => python::fetch_by_pipx(given, behind(1), progress).await,
        _ => Ok(None),
    }
}

/// A folder for what is fetched.
fn stage() -> Result<TempDir, Trouble> {
    Ok(TempDir::with_prefix("interlock-prove-")?)
}

/// Runs an installer to its end, with variables of its own.
pub(super) async fn installed_by(
    program: &str,
    words: &[String],
    variables: &[(&str, String)],
    directory: &Path,
) -> Result<(), Trouble> {
    let failed = |why: String| Trouble::NotFetched(format!("{program} {}", words.join(" ")), why);
    let mut command = Command::new(program);
    command
        .args(words)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let _group = Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw));
    let output = tokio::time::timeout(FETCHED_WITHIN, child.wait_with_output()).await;
    let output =
        output.map_err(|_| failed(format!("it took more than {} s", FETCHED_WITHIN.as_secs())))??;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: String = said.chars().map(|c| if c.is_control() { ' ' } else { c }).take(KEPT).collect();
    Err(failed(format!("{}: {}", output.status, said.trim())))
}

/// What an installer started is ended with it, if it is not waited for to its end.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// A launcher's command line that is not understood.
fn unclear(given: &Given<'_>, why: &str) -> Trouble {
    let command = given.command.join(" ");
    Trouble::Unclear(format!(
        "what `{command}` starts cannot be told: {why}. Install the server and name its program behind `--`"
    ))
}
