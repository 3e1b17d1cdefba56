//! Signed tokens.

use std::sync::Arc;

use arc_swap::ArcSwap;
use jsonwebtoken::{TokenData, Validation, decode, decode_header, errors::ErrorKind};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::{
    denied::{Denied, Reason},
    keys::{InvalidKeys, Keys, of},
};
use crate::{
    call::Caller,
    policy::{JwtConfig, KeySource, read_file},
};

/// Tokens and what they are checked against.
#[derive(Debug)]
pub(super) struct Tokens {
    config: JwtConfig,
    /// What is asked of a token, for each algorithm: a token is checked against the one it was signed with and no other.
    asked: Vec<Validation>,
    pub(super) keys: ArcSwap<Keys>,
    /// Somebody came with a key that is not in the set.
    pub(super) missed: Notify,
}

/// The longest token that is looked at.
const LONGEST_TOKEN: usize = 16 << 10;

/// The longest subject that is taken over.
const LONGEST_SUBJECT: usize = 512;

impl Tokens {
    /// Reads keys that lie in files; a set that is fetched is empty until it was.
    pub(super) fn open(config: &JwtConfig) -> Result<Self, InvalidKeys> {
        let keys = match &config.keys {
            KeySource::Key(path) => {
                Keys::one(&read_file(path).map_err(InvalidKeys::Unreadable)?, &config.algorithms)?
            }
            KeySource::SetFile(path) => {
                Keys::set(&read_file(path).map_err(InvalidKeys::Unreadable)?, &config.algorithms)?
            }
            KeySource::SetUrl(_) => Keys::default(),
        };
        let asked = config.algorithms.iter().map(|algorithm| {
            let mut asked = Validation::new(of(*algorithm));
            asked.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
            asked.set_issuer(&[&config.issuer]);
            asked.set_audience(&config.audience);
            asked.validate_nbf = true;
            asked.leeway = config.leeway.as_secs();
            asked
        });
        Ok(Self {
            asked: asked.collect(),
            config: config.clone(),
            keys: ArcSwap::from_pointee(keys),
            missed: Notify::new(),
        })
    }

    pub(super) fn config(&self) -> &JwtConfig {
        &self.config
    }

    /// Takes over a key set that was fetched.
    pub(super) fn learn(&self, text: &str) -> Result<usize, InvalidKeys> {
        let keys = Keys::set(text, &self.config.algorithms)?;
        let count = keys.len();
        self.keys.store(Arc::new(keys));
        Ok(count)
    }

    /// Whose token this is.
    pub(super) fn owner(&self, token: &str) -> Result<Caller, Denied> {
        if token.len() > LONGEST_TOKEN {
            return Err(Denied::because(Reason::NoToken));
        }
        // An algorithm that the library does not have, such as `none`, is none that it can read.
        let head = decode_header(token).map_err(|_| Denied::because(Reason::NoToken))?;
        // What must be understood, and is not, may change what the signature means.
        if head.crit.is_some() {
            return Err(Denied::because(Reason::Algorithm));
        }
        let asked = self.asked.iter().find(|asked| asked.algorithms.contains(&head.alg));
        let asked = asked.ok_or_else(|| Denied::because(Reason::Algorithm))?;
        let keys = self.keys.load();
        let mut why = Reason::KeyId;
        for key in keys.candidates(head.kid.as_deref(), head.alg) {
            match decode::<Map<String, Value>>(token, key, asked) {
                Ok(TokenData { claims, .. }) => return named(claims),
                Err(error) => why = reason(error.kind()),
            }
            // Only a signature that does not fit leaves the question which key it was.
            if why != Reason::Signature {
                break;
            }
        }
        if why == Reason::KeyId {
            self.missed.notify_one();
        }
        Err(Denied::because(why))
    }
}

fn named(claims: Map<String, Value>) -> Result<Caller, Denied> {
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    if subject.len() > LONGEST_SUBJECT {
        return Err(Denied::because(Reason::LongSubject));
    }
    let is_name = !subject.is_empty() && !subject.chars().any(char::is_control);
    if !is_name {
        return Err(Denied::because(Reason::Claims));
    }
    Ok(Caller::new(&format!("jwt:{subject}")).with_claims(claims))
}

fn reason(kind: &ErrorKind) -> Reason {
    match kind {
        ErrorKind::ExpiredSignature => Reason::Expired,
        ErrorKind::ImmatureSignature => Reason::NotYet,
        ErrorKind::InvalidIssuer => Reason::Issuer,
        ErrorKind::InvalidAudience => Reason::Audience,
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) | ErrorKind::Json(_) => {
            Reason::Claims
        }
        ErrorKind::InvalidAlgorithm => Reason::Algorithm,
        _ => Reason::Signature,
    }
}
