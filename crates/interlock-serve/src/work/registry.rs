//! Where packages come from: what the ordinary clients themselves say, so that a registry of one's own is one setting for both.

use std::{path::Path, process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

use super::{Work, child};
use crate::target::Reach;

const PATIENCE: Duration = Duration::from_secs(30);

/// Prints the index that pip uses, and where that keeps files if it is the one that pip knows by itself.
const ASK_PIP: &str = "import os
from pip._internal.models.index import PyPI
own = os.environ.get('PIP_INDEX_URL')
print(own or PyPI.simple_url)
if not own: print('https://' + PyPI.file_storage_domain + '/')";

/// The hosts that a target may reach.
pub(super) async fn hosts(reach: &Reach, work: &Work, folder: &Path) -> Result<Vec<String>, String> {
    let said = match reach {
        Reach::Nowhere => return Ok(Vec::new()),
        Reach::Host(host) => return Ok(vec![host.clone()]),
        Reach::Npm => ask(work, folder, "npm", &["config", "get", "registry"]).await?,
        Reach::Pip => ask(work, folder, "python3", &["-c", ASK_PIP]).await?,
    };
    Ok(said.lines().filter_map(host_of).collect())
}

fn host_of(address: &str) -> Option<String> {
    let address: http::Uri = address.trim().parse().ok()?;
    address.host().map(str::to_ascii_lowercase)
}

async fn ask(work: &Work, folder: &Path, program: &str, words: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    command
        .args(words)
        .env_clear()
        .envs(child::environment(work, folder, "http://127.0.0.1:9"))
        .current_dir(folder);
    command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output =
        timeout(PATIENCE, command.output()).await.map_err(|_| format!("`{program}` does not answer"))?;
    let output = output.map_err(|error| format!("`{program}` could not be started: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_taken_from_what_a_client_prints() {
        assert_eq!(host_of(" https://Packages.example:443/simple/\n").as_deref(), Some("packages.example"));
        assert_eq!(host_of(""), None);
    }
}
