//! How a server was kept apart while it was proved, and what got out.

use std::{fmt, str::FromStr};

use crate::severity::named;

/// How a server is confined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Where it ran.
    pub folders: Folders,
    /// Whether it can change files outside of its own folder.
    pub files: Refusal,
    /// Whether it can reach anybody.
    pub network: Refusal,
    /// What is not refused and why, a sentence each. Nothing if all is refused.
    pub said: Vec<String>,
    /// What changed outside of its folder meanwhile and is laid to the server, a path each with what became of it.
    pub changed: Vec<String>,
}

impl Confinement {
    /// Whether nothing outside of its folder can be harmed by the server: the kernel refuses it, it is not merely unlikely.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.files == Refusal::Refused && self.network == Refusal::Refused
    }
}

/// Where a server ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Folders {
    /// In a fresh folder, which is also its home.
    Moved,
    /// In the user's folder, with the user's home.
    InPlace,
    /// Wherever somebody else started it.
    #[default]
    Elsewhere,
}

/// How far the kernel refuses something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refusal {
    /// All of it.
    Refused,
    /// Some of it.
    Partly,
    /// Nothing of it.
    #[default]
    Open,
}

named!(Folders { Moved = "moved", InPlace = "in-place", Elsewhere = "elsewhere" });
named!(Refusal { Refused = "refused", Partly = "partly", Open = "open" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_nothing_is_known_of_is_not_held_to_be_harmless() {
        assert!(!Confinement::default().is_complete());
    }
}
