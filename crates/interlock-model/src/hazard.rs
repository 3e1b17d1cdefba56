//! How a hazard is named.
//!
//! The model knows what a name looks like, not which names exist: the catalogue is the one place that lists them, so that a
//! new hazard touches nothing here.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A hazard's name, such as `lost-update`: lower-case words joined by single hyphens.
///
/// The same word is the folder (with underscores), the config key, the suppression, the SARIF rule and the page.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HazardId(Cow<'static, str>);

/// Why a text is no hazard name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a hazard name: lower-case words joined by single hyphens, such as `lost-update`")]
pub struct InvalidHazardId(String);

impl HazardId {
    /// Names a hazard in a constant.
    ///
    /// # Panics
    ///
    /// When the name is malformed; in a constant that is a compile error.
    #[must_use]
    pub const fn from_static(name: &'static str) -> Self {
        assert!(is_kebab(name.as_bytes()), "a hazard name is lower-case words joined by single hyphens");
        Self(Cow::Borrowed(name))
    }

    /// The name as it is written everywhere.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as a Rust module and folder: `lost_update`.
    #[must_use]
    pub fn module(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl TryFrom<String> for HazardId {
    type Error = InvalidHazardId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<HazardId> for String {
    fn from(id: HazardId) -> Self {
        id.0.into_owned()
    }
}

impl FromStr for HazardId {
    type Err = InvalidHazardId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if is_kebab(text.as_bytes()) {
            Ok(Self(Cow::Owned(text.to_owned())))
        } else {
            Err(InvalidHazardId(text.to_owned()))
        }
    }
}

impl fmt::Display for HazardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for HazardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[expect(clippy::indexing_slicing, reason = "the index is below the length, and `get` is not const")]
const fn is_kebab(text: &[u8]) -> bool {
    let mut index = 0;
    let mut after_hyphen = true;
    while index < text.len() {
        match text[index] {
            b'a'..=b'z' => after_hyphen = false,
            b'0'..=b'9' if !after_hyphen => {}
            b'-' if !after_hyphen => after_hyphen = true,
            _ => return false,
        }
        index += 1;
    }
    !after_hyphen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_words_joined_by_single_hyphens() {
        for good in ["lost-update", "a", "x2-y"] {
            assert_eq!(good.parse::<HazardId>().unwrap().as_str(), good);
        }
        for bad in
            ["", "-", "Lost-Update", "lost_update", "lost--update", "lost-", "-lost", "2-lost", "lost update"]
        {
            assert_eq!(bad.parse::<HazardId>(), Err(InvalidHazardId(bad.to_owned())), "{bad:?}");
        }
    }

    #[test]
    fn a_constant_and_a_parsed_name_are_the_same_name() {
        const CONSTANT: HazardId = HazardId::from_static("lost-update");
        assert_eq!(CONSTANT, "lost-update".parse().unwrap());
        assert_eq!(CONSTANT.module(), "lost_update");
    }
}
