//! Who calls, verified: a token, a key, a certificate, or the one client on stdio.
//!
//! A name is decided from a request's head, before its body is read. What somebody says of himself, in a message or in a header that
//! nobody signed, never becomes a name.

mod api_key;
mod certificate;
mod denied;
mod doors;
mod fetch;
mod jwt;
mod keys;
mod tls;
mod ways;

#[cfg(test)]
mod tests;

use http::request::Parts;

pub(crate) use self::tls::authorities;
pub use self::{
    certificate::PeerCertificate,
    denied::Denied,
    doors::{Doors, Told, Unopened},
    fetch::Unfetched,
    keys::InvalidKeys,
    tls::{ClientCertificates, InvalidTls, Tls},
    ways::Ways,
};
use crate::call::Caller;

/// Somebody who knows who sends a request.
pub trait Identify: Send + Sync + 'static {
    /// Who sends this request: `jwt:SUB`, `key:NAME`, `mtls:SUBJECT`, or `anonymous` where strangers may call.
    ///
    /// # Errors
    ///
    /// Nobody who is let in. A credential that is wrong is an error even where another one would do, or where none is needed.
    fn identify(&self, parts: &Parts, peer: Option<&PeerCertificate>) -> Result<Caller, Denied>;

    /// The document at this path that says where tokens for this guard come from (RFC 9728), as JSON text. Whoever asks needs none.
    fn metadata(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }

    /// The `WWW-Authenticate` challenge for a token that lacks a scope, where clients are told how to get another token.
    fn insufficient(&self, scope: &str) -> Option<String> {
        let _ = scope;
        None
    }
}

/// Everybody is let in, and nobody told from another.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anybody;

impl Identify for Anybody {
    fn identify(&self, _: &Parts, _: Option<&PeerCertificate>) -> Result<Caller, Denied> {
        Ok(Caller::anonymous())
    }
}
