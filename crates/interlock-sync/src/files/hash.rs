//! What stands for a file's content in a comparison.

use std::{fmt, io::Read, str::FromStr};

use sha2::{Digest, Sha256};

/// How much of a file is in memory at once while it is hashed.
const PIECE: usize = 64 * 1024;

/// The SHA-256 of a content; as text, 64 hexadecimal digits.
///
/// SHA-256 rather than something quicker because these hashes leave the process: an agent or a script can check one with
/// `sha256sum`, processors have instructions for it, and two contents with one hash cannot be made on purpose.
///
/// # Examples
///
/// ```
/// use interlock_sync::files::ContentHash;
///
/// let hash = ContentHash::of(b"abc");
/// assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// assert_eq!(hash.to_string().parse(), Ok(hash));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

/// A text that is no [`ContentHash`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a content hash: 64 hexadecimal digits are needed")]
pub struct InvalidHash;

impl ContentHash {
    /// The hash of this content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash of all that can be read, without holding it in memory.
    pub(super) fn of_all(mut from: impl Read) -> std::io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut piece = vec![0; PIECE];
        loop {
            match from.read(&mut piece) {
                Ok(0) => return Ok(Self(hasher.finalize().into())),
                Ok(read) => hasher.update(piece.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl FromStr for ContentHash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, InvalidHash> {
        let digit = |digit: &u8| char::from(*digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
        let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
        let (pairs, rest) = digits.as_deref().unwrap_or_default().as_chunks();
        let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
        match (bytes.try_into(), rest) {
            (Ok(bytes), []) => Ok(Self(bytes)),
            _ => Err(InvalidHash),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_has_one_hash_however_it_is_read() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let content = vec![7; length];
            assert_eq!(ContentHash::of_all(&content[..]).unwrap(), ContentHash::of(&content), "{length}");
        }
    }

    #[test]
    fn only_sixty_four_hexadecimal_digits_are_a_hash() {
        let hash = ContentHash::of(b"x");
        assert_eq!(hash.to_string().to_uppercase().parse(), Ok(hash));
        let text = hash.to_string();
        let first = text.chars().next().unwrap();
        for bad in [
            "",
            "00",
            text.trim_start_matches(first),
            &format!("{text}0"),
            &format!("{text}00"),
            &text.replace(first, "g"),
        ] {
            assert_eq!(bad.parse::<ContentHash>(), Err(InvalidHash), "{bad}");
        }
    }
}
