//! `guard.toml` as it is meant: every text read, every default filled in.
//!
//! A file goes through three hands: `file` has its tables as they are written (and so its JSON Schema), `walk` finds the keys that no table
//! has, `read` turns texts into what they mean. Each says the line, what was found and what to write instead.

mod file;
mod identity;
mod import;
mod listen;
mod read;
mod resource;
mod schema;
mod syntax;
mod tool;
mod upstream;
mod value;
mod walk;

#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use interlock_model::Mode;

use super::{UpstreamConfig, pattern::Pattern, rule::Rule};

pub(crate) use self::read::read_file;
pub use self::{
    identity::{ApiKey, CertificateName, IdentityConfig, JwtAlgorithm, JwtConfig, KeySource},
    import::import,
    listen::{ListenConfig, ListenLimits, SessionKey, TlsFiles},
    resource::Resource,
    schema::schema,
};

/// The largest file that is read: far more than anybody writes, far less than hurts.
pub(super) const MAX_FILE: u64 = 1 << 20;

/// What a `guard.toml` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The file, as it was named.
    pub file: String,
    /// Whether rules that do not say so themselves are carried out.
    pub mode: Mode,
    /// Where state is kept: `memory:`, `sqlite:PATH`, `redis://…`, `postgres://…`.
    pub state: String,
    /// What keeps the state of this guard and its replicas apart from that of others in the same place, if that is said.
    pub namespace: Option<String>,
    /// Whether the state may forget what it granted when its server restarts.
    pub may_forget: bool,
    /// How clients reach the guard.
    pub listen: ListenConfig,
    /// Where health, metrics and the live page are.
    pub admin: Option<SocketAddr>,
    /// What is written down of every call.
    pub audit: AuditConfig,
    /// Who is let in.
    pub identity: IdentityConfig,
    /// What holds for every tool that no rule says otherwise of.
    pub defaults: Defaults,
    /// The requests besides tool calls that are refused, by their method.
    pub denied_requests: Vec<Pattern>,
    /// The servers behind the guard, in the order of the file, those of an imported file last.
    pub upstreams: Vec<UpstreamConfig>,
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
}

/// How long a namespace may be, in every store.
pub(super) const LONGEST_NAMESPACE: usize = 63;

impl Config {
    /// What keeps the state of this guard and its replicas apart from that of others in the same place. Unless it is said, it comes from the name
    /// of the first server: replicas have the same one, and a file that is edited keeps it.
    #[must_use]
    pub fn namespace(&self) -> String {
        if let Some(namespace) = &self.namespace {
            return namespace.clone();
        }
        let name = self.upstreams.first().map_or("", |upstream| &upstream.name);
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        "guard-".chars().chain(name.chars().map(plain)).take(LONGEST_NAMESPACE).collect()
    }
}

/// What is written down of every call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditConfig {
    /// The file that lines are added to; `None` if nothing is written.
    pub path: Option<PathBuf>,
    /// Whether arguments are written down, too.
    pub arguments: bool,
}

/// What holds for every tool that no rule says otherwise of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defaults {
    /// How long a call waits for its turn.
    pub wait: Duration,
    /// How many calls of one caller may stand in one line.
    pub queue: usize,
    /// How many calls may stand in all lines together.
    pub waiting: usize,
    /// After which a call's outcome is unknown.
    pub timeout: Duration,
    /// How much longer than the timeout what a call holds is held.
    pub grace: Duration,
    /// How long a call may go on while its upstream lives; then what it held is free.
    pub longest: Duration,
    /// The same for a task that goes on after its call.
    pub longest_task: Duration,
    /// How long endings, versions and views are remembered.
    pub keep: Duration,
    /// How long closing waits for the calls in flight.
    pub close: Duration,
    /// What happens to calls when the store is away.
    pub store_away: StoreAway,
}

/// What happens to calls when the store is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StoreAway {
    /// What may change something is refused; what only reads passes.
    #[default]
    Refuse,
    /// Everything passes, unprotected.
    Pass,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(30),
            queue: 1_000,
            waiting: 100_000,
            // Tools that build, crawl or ask a person take minutes, and an outcome that is called unknown too early helps nobody.
            timeout: Duration::from_secs(5 * 60),
            grace: Duration::from_secs(30),
            longest: Duration::from_secs(15 * 60),
            longest_task: Duration::from_secs(24 * 60 * 60),
            keep: Duration::from_secs(24 * 60 * 60),
            close: Duration::from_secs(30),
            store_away: StoreAway::Refuse,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            file: "guard.toml".to_owned(),
            mode: Mode::Enforce,
            state: "memory:".to_owned(),
            namespace: None,
            may_forget: false,
            listen: ListenConfig::default(),
            admin: None,
            audit: AuditConfig::default(),
            identity: IdentityConfig::default(),
            defaults: Defaults::default(),
            denied_requests: Vec::new(),
            upstreams: Vec::new(),
            rules: Vec::new(),
        }
    }
}
