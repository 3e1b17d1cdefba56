//! Keys: short texts that every backend can hold.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

/// A key: 1 to 512 bytes of text without control characters. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// There is nothing to tell it by.
    #[error("a key must not be empty")]
    Empty,
    /// Longer than every backend can index.
    #[error("a key has at most {longest} bytes, this one has {0}", longest = Key::LONGEST)]
    TooLong(usize),
    /// PostgreSQL holds no NUL, and people cannot read the others.
    #[error("a key must not contain control characters")]
    Control,
}

impl Key {
    /// How long a key may be, in bytes.
    pub const LONGEST: usize = 512;

    /// Makes a key of a text.
    ///
    /// # Errors
    ///
    /// When it is empty, too long, or has control characters.
    pub fn new(text: impl AsRef<str>) -> Result<Self, InvalidKey> {
        let text = text.as_ref();
        match text.len() {
            0 => Err(InvalidKey::Empty),
            long if long > Self::LONGEST => Err(InvalidKey::TooLong(long)),
            _ if has_control(text) => Err(InvalidKey::Control),
            _ => Ok(Self(text.into())),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn has_control(text: &str) -> bool {
    // Text without anything but plain ASCII, as almost all keys are, is seen to have none faster.
    !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.contains(char::is_control)
}

impl FromStr for Key {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_text_that_every_backend_can_hold() {
        assert_eq!(Key::new("order:17").unwrap().as_str(), "order:17");
        assert_eq!(Key::new("").unwrap_err(), InvalidKey::Empty);
        assert_eq!(Key::new("a\0b").unwrap_err(), InvalidKey::Control);
        assert_eq!(Key::new("ä\u{85}").unwrap_err(), InvalidKey::Control);
        assert_eq!(Key::new("\u{7f}").unwrap_err(), InvalidKey::Control);
        assert_eq!(Key::new("ä".repeat(257)).unwrap_err(), InvalidKey::TooLong(514));
        assert!(Key::new("ä".repeat(256)).is_ok());
    }
}
