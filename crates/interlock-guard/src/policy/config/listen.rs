//! `[listen]`: how clients reach the guard.

use std::{fmt, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use super::{
    file::{ListenTable, TlsTable},
    read::Reader,
};

/// How clients reach the guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenConfig {
    /// The address of a listener for Streamable HTTP; `None` for one client on stdio.
    pub address: Option<SocketAddr>,
    /// The path of the MCP endpoint.
    pub path: String,
    /// The certificates, if it speaks TLS.
    pub tls: Option<TlsFiles>,
    /// The origins whose pages may call; `None` for those of this machine.
    pub origins: Option<Vec<String>>,
    /// What ids of sessions are signed with, so that other replicas with the same key go on with them.
    pub session_key: Option<SessionKey>,
    /// What is too much.
    pub limits: ListenLimits,
}

/// A secret that replicas share.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionKey(Arc<[u8]>);

/// The shortest that is taken: shorter ones can be guessed.
const SHORTEST_KEY: usize = 32;

impl SessionKey {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey")
    }
}

/// The files of a listener with TLS, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
    /// The authorities that client certificates are checked against.
    pub client_ca: Option<PathBuf>,
}

/// What is too much, or too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenLimits {
    /// The largest body of a request, in bytes.
    pub body: usize,
    /// How many requests may be under way at once.
    pub requests: usize,
    /// How many connections may be open at once.
    pub connections: usize,
    /// How many connections of one address may be open with no request under way.
    pub idle_per_address: usize,
    /// How long a client may take for a handshake, a head, a body, or to take in what is sent to it.
    pub slow: Duration,
    /// After how long without a word from its client a session is over.
    pub idle: Duration,
}

impl Default for ListenConfig {
    fn default() -> Self {
        Self {
            address: None,
            path: "/mcp".to_owned(),
            tls: None,
            origins: None,
            session_key: None,
            limits: ListenLimits::default(),
        }
    }
}

impl Default for ListenLimits {
    fn default() -> Self {
        Self {
            body: 4 << 20,
            requests: 10_000,
            connections: 4_096,
            idle_per_address: 1_024,
            slow: Duration::from_secs(30),
            idle: Duration::from_secs(30 * 60),
        }
    }
}

impl Reader<'_> {
    pub(super) fn listen(&mut self, table: &ListenTable) -> ListenConfig {
        let usual = ListenConfig::default();
        let address =
            table.at.as_ref().filter(|at| at.get() != "stdio").and_then(|at| self.listen_address(at));
        let is_stdio = table.at.as_ref().is_none_or(|at| at.get() == "stdio");
        if let Some(tls) = table.tls.as_ref().filter(|_| is_stdio) {
            self.wrong(tls, "TLS needs a listener: write `at = \"127.0.0.1:8443\"` in `[listen]`");
        }
        if let Some(path) = table.path.as_ref().filter(|path| !path.get().starts_with('/')) {
            self.wrong(path, format!("`{}` is no path: it begins with `/`", path.get()));
        }
        ListenConfig {
            address,
            path: table.path.as_ref().map_or(usual.path, |path| path.get().clone()),
            tls: table.tls.as_ref().map(|tls| self.tls(tls.get())),
            origins: self.origins(table),
            session_key: self.session_key(table),
            limits: self.limits(table),
        }
    }

    fn listen_address(&mut self, at: &super::value::At<String>) -> Option<SocketAddr> {
        if at.get().eq_ignore_ascii_case("stdio") {
            self.wrong(at, format!("`{}` is written `stdio`", at.get()));
            return None;
        }
        self.address(at)
    }

    fn tls(&mut self, table: &TlsTable) -> TlsFiles {
        TlsFiles {
            cert: self.path(&table.cert),
            key: self.path(&table.key),
            client_ca: table.client_ca.as_ref().map(|path| self.path(path)),
        }
    }

    fn session_key(&mut self, table: &ListenTable) -> Option<SessionKey> {
        let at = table.session_key.as_ref()?;
        if at.get().len() < SHORTEST_KEY {
            self.wrong(
                at,
                format!("this can be guessed: at least {SHORTEST_KEY} characters, such as `openssl rand -hex 32` prints"),
            );
        }
        Some(SessionKey(at.get().as_bytes().into()))
    }

    fn origins(&mut self, table: &ListenTable) -> Option<Vec<String>> {
        let at = table.origins.as_ref()?;
        for word in &at.get().0 {
            let rest = word.text.strip_prefix("https://").or_else(|| word.text.strip_prefix("http://"));
            if rest.is_none_or(|host| host.is_empty() || host.contains('/')) {
                let span = word.span.clone().unwrap_or_else(|| at.span());
                let what = format!(
                    "`{}` is no origin: write a scheme, a host and perhaps a port, such as `https://app.example`",
                    word.text
                );
                self.problems.push(self.source.error(&span, what));
            }
        }
        // Browsers send scheme and host in small letters.
        Some(at.get().0.iter().map(|word| word.text.to_ascii_lowercase()).collect())
    }

    fn limits(&mut self, table: &ListenTable) -> ListenLimits {
        let usual = ListenLimits::default();
        let requests = self.count(table.requests.as_ref(), 1_000_000);
        let connections = self.count(table.connections.as_ref(), 1_000_000);
        let connections = connections.map_or(usual.connections, |number| number as usize);
        let idle_per_address = self.count(table.idle_per_address.as_ref(), 1_000_000);
        ListenLimits {
            body: self.size(table.body.as_ref()).unwrap_or(usual.body),
            requests: requests.map_or(usual.requests, |number| number as usize),
            connections,
            idle_per_address: idle_per_address.map_or((connections / 4).max(1), |number| number as usize),
            slow: self.positive(table.slow.as_ref()).unwrap_or(usual.slow),
            idle: self.positive(table.idle.as_ref()).unwrap_or(usual.idle),
        }
    }
}
