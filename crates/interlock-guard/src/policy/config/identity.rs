//! `[identity]`: who is let in, and by which name.

use std::{fmt, path::PathBuf, time::Duration};

use sha2::{Digest as _, Sha256};

use super::{
    super::problem::nearest,
    file::{ApiKeyTable, IdentityTable, JwtTable, MtlsText},
    listen::ListenConfig,
    read::Reader,
    resource::Resource,
    upstream::http_url,
    value::At,
};

/// Who is let in, and by which name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IdentityConfig {
    /// Whether somebody whom nothing verifies is turned away.
    pub is_required: bool,
    /// Signed tokens.
    pub jwt: Option<JwtConfig>,
    /// Keys that somebody was given.
    pub api_keys: Vec<ApiKey>,
    /// Which part of a client's certificate is its name, if that counts.
    pub mtls: Option<CertificateName>,
}

/// Which part of a certificate is a client's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateName {
    /// The whole subject: `CN=agent,O=Example`.
    Subject,
    /// Its common name: `agent`.
    CommonName,
}

/// Which tokens count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtConfig {
    /// Where the keys are.
    pub keys: KeySource,
    /// How often a key set is fetched again.
    pub refresh: Duration,
    /// Who must have issued a token.
    pub issuer: String,
    /// For whom a token must be: one of these.
    pub audience: Vec<String>,
    /// The algorithms that are accepted.
    pub algorithms: Vec<JwtAlgorithm>,
    /// How far clocks may be apart.
    pub leeway: Duration,
    /// Where clients learn how to get a token.
    pub resource_metadata: Option<String>,
    /// What the guard says of itself, where it does.
    pub resource: Option<Resource>,
}

/// Where keys for tokens are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// One key in a file: a public key in PEM, or a shared secret.
    Key(PathBuf),
    /// A key set in a file.
    SetFile(PathBuf),
    /// A key set that is fetched.
    SetUrl(String),
}

/// How a token may be signed. That it is not signed at all is no algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JwtAlgorithm {
    /// RSA with SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
    /// A shared secret with SHA-256.
    Hs256,
}

/// A key that somebody was given: its digest, not the key itself.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Whose it is.
    pub name: String,
    /// The SHA-256 of the key.
    pub sha256: [u8; 32],
}

/// The shortest key that is taken from the environment: shorter ones can be guessed.
const SHORTEST_KEY: usize = 16;

impl IdentityConfig {
    /// Whether anything verifies anybody.
    #[must_use]
    pub fn verifies(&self) -> bool {
        self.jwt.is_some() || !self.api_keys.is_empty() || self.mtls.is_some()
    }
}

impl JwtAlgorithm {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Rs256, "RS256"), (Self::Es256, "ES256"), (Self::EdDsa, "EdDSA"), (Self::Hs256, "HS256")];

    fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(algorithm, _)| algorithm)
    }
}

