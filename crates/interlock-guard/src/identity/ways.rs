//! All ways to be let in, together.

use http::{HeaderName, header, request::Parts};

use super::{
    Identify, PeerCertificate,
    api_key::ApiKeys,
    denied::{Denied, Reason},
    fetch::{self, Asker, Unfetched},
    jwt::Tokens,
    keys::InvalidKeys,
};
use crate::{
    call::Caller,
    policy::{CertificateName, IdentityConfig, KeySource},
};

/// The ways that a configuration opens.
#[derive(Debug)]
pub struct Ways {
    keys: ApiKeys,
    tokens: Option<Tokens>,
    certificates: Option<CertificateName>,
    is_required: bool,
}

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

impl Ways {
    /// Opens them: reads the keys that lie in files. A key set that is fetched is there after [`fetch`](Self::fetch).
    ///
    /// # Errors
    ///
    /// A file has no keys.
    pub fn open(config: &IdentityConfig) -> Result<Self, InvalidKeys> {
        Ok(Self {
            keys: ApiKeys::new(&config.api_keys),
            tokens: config.jwt.as_ref().map(Tokens::open).transpose()?,
            certificates: config.mtls,
            is_required: config.is_required,
        })
    }

    /// Fetches the key set, if there is one to fetch, and says how many keys it has.
    ///
    /// # Errors
    ///
    /// It could not be fetched; the one that was there stays.
    pub async fn fetch(&self) -> Result<Option<usize>, Unfetched> {
        match self.fetched() {
            Some((url, tokens)) => fetch::once(&Asker::new()?, url, tokens).await.map(Some),
            None => Ok(None),
        }
    }

    /// Fetches the key set now and again, and tells what became of it. Ends at once if there is none to fetch, else when dropped.
    ///
    /// # Errors
    ///
    /// There is no way to ask at all.
    pub async fn keep_fresh(&self, told: impl FnMut(Result<usize, Unfetched>)) -> Result<(), Unfetched> {
        if let Some((url, tokens)) = self.fetched() {
            fetch::keep(&Asker::new()?, url, tokens, told).await;
        }
        Ok(())
    }

    fn fetched(&self) -> Option<(&str, &Tokens)> {
        let tokens = self.tokens.as_ref()?;
        match &tokens.config().keys {
            KeySource::SetUrl(url) => Some((url, tokens)),
            KeySource::Key(_) | KeySource::SetFile(_) => None,
        }
    }

    /// Whose credential this is: a key that was given out, or else a token.
    fn bearer(&self, credential: &str) -> Result<Caller, Denied> {
        match (self.keys.owner(credential.as_bytes()), &self.tokens) {
            (Some(caller), _) => Ok(caller),
            (None, Some(tokens)) => tokens.owner(credential),
            (None, None) => Err(Denied::because(Reason::UnknownKey)),
        }
    }

    fn decide(&self, parts: &Parts, peer: Option<&PeerCertificate>) -> Result<Caller, Denied> {
        let mut given = parts.headers.get_all(header::AUTHORIZATION).iter();
        if let Some(value) = given.next().filter(|_| self.takes_bearer()) {
            // Two answers to the question who somebody is are none.
            if given.next().is_some() || parts.headers.contains_key(&API_KEY) {
                return Err(Denied::because(Reason::Several));
            }
            let credential = value.to_str().ok().and_then(|text| text.split_once(' '));
            let credential = credential
                .filter(|(scheme, text)| scheme.eq_ignore_ascii_case("bearer") && !text.trim().is_empty());
            let (_, credential) = credential.ok_or_else(|| Denied::because(Reason::Malformed))?;
            return self.bearer(credential.trim());
        }
        let mut given = parts.headers.get_all(&API_KEY).iter();
        if let Some(key) = given.next().filter(|_| !self.keys.is_empty()) {
            if given.next().is_some() {
                return Err(Denied::because(Reason::Several));
            }
            return self.keys.owner(key.as_bytes()).ok_or_else(|| Denied::because(Reason::UnknownKey));
        }
        if let (Some(part), Some(peer)) = (self.certificates, peer) {
            let name = peer.name(part).ok_or_else(|| Denied::because(Reason::NoName))?;
            return Ok(Caller::new(&format!("mtls:{name}")));
        }
        if self.is_required { Err(Denied::because(Reason::Nothing)) } else { Ok(Caller::anonymous()) }
    }

    /// Whether an `Authorization` header is for us; where nothing here reads one, it is the upstream's business.
    fn takes_bearer(&self) -> bool {
        !self.keys.is_empty() || self.tokens.is_some()
    }
}

impl Identify for Ways {
    fn identify(&self, parts: &Parts, peer: Option<&PeerCertificate>) -> Result<Caller, Denied> {
        let metadata = self.tokens.as_ref().and_then(|tokens| tokens.config().resource_metadata.as_deref());
        self.decide(parts, peer).map_err(|denied| denied.with_metadata(metadata))
    }

    fn metadata(&self, path: &str) -> Option<String> {
        let resource = self.tokens.as_ref()?.config().resource.as_ref()?;
        resource.is_at(path).then(|| resource.document())
    }

    fn insufficient(&self, scope: &str) -> Option<String> {
        let metadata = self.tokens.as_ref()?.config().resource_metadata.as_deref()?;
        // A scope is made of other characters (RFC 6749, 3.3); what a file has beside them must not end the text early.
        let is_plain = scope.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
        is_plain.then(|| {
            format!(
                "Bearer realm=\"interlock\", error=\"insufficient_scope\", scope=\"{scope}\", resource_metadata=\"{metadata}\""
            )
        })
    }
}
