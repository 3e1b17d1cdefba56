//! Somebody who issues tokens, and requests that carry them.

use std::{
    sync::LazyLock,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use http::{Request, request::Parts};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, encode, jwk::Jwk};
use rsa::{RsaPrivateKey, pkcs1::EncodeRsaPrivateKey as _, pkcs8::EncodePublicKey as _, rand_core::OsRng};
use serde_json::{Value, json};

use super::super::{Identify as _, Ways};
use crate::policy::{IdentityConfig, JwtAlgorithm, JwtConfig, KeySource};

pub(super) const ISSUER: &str = "https://issuer.example";
pub(super) const AUDIENCE: &str = "https://guard.example";
pub(super) const SECRET: &str = "a secret that nobody else knows, of some length";

/// A key to sign with, and what others check with.
pub(super) struct Signer {
    pub(super) algorithm: Algorithm,
    pub(super) private: EncodingKey,
    /// In PEM; the secret itself for HS256.
    pub(super) public: String,
}

pub(super) static RSA: LazyLock<Signer> = LazyLock::new(|| {
    let key = RsaPrivateKey::new(&mut OsRng, 2048).unwrap();
    Signer {
        algorithm: Algorithm::RS256,
        private: EncodingKey::from_rsa_der(key.to_pkcs1_der().unwrap().as_bytes()),
        public: key.to_public_key().to_public_key_pem(Default::default()).unwrap(),
    }
});

pub(super) fn ec() -> Signer {
    of_pair(Algorithm::ES256, &rcgen::PKCS_ECDSA_P256_SHA256, EncodingKey::from_ec_pem)
}

pub(super) fn ed() -> Signer {
    of_pair(Algorithm::EdDSA, &rcgen::PKCS_ED25519, EncodingKey::from_ed_pem)
}

pub(super) fn hmac() -> Signer {
    let private = EncodingKey::from_secret(SECRET.as_bytes());
    Signer { algorithm: Algorithm::HS256, private, public: format!("{SECRET}\n") }
}

fn of_pair(
    algorithm: Algorithm,
    kind: &'static rcgen::SignatureAlgorithm,
    read: fn(&[u8]) -> Result<EncodingKey, jsonwebtoken::errors::Error>,
) -> Signer {
    let pair = rcgen::KeyPair::generate_for(kind).unwrap();
    let private = read(pair.serialize_pem().as_bytes()).unwrap();
    Signer { algorithm, private, public: pair.public_key_pem() }
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// What a good token says.
pub(super) fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "exp": now() + 600, "nbf": now() - 5 })
}

impl Signer {
    pub(super) fn token(&self, claims: &Value) -> String {
        encode(&Header::new(self.algorithm), claims, &self.private).unwrap()
    }

    pub(super) fn token_of(&self, id: &str, claims: &Value) -> String {
        let header = Header { kid: Some(id.to_owned()), ..Header::new(self.algorithm) };
        encode(&header, claims, &self.private).unwrap()
    }

    /// The public half as a member of a key set.
    pub(super) fn member(&self, id: &str) -> Value {
        let pem = self.public.as_bytes();
        let key = match self.algorithm {
            Algorithm::RS256 => DecodingKey::from_rsa_pem(pem),
            Algorithm::ES256 => DecodingKey::from_ec_pem(pem),
            _ => DecodingKey::from_ed_pem(pem),
        };
        let mut jwk = Jwk::from_decoding_key(&key.unwrap(), Some(self.algorithm)).unwrap();
        jwk.common.key_id = Some(id.to_owned());
        serde_json::to_value(jwk).unwrap()
    }
}

pub(super) fn jwt(keys: KeySource, algorithms: &[JwtAlgorithm]) -> JwtConfig {
    JwtConfig {
        keys,
        refresh: Duration::from_secs(300),
        issuer: ISSUER.to_owned(),
        audience: vec![AUDIENCE.to_owned(), "another".to_owned()],
        algorithms: algorithms.to_vec(),
        leeway: Duration::from_secs(30),
        resource_metadata: None,
        resource: None,
    }
}

/// Ways that take tokens signed with one key.
pub(super) fn taking(public: &str, algorithms: &[JwtAlgorithm]) -> Ways {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    std::fs::write(&path, public).unwrap();
    let jwt = Some(jwt(KeySource::Key(path), algorithms));
    Ways::open(&IdentityConfig { is_required: true, jwt, ..IdentityConfig::default() }).unwrap()
}

pub(super) fn request(headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder();
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

/// Who sends a request with these headers, or why nobody does.
pub(super) fn who(ways: &Ways, headers: &[(&str, &str)]) -> String {
    match ways.identify(&request(headers), None) {
        Ok(caller) => caller.to_string(),
        Err(denied) => denied.to_string(),
    }
}

pub(super) fn bearer(ways: &Ways, token: &str) -> String {
    who(ways, &[("authorization", &format!("Bearer {token}"))])
}
