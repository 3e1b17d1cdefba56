//! Who takes part, and how each is started in front of the same server.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use crate::running::{Running, free_port};

/// The programs, as `xtask` has installed and built them.
pub(crate) struct Peers {
    interlock: PathBuf,
    supergateway: PathBuf,
    python: PathBuf,
    crate_proxy: PathBuf,
    /// Name and version of each peer, for the rows.
    pub(crate) names: Names,
    scratch: TempDir,
}

pub(crate) struct Names {
    pub(crate) supergateway: String,
    pub(crate) python: String,
    pub(crate) crate_proxy: String,
}

/// All controls that a guard has. The keys are per call, so that what is measured is deciding and not waiting.
const CONTROLS: &str = r#"
[defaults]
queue = 20000
wait = "10min"

[[tool]]
match = "*"
rate = "10000000/min"
in_flight = 20000
lock = "{args.key}"
changes = "{args.key}"
idempotency = "meta"
timeout = "60s"
"#;

/// One lock for all, so that a crowd waits.
const ONE_LOCK: &str = r#"
[defaults]
queue = 20000
wait = "10min"

[[tool]]
match = "*"
lock = "all"
"#;

impl Peers {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
        let said: Value = serde_json::from_str(&text)?;
        let word = |name: &str| {
            let word = said.get(name).and_then(Value::as_str).map(str::to_owned);
            word.with_context(|| format!("{} does not say `{name}`", path.display()))
        };
        Ok(Self {
            interlock: word("interlock")?.into(),
            supergateway: word("supergateway")?.into(),
            python: word("python")?.into(),
            crate_proxy: word("crate")?.into(),
            names: Names {
                supergateway: word("supergateway_name")?,
                python: word("python_name")?,
                crate_proxy: word("crate_name")?,
            },
            scratch: tempfile::tempdir()?,
        })
    }

    /// The server, over HTTP.
    pub(crate) fn echo(&self) -> Result<Running> {
        let mut command = Command::new(ourselves()?);
        command.arg("echo");
        Running::that_says_where(command)
    }

    /// The guard with all controls, in front of a server over HTTP.
    pub(crate) fn guard(&self, url: &str, state: &str) -> Result<Running> {
        self.configured(&format!("{CONTROLS}\n[[upstream]]\nname = \"echo\"\nurl = \"{url}\"\n"), state)
    }

    /// The guard with all controls, in front of a server that it starts.
    pub(crate) fn guard_of_a_child(&self) -> Result<Running> {
        let command = serde_json::to_string(&[&ourselves()?.display().to_string(), "echo", "--stdio"])?;
        self.configured(
            &format!("{CONTROLS}\n[[upstream]]\nname = \"echo\"\ncommand = {command}\n"),
            "memory:",
        )
    }

    /// The guard with one lock for all calls.
    pub(crate) fn narrow_guard(&self, url: &str) -> Result<Running> {
        self.configured(&format!("{ONE_LOCK}\n[[upstream]]\nname = \"echo\"\nurl = \"{url}\"\n"), "memory:")
    }

    fn configured(&self, policy: &str, state: &str) -> Result<Running> {
        let path = self.scratch.path().join(format!("guard-{}.toml", free_port()?));
        // A crowd takes a while to gather, and those who came first must not be taken for dead.
        let listen =
            "[listen]\nat = \"127.0.0.1:0\"\nconnections = 20000\nrequests = 20000\nslow = \"10min\"\n";
        std::fs::write(
            &path,
            format!("[state]\nurl = \"{state}\"\ndurability = \"none\"\n\n{listen}\n{policy}"),
        )?;
        let mut command = Command::new(&self.interlock);
        command.args(["guard", "--config"]).arg(&path);
        Running::that_says_where(command)
    }

    /// The crate `mcp-proxy` with the controls that it has, in front of a server over HTTP. Its tools have a prefix.
    pub(crate) async fn crate_proxy(&self, url: &str) -> Result<Running> {
        let port = free_port()?;
        let path = self.scratch.path().join(format!("proxy-{port}.toml"));
        let text = format!(
            "[proxy]\nname = \"bench\"\nseparator = \"_\"\n\n[proxy.listen]\nhost = \"127.0.0.1\"\nport = {port}\n\n\
             [[backends]]\nname = \"e\"\ntransport = \"http\"\nurl = \"{url}\"\n\n[backends.timeout]\nseconds = 60\n\n\
             [backends.rate_limit]\nrequests = 100000000\nperiod_seconds = 60\n\n[backends.concurrency]\nmax_concurrent = 20000\n"
        );
        std::fs::write(&path, text)?;
        let mut command = Command::new(&self.crate_proxy);
        command.arg("--config").arg(&path);
        Running::at(command, &format!("http://127.0.0.1:{port}/")).await
    }

    /// `supergateway` in front of a server that it starts: one for each session.
    pub(crate) async fn supergateway(&self) -> Result<Running> {
        let port = free_port()?;
        let mut command = Command::new("node");
        command
            .arg(&self.supergateway)
            .args(["--stdio", &format!("{} echo --stdio", ourselves()?.display())])
            .args(["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none"])
            .args(["--port", &port.to_string()]);
        Running::at(command, &format!("http://127.0.0.1:{port}/mcp")).await
    }

    /// PyPI's `mcp-proxy` in front of a server that it starts: one for all.
    pub(crate) async fn python(&self) -> Result<Running> {
        let port = free_port()?;
        let mut command = Command::new(&self.python);
        command
            .args(["--port", &port.to_string(), "--log-level", "ERROR", "--pass-environment", "--"])
            .arg(ourselves()?)
            .args(["echo", "--stdio"]);
        Running::at(command, &format!("http://127.0.0.1:{port}/mcp")).await
    }
}

fn ourselves() -> Result<PathBuf> {
    std::env::current_exe().context("failed to find this program")
}
