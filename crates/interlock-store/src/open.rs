//! From a state URL to a store.

use std::{error::Error, future::Future, num::NonZeroUsize, pin::Pin, sync::Arc, time::Duration};

use interlock_sync::{clock::Clock, store::Store};

use crate::all::ALL;

/// A backend, as the list knows it.
pub struct Backend {
    /// The schemes of its URLs.
    pub schemes: &'static [&'static str],
    /// What a URL of it looks like.
    pub example: &'static str,
    /// Opens it.
    pub(crate) open: fn(&str, &Options) -> Opening,
    /// Asks what its settings do not let it promise, where that differs from one server to another.
    pub(crate) caveats: Option<fn(&str, &Options) -> Caveats>,
}

/// What a store cannot promise by the settings of its server, in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caveat {
    /// When its server restarts, it has forgotten what it had acknowledged.
    Forgets(String),
    /// Whether it does could not be found out.
    Unknown(String),
}

impl std::fmt::Display for Caveat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Forgets(words) | Self::Unknown(words) => f.write_str(words),
        }
    }
}

/// What a store cannot promise, on its way.
pub(crate) type Caveats = Pin<Box<dyn Future<Output = Vec<Caveat>> + Send>>;

/// A store on its way.
pub(crate) type Opening = Pin<Box<dyn Future<Output = Result<Arc<dyn Store>, OpenError>> + Send>>;

/// What a store is opened with besides its URL: the defaults, and whatever else is set.
///
/// ```
/// use std::time::Duration;
/// use interlock_store::Options;
///
/// let options = Options::default().namespace("shop").timeout(Duration::from_secs(2));
/// # let _ = options;
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Keeps what one application stores apart from the others in the same database: 1 to 63 letters, digits, `_` and `-`.
    pub namespace: String,
    /// How long the ids of applied mutations are remembered.
    pub remember_ops: Duration,
    /// The time of stores that live on this machine; `None` for the machine's own, which those stores keep from going back when it is set.
    /// Redis and PostgreSQL have their own.
    pub clock: Option<Arc<dyn Clock>>,
    /// How long one operation may take before its answer counts as lost.
    pub timeout: Duration,
    /// The permissions of a file that is made, as `chmod` writes them in octal digits; private unless told otherwise. A file that is there
    /// keeps its own.
    pub file_mode: u32,
    /// Who vouches for the certificate of a server under TLS (`rediss://`, `sslmode=require`): root certificates in PEM; `None` for those that
    /// this machine trusts. Looked at only with the feature `tls`.
    pub root_certificates: Option<Arc<[u8]>>,
    /// How many connections to the server or, for reading, to the file are open at most; `None` for what the backend finds best. A Redis
    /// has one, which all operations share.
    pub connections: Option<NonZeroUsize>,
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No backend has this scheme.
    #[error("`{url}` is no state URL; known are {known}")]
    UnknownScheme {
        /// What was given, without its secrets.
        url: String,
        /// What would have been understood.
        known: String,
    },
    /// The backend is there, and its feature is off.
    #[error("`{url}` needs the feature `{feature}` of interlock-store, which this program was built without")]
    FeatureOff {
        /// What was given, without its secrets.
        url: String,
        /// The feature.
        feature: &'static str,
    },
    /// The URL of a known backend is malformed.
    #[error("`{url}` is not understood: {reason}")]
    Malformed {
        /// What was given, without its secrets.
        url: String,
        /// Why.
        reason: String,
    },
    /// The namespace cannot stand in every backend.
    #[error("`{0}` is no namespace: 1 to 63 letters, digits, `_` and `-`")]
    Namespace(String),
    /// The backend is away or refuses.
    #[error("failed to open `{url}`")]
    Unreachable {
        /// What was given, without its secrets.
        url: String,
        /// What the driver said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Default for Options {
    fn default() -> Self {
        Self {
            namespace: "interlock".into(),
            remember_ops: Duration::from_secs(24 * 60 * 60),
            clock: None,
            timeout: Duration::from_secs(5),
            file_mode: 0o600,
            root_certificates: None,
            connections: None,
        }
    }
}