impl Reader<'_> {
    pub(super) fn identity(&mut self, table: &IdentityTable, listen: &ListenConfig) -> IdentityConfig {
        let mut identity = IdentityConfig {
            is_required: false,
            jwt: table.jwt.as_ref().and_then(|jwt| self.jwt(jwt.get())),
            api_keys: self.api_keys(&table.api_key),
            mtls: table.mtls.as_ref().map(|mtls| match mtls.get() {
                MtlsText::Subject => CertificateName::Subject,
                MtlsText::CommonName => CertificateName::CommonName,
            }),
        };
        let has_authorities = listen.tls.as_ref().is_some_and(|tls| tls.client_ca.is_some());
        if let Some(mtls) = table.mtls.as_ref().filter(|_| !has_authorities) {
            self.wrong(
                mtls,
                "a client's certificate counts only if it is checked: set `client_ca` in `[listen.tls]`",
            );
        }
        let verifies = table.jwt.is_some() || !table.api_key.is_empty() || table.mtls.is_some();
        if let Some(required) = table.required.as_ref().filter(|required| *required.get() && !verifies) {
            self.wrong(
                required,
                "nobody could be verified: add `[identity.jwt]`, `[[identity.api_key]]` or `mtls`",
            );
        }
        identity.is_required = table.required.as_ref().map_or(verifies, |required| *required.get());
        identity
    }

    fn jwt(&mut self, table: &JwtTable) -> Option<JwtConfig> {
        let algorithms = self.algorithms(table);
        let keys = match (&table.key, &table.jwks) {
            (Some(key), None) => {
                if algorithms.contains(&JwtAlgorithm::Hs256) && algorithms.len() > 1 {
                    self.wrong(
                        &table.algorithms,
                        "one key is a shared secret (HS256) or a public key (RS256, ES256, EdDSA), never both: a public key is no secret",
                    );
                }
                KeySource::Key(self.path(key))
            }
            (None, Some(set)) if set.get().contains("://") => {
                if algorithms.contains(&JwtAlgorithm::Hs256) {
                    self.wrong(
                        &table.algorithms,
                        "HS256 needs a secret, and a key set that is fetched is public",
                    );
                }
                self.set_url(set)?
            }
            (None, Some(set)) => KeySource::SetFile(self.path(set)),
            (Some(key), Some(_)) => {
                self.wrong(key, "tokens are checked with a `key` or with `jwks`, not with both");
                return None;
            }
            (None, None) => {
                self.wrong(&table.issuer, "tokens need a `key` or `jwks` to be checked with");
                return None;
            }
        };
        for (at, is_empty) in [
            (table.issuer.span(), table.issuer.get().is_empty()),
            (table.audience.span(), table.audience.get().0.iter().all(|word| word.text.is_empty())),
        ] {
            if is_empty {
                self.problems.push(
                    self.source.error(&at, "this must not be empty: a token for anybody else would do"),
                );
            }
        }
        let leeway = self.time(table.leeway.as_ref()).unwrap_or(Duration::from_secs(60));
        if let Some(at) = table.leeway.as_ref().filter(|_| leeway > Duration::from_secs(3_600)) {
            self.wrong(at, "clocks are not more than an hour apart: at most `1h`");
        }
        if let Some(at) = &table.resource_metadata
            && (http_url(at.get()).is_err() || at.get().contains(['"', '\\']))
        {
            self.wrong(at, "this is no URL: write `https://HOST/.well-known/oauth-protected-resource`");
        }
        let resource = self.resource(table);
        if let (Some(_), Some(at)) = (&resource, &table.resource_metadata) {
            self.wrong(at, "the guard has a document of its own (`resource`): one of the two is enough");
        }
        Some(JwtConfig {
            keys,
            refresh: self
                .positive(table.refresh.as_ref())
                .unwrap_or(Duration::from_secs(300))
                .max(Duration::from_secs(1)),
            issuer: table.issuer.get().clone(),
            audience: table.audience.get().0.iter().map(|word| word.text.clone()).collect(),
            algorithms,
            leeway,
            resource_metadata: match &resource {
                Some(resource) => Some(resource.metadata_url()),
                None => table.resource_metadata.as_ref().map(|url| url.get().clone()),
            },
            resource,
        })
    }

    fn set_url(&mut self, set: &At<String>) -> Option<KeySource> {
        match http_url(set.get()) {
            Err(why) => {
                self.wrong(set, why);
                None
            }
            Ok(url) => {
                let host = url.host().unwrap_or_default();
                let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
                if url.scheme_str() == Some("http") && !is_here {
                    self.wrong(set, "keys that come without TLS could be anybody's: write `https://`");
                }
                Some(KeySource::SetUrl(set.get().clone()))
            }
        }
    }

    fn algorithms(&mut self, table: &JwtTable) -> Vec<JwtAlgorithm> {
        let at = &table.algorithms;
        if at.get().0.is_empty() {
            self.wrong(at, "no token could be accepted: name the algorithms, such as `[\"RS256\"]`");
        }
        let mut algorithms = Vec::new();
        for word in &at.get().0 {
            match JwtAlgorithm::of(&word.text) {
                Some(algorithm) => algorithms.push(algorithm),
                None => {
                    let near =
                        nearest(&word.text.to_ascii_uppercase(), JwtAlgorithm::ALL.map(|(_, name)| name));
                    let near = near.map(|near| format!("; the nearest is `{near}`")).unwrap_or_default();
                    let span = word.span.clone().unwrap_or_else(|| at.span());
                    let what = format!("`{}` is none of RS256, ES256, EdDSA, HS256{near}", word.text);
                    self.problems.push(self.source.error(&span, what));
                }
            }
        }
        algorithms
    }

    fn api_keys(&mut self, tables: &[At<ApiKeyTable>]) -> Vec<ApiKey> {
        let mut keys: Vec<ApiKey> = Vec::new();
        for table in tables {
            let table = table.get();
            let name = table.name.get();
            if name.is_empty() || keys.iter().any(|key| key.name == *name) {
                self.wrong(&table.name, "every key has a name of its own: limits are counted under it");
            }
            let digest = match (&table.sha256, &table.env) {
                (Some(digest), None) => {
                    let parsed = hex(&digest.get().0);
                    if parsed.is_none() {
                        self.wrong(digest, "this is no SHA-256: 64 hexadecimal digits, as `printf %s KEY | sha256sum` prints");
                    }
                    parsed
                }
                (None, Some(variable)) => self.key_of_environment(variable),
                _ => {
                    self.wrong(
                        &table.name,
                        "a key has a `sha256`, or an `env` with the variable that has it",
                    );
                    None
                }
            };
            let Some(sha256) = digest else { continue };
            if keys.iter().any(|key| key.sha256 == sha256) {
                self.wrong(&table.name, "another name has the same key: nobody could tell them apart");
            }
            keys.push(ApiKey { name: name.clone(), sha256 });
        }
        keys
    }

    fn key_of_environment(&mut self, variable: &At<String>) -> Option<[u8; 32]> {
        match self.environment.get(variable.get()) {
            Some(key) if key.len() >= SHORTEST_KEY => Some(Sha256::digest(key).into()),
            Some(_) => {
                let what = format!("`{}` has a key shorter than {SHORTEST_KEY} characters", variable.get());
                self.wrong(variable, what);
                None
            }
            None => {
                self.wrong(variable, format!("the environment has no `{}`; set it", variable.get()));
                None
            }
        }
    }
}

fn hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut out = [0; 32];
    for (byte, pair) in out.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    // `from_str_radix` also takes a sign.
    (!text.contains('+')).then_some(out)
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.name)
    }
}
