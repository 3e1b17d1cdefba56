//! How bad, how sure, how far: the three scales of a finding, and the names they have in flags and files.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A name that is not on the scale, with the names that are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is none of {known}")]
pub struct UnknownName {
    given: String,
    known: String,
}

/// Gives an enum one name per variant, for [`fmt::Display`] and [`FromStr`] alike, so that the two cannot drift apart.
macro_rules! named {
    ($scale:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $scale {
            /// Every value, in ascending order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in flags, files and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl fmt::Display for $scale {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $scale {
            type Err = crate::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|value| value.name() == text)
                    .ok_or_else(|| crate::UnknownName::new(text, &[$($name),+]))
            }
        }
    };
}
pub(crate) use named;

/// How bad it is when it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// Waste, or a conflict that nobody can detect later.
    Low,
    /// Something leaks, or one caller harms the others.
    Medium,
    /// Acknowledged work is lost, doubled or half done.
    High,
    /// A caller does what it was not allowed to do.
    Critical,
}

named!(Severity { Low = "low", Medium = "medium", High = "high", Critical = "critical" });

/// How sure we are that it can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Confidence {
    /// A step of the argument is assumed: code that no handler reaches, a resource that could not be told apart.
    Low,
    /// The shape is there, and something outside the source could still prevent it.
    Medium,
    /// Every step is in the source.
    High,
}

named!(Confidence { Low = "low", Medium = "medium", High = "high" });

/// Who can come in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reach {
    /// Another call in the same process.
    InProcess,
    /// Another process on the same file, database or service; in this process something already keeps calls apart.
    CrossProcess,
    /// Either.
    Both,
}

named!(Reach { InProcess = "in-process", CrossProcess = "cross-process", Both = "both" });

impl UnknownName {
    pub(crate) fn new(given: &str, known: &[&str]) -> Self {
        Self { given: given.to_owned(), known: known.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_its_value() {
        assert!(Severity::ALL.iter().all(|value| value.name().parse() == Ok(*value)));
        assert!(Confidence::ALL.iter().all(|value| value.name().parse() == Ok(*value)));
        assert!(Reach::ALL.iter().all(|value| value.name().parse() == Ok(*value)));
    }

    #[test]
    fn severities_rise_from_low_to_critical() {
        assert!(Severity::ALL.is_sorted());
        assert!(Severity::Critical > Severity::High);
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = "fatal".parse::<Severity>().unwrap_err();
        assert_eq!(error.to_string(), "`fatal` is none of low, medium, high, critical");
    }
}
