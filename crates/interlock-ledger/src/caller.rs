//! Who calls: one fixed identity on stdio, over HTTP the name of the bearer token.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use crate::values::Id;

/// The verified name of whoever calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller(Arc<str>);

/// The bearer tokens that are accepted, and whose they are. Only their hashes are kept.
#[derive(Default)]
pub struct Tokens(Vec<(Caller, [u8; 32])>);

/// Why a token's definition is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidToken {
    /// There is no `=` in it.
    #[error("a token is given as NAME=SECRET")]
    Form,
    /// The name cannot stand in a key.
    #[error("a token's name has 1 to 128 bytes and no control characters")]
    Name,
    /// Anybody could guess it, or no header can hold it.
    #[error("a token's secret is visible ASCII, and not empty")]
    Secret,
    /// Two tokens of one name could not be told apart in the audit log.
    #[error("two tokens have the name `{0}`")]
    Twice(String),
}

impl Caller {
    /// Who calls where nobody has to say who they are: on stdio, and on loopback without tokens.
    #[must_use]
    pub fn unnamed() -> Self {
        Self("caller".into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Tokens {
    /// Reads definitions of the form `NAME=SECRET`.
    ///
    /// # Errors
    ///
    /// When one is malformed, or a name comes twice.
    pub fn parse<T: AsRef<str>>(definitions: impl IntoIterator<Item = T>) -> Result<Self, InvalidToken> {
        let mut tokens = Self::default();
        for definition in definitions {
            let (name, secret) = definition.as_ref().split_once('=').ok_or(InvalidToken::Form)?;
            let name = Id::new(name.to_owned()).ok_or(InvalidToken::Name)?;
            if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(InvalidToken::Secret);
            }
            if tokens.0.iter().any(|(known, _)| known.as_str() == name.as_str()) {
                return Err(InvalidToken::Twice(name.to_string()));
            }
            tokens.0.push((Caller(name.as_str().into()), hash(secret.as_bytes())));
        }
        Ok(tokens)
    }

    /// Whether nobody has to say who they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose token was named first.
    #[must_use]
    pub fn first(&self) -> Option<&Caller> {
        self.0.first().map(|(caller, _)| caller)
    }

    /// Whose secret it is. Takes the same time whichever it is and however much of it is right: hashes of equal length are compared, all
    /// of them and whole.
    #[must_use]
    pub fn whose(&self, secret: &[u8]) -> Option<&Caller> {
        let given = hash(secret);
        let mut found = u64::MAX;
        for (index, (_, known)) in (0_u64..).zip(&self.0) {
            let is_it: Choice = known.ct_eq(&given);
            found.conditional_assign(&index, is_it);
        }
        usize::try_from(found).ok().and_then(|index| self.0.get(index)).map(|(caller, _)| caller)
    }
}

fn hash(secret: &[u8]) -> [u8; 32] {
    Sha256::digest(secret).into()
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(caller, _)| caller)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_says_whose_it_is() {
        let tokens = Tokens::parse(["alice=s3cret=", "bob=other"]).unwrap();
        assert_eq!(tokens.whose(b"s3cret=").unwrap().as_str(), "alice");
        assert_eq!(tokens.whose(b"other").unwrap().as_str(), "bob");
        for wrong in [&b""[..], b"s3cret", b"othe", b"others"] {
            assert_eq!(tokens.whose(wrong), None);
        }
        assert_eq!(Tokens::default().whose(b"x"), None);
    }

    #[test]
    fn a_definition_must_be_whole_and_its_name_single() {
        let refused = |definitions: &[&str]| Tokens::parse(definitions).unwrap_err();
        assert_eq!(refused(&["alice"]), InvalidToken::Form);
        assert_eq!(refused(&["=x"]), InvalidToken::Name);
        assert_eq!(refused(&["alice="]), InvalidToken::Secret);
        assert_eq!(refused(&["alice=a b"]), InvalidToken::Secret);
        assert_eq!(refused(&["alice=a", "alice=b"]), InvalidToken::Twice("alice".into()));
    }

    #[test]
    fn no_secret_is_shown() {
        assert_eq!(format!("{:?}", Tokens::parse(["alice=s3cret"]).unwrap()), r#"[Caller("alice")]"#);
    }
}
