//! The keys that tokens are checked with.

use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind,
    jwk::{Jwk, PublicKeyUse},
};
use serde_json::Value;

use crate::policy::JwtAlgorithm;

/// Keys, checked.
#[derive(Clone, Default)]
pub(super) struct Keys(Vec<Key>);

#[derive(Clone)]
struct Key {
    id: Option<String>,
    /// The one algorithm it is for, if its set says so.
    only: Option<Algorithm>,
    key: DecodingKey,
}

/// Why a text has no keys.
#[derive(Debug, thiserror::Error)]
pub enum InvalidKeys {
    /// It is no key set.
    #[error("it is no key set: {0}")]
    NoSet(#[source] serde_json::Error),
    /// A key set without a key that could be used.
    #[error("the set has no key that any of the accepted algorithms can use")]
    Empty,
    /// It is no public key.
    #[error("it is no public key in PEM for any of the accepted algorithms")]
    NoPublicKey,
    /// A secret that could be guessed.
    #[error("the shared secret is shorter than 32 bytes")]
    ShortSecret,
    /// The file cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// How many keys of a set are looked at.
const MOST: usize = 100;

/// How many keys are tried for one token.
const TRIED: usize = 8;

/// The shortest shared secret: as long as the digest it goes into.
const SHORTEST_SECRET: usize = 32;

/// The shortest RSA key, in bytes of its modulus: 2048 bits. The key as a whole is a little longer.
const SHORTEST_RSA: usize = 256;

impl Keys {
    /// One key: a public one in PEM, or a shared secret.
    pub(super) fn one(text: &str, algorithms: &[JwtAlgorithm]) -> Result<Self, InvalidKeys> {
        let key = if algorithms.contains(&JwtAlgorithm::Hs256) {
            let secret = text.trim_end_matches(['\r', '\n']).as_bytes();
            if secret.len() < SHORTEST_SECRET {
                return Err(InvalidKeys::ShortSecret);
            }
            DecodingKey::from_secret(secret)
        } else {
            let pem = text.as_bytes();
            let ways = algorithms.iter().map(|algorithm| match algorithm {
                JwtAlgorithm::Rs256 => DecodingKey::from_rsa_pem(pem),
                JwtAlgorithm::Es256 => DecodingKey::from_ec_pem(pem),
                JwtAlgorithm::EdDsa | JwtAlgorithm::Hs256 => DecodingKey::from_ed_pem(pem),
            });
            ways.flatten().find(is_whole).ok_or(InvalidKeys::NoPublicKey)?
        };
        Ok(Self(vec![Key { id: None, only: None, key }]))
    }

    /// A key set. Keys that are broken, for something else or of another kind are left out: a set is shared with others.
    pub(super) fn set(text: &str, algorithms: &[JwtAlgorithm]) -> Result<Self, InvalidKeys> {
        let set: Value = serde_json::from_str(text).map_err(InvalidKeys::NoSet)?;
        let list = set.get("keys").and_then(Value::as_array);
        let keys: Vec<Key> =
            list.into_iter().flatten().take(MOST).filter_map(|key| member(key, algorithms)).collect();
        if keys.is_empty() { Err(InvalidKeys::Empty) } else { Ok(Self(keys)) }
    }

    /// The keys that a token with this head may have been signed with.
    pub(super) fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &DecodingKey> {
        self.0
            .iter()
            .filter(move |key| key.id.is_none() || id.is_none() || key.id.as_deref() == id)
            .filter(move |key| key.key.family() == algorithm.family())
            .filter(move |key| key.only.is_none_or(|only| only == algorithm))
            .take(TRIED)
            .map(|key| &key.key)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

fn member(value: &Value, algorithms: &[JwtAlgorithm]) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
    if jwk.common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature) {
        return None;
    }
    let only = match value.get("alg").and_then(Value::as_str) {
        Some(named) => Some(named.parse().ok()?),
        None => None,
    };
    let key = DecodingKey::from_jwk(&jwk).ok().filter(is_whole)?;
    let is_wanted = algorithms.iter().any(|wanted| of(*wanted).family() == key.family());
    is_wanted.then_some(Key { id: jwk.common.key_id, only, key })
}

/// Whether a key is as long as keys of its kind are, and long enough not to be broken. The library that checks signatures relies on the
/// first and does not ask for the second.
fn is_whole(key: &DecodingKey) -> bool {
    let length = match key.kind() {
        DecodingKeyKind::SecretOrDer(bytes) => bytes.len(),
        DecodingKeyKind::RsaModulusExponent { n, .. } => n.len(),
    };
    match key.family() {
        AlgorithmFamily::Ed => length == 32,
        AlgorithmFamily::Ec => length == 65,
        AlgorithmFamily::Hmac => length >= SHORTEST_SECRET,
        AlgorithmFamily::Rsa => length >= SHORTEST_RSA,
    }
}

/// The algorithm by the library's name.
pub(super) fn of(algorithm: JwtAlgorithm) -> Algorithm {
    match algorithm {
        JwtAlgorithm::Rs256 => Algorithm::RS256,
        JwtAlgorithm::Es256 => Algorithm::ES256,
        JwtAlgorithm::EdDsa => Algorithm::EdDSA,
        JwtAlgorithm::Hs256 => Algorithm::HS256,
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| &key.id)).finish()
    }
}