impl Options {
    /// With another [namespace](Self::namespace).
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// With another time for which the ids of applied mutations are [remembered](Self::remember_ops).
    #[must_use]
    pub fn remember_ops(mut self, time: Duration) -> Self {
        self.remember_ops = time;
        self
    }

    /// With another [clock](Self::clock).
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// With another [time for one operation](Self::timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// With other [permissions](Self::file_mode) of a file.
    #[must_use]
    pub fn file_mode(mut self, mode: u32) -> Self {
        self.file_mode = mode;
        self
    }

    /// With these [roots](Self::root_certificates), in PEM.
    #[must_use]
    pub fn root_certificates(mut self, pem: &[u8]) -> Self {
        self.root_certificates = Some(pem.into());
        self
    }

    /// With at most so many [connections](Self::connections).
    #[must_use]
    pub fn connections(mut self, most: NonZeroUsize) -> Self {
        self.connections = Some(most);
        self
    }
}

/// Opens the store that a URL names: `memory:`, `sqlite:PATH`, `redis://…`, `postgres://…`.
///
/// # Errors
///
/// When the URL is not understood, or the backend is away.
pub async fn open(url: &str, options: &Options) -> Result<Arc<dyn Store>, OpenError> {
    let valid = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !(1..=63).contains(&options.namespace.len()) || !options.namespace.chars().all(valid) {
        return Err(OpenError::Namespace(options.namespace.clone()));
    }
    match backend_of(url) {
        Some(backend) => (backend.open)(url, options).await,
        None => Err(unknown(url)),
    }
}

/// What the store that a URL names cannot promise by the settings of its server; nothing if it keeps what it has acknowledged.
pub async fn caveats(url: &str, options: &Options) -> Vec<Caveat> {
    match backend_of(url).and_then(|backend| backend.caveats) {
        Some(caveats) => caveats(url, options).await,
        None => Vec::new(),
    }
}

/// The schemes of the backends that a feature can leave out, each with the feature.
const FEATURES: [(&str, &str); 5] = [
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("redis", "redis"),
    ("rediss", "redis"),
    ("sqlite", "sqlite"),
];

fn unknown(url: &str) -> OpenError {
    let (known, url, scheme) = (ALL, without_secrets(url), scheme_of(url));
    match FEATURES.iter().find(|(known, _)| *known == scheme) {
        Some((_, feature)) => OpenError::FeatureOff { url, feature },
        None => {
            let known = known.iter().map(|backend| backend.example).collect::<Vec<_>>().join(", ");
            OpenError::UnknownScheme { url, known }
        }
    }
}

fn scheme_of(url: &str) -> &str {
    url.split_once(':').map_or("", |(scheme, _)| scheme)
}

fn backend_of(url: &str) -> Option<&'static Backend> {
    let scheme = scheme_of(url);
    ALL.iter().find(|backend| backend.schemes.contains(&scheme))
}

/// The URL without its password, for messages.
pub(crate) fn without_secrets(url: &str) -> String {
    // A driver may take a password from a parameter, too.
    let (url, parameters) = match url.split_once('?') {
        Some((url, parameters)) if parameters.contains("pass") => (url, "?…"),
        _ => (url, ""),
    };
    match url.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?))) {
        Some((scheme, (login, place))) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}:…@{place}{parameters}")
        }
        None => format!("{url}{parameters}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_that_can_be_left_out_is_known_by_its_feature() {
        for backend in ALL.iter().filter(|backend| backend.schemes != ["memory"]) {
            for scheme in backend.schemes {
                let message = unknown(&format!("{scheme}://u:p@x")).to_string();
                assert!(message.contains("needs the feature"), "{message}");
            }
        }
        assert!(unknown("mysql://x").to_string().contains("is no state URL; known are memory:"));
    }

    #[test]
    fn a_message_names_no_password() {
        assert_eq!(without_secrets("redis://:s3cret@host:1/0"), "redis://:…@host:1/0");
        assert_eq!(without_secrets("postgres://u:p@ss@host/db"), "postgres://u:…@host/db");
        assert_eq!(
            without_secrets("postgres://u@host/db?password=p&sslmode=require"),
            "postgres://u:…@host/db?…"
        );
        assert_eq!(without_secrets("sqlite:/tmp/x"), "sqlite:/tmp/x");
    }
}
