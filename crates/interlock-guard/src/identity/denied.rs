//! Somebody is not let in.

use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

/// Why somebody is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    reason: Reason,
    /// The URL of the resource's metadata, for clients that want to know how to get a token.
    metadata: Option<String>,
}

/// Why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// There is no credential at all.
    Nothing,
    /// The header is not one that carries a credential.
    Malformed,
    /// There are several credentials, which may be those of several callers.
    Several,
    /// It is no key that was given out, and tokens are not accepted.
    UnknownKey,
    /// It is neither a key that was given out nor a token.
    NoToken,
    /// Its algorithm is not accepted.
    Algorithm,
    /// Nobody here has the key that it says it was signed with.
    KeyId,
    /// It was not signed by whom it says.
    Signature,
    /// Its time is over.
    Expired,
    /// Its time has not come.
    NotYet,
    /// Somebody else issued it.
    Issuer,
    /// It is for somebody else.
    Audience,
    /// It lacks what it must say: an end, an issuer, an audience or a subject.
    Claims,
    /// Its subject is longer than names of callers may be.
    LongSubject,
    /// The certificate has no name.
    NoName,
}

impl Reason {
    fn words(self) -> &'static str {
        match self {
            Self::Nothing => "a credential is required",
            Self::Malformed => "the Authorization header is not of the form `Bearer TOKEN`",
            Self::Several => {
                "there are several credentials: send one, in `Authorization: Bearer` or in `X-API-Key`"
            }
            Self::UnknownKey => "the key is not known",
            Self::NoToken => "the credential is neither a known key nor a token",
            Self::Algorithm => "the token's algorithm is not accepted",
            Self::KeyId => "the token's key is not known",
            Self::Signature => "the token's signature is not valid",
            Self::Expired => "the token has expired",
            Self::NotYet => "the token is not valid yet",
            Self::Issuer => "the token's issuer is not accepted",
            Self::Audience => "the token is for another audience",
            Self::Claims => "the token lacks exp, iss, aud or sub",
            Self::LongSubject => "the token's sub is longer than 512 bytes",
            Self::NoName => "the client certificate has no name",
        }
    }
}

impl Reason {
    /// For those who count.
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "no-credential",
            Self::Malformed => "malformed",
            Self::Several => "several-credentials",
            Self::UnknownKey => "unknown-key",
            Self::NoToken => "no-token",
            Self::Algorithm => "algorithm",
            Self::KeyId => "key-id",
            Self::Signature => "signature",
            Self::Expired => "expired",
            Self::NotYet => "not-yet",
            Self::Issuer => "issuer",
            Self::Audience => "audience",
            Self::Claims => "claims",
            Self::LongSubject => "long-subject",
            Self::NoName => "no-name",
        }
    }
}

impl Denied {
    pub(super) fn because(reason: Reason) -> Self {
        Self { reason, metadata: None }
    }

    pub(super) fn with_metadata(mut self, url: Option<&str>) -> Self {
        self.metadata = url.map(str::to_owned);
        self
    }

    /// Why, in a word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.reason.name()
    }

    /// What goes into `WWW-Authenticate`.
    #[must_use]
    pub fn challenge(&self) -> String {
        let mut text = "Bearer realm=\"interlock\"".to_owned();
        // RFC 6750: a request without any credential is told nothing but how to bring one.
        if self.reason != Reason::Nothing {
            let error = match self.reason {
                Reason::Malformed | Reason::Several => "invalid_request",
                _ => "invalid_token",
            };
            text += &format!(", error=\"{error}\", error_description=\"{}\"", self.reason.words());
        }
        if let Some(url) = &self.metadata {
            text += &format!(", resource_metadata=\"{url}\"");
        }
        text
    }

    /// The answer: 401, before a body was read, so the connection is closed.
    #[must_use]
    pub fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(format!("{self}\n")));
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        let headers = response.headers_mut();
        let challenge = HeaderValue::from_str(&self.challenge());
        headers.insert(header::WWW_AUTHENTICATE, challenge.unwrap_or(HeaderValue::from_static("Bearer")));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason.words())
    }
}

impl std::error::Error for Denied {}
