//! What may be said about a server after its calls ran together.

use std::{collections::BTreeSet, fmt, str::FromStr, time::Duration};

use crate::severity::named;

/// The outcome of a proof, from best to worst: of several, the greatest counts.
///
/// `Unknown` lies above `Held` because what was not seen to hold must never pass as if it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Every outcome seen together also occurs one after another. [`Explored`] says how much was tried.
    Held,
    /// Nothing can be said: no answer, unstable answers, nothing to compare.
    Unknown,
    /// It breaks, but only by reordering what the runtime keeps in order.
    Latent,
    /// It breaks as it stands, or under delays that an operating system can cause; and it did so again.
    Broken,
}

named!(Verdict { Held = "held", Unknown = "unknown", Latent = "latent", Broken = "broken" });

impl Verdict {
    /// The verdict over several: the worst, and `Unknown` over none.
    #[must_use]
    pub fn worst(verdicts: impl IntoIterator<Item = Self>) -> Self {
        verdicts.into_iter().max().unwrap_or(Self::Unknown)
    }
}

/// How much was tried: `held` means nothing without it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Explored {
    /// Calls sent, serial ones included.
    pub calls: u64,
    /// Concurrent runs.
    pub trials: u64,
    /// Ways of making the calls meet, by name.
    pub techniques: BTreeSet<String>,
    /// Distinct schedules that were walked.
    pub schedules: u64,
    /// What they took together, without the time in which servers were started for them.
    pub walked: Duration,
    /// Whether those are all there are.
    pub exhausted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_counts() {
        use Verdict::{Broken, Held, Latent, Unknown};
        assert_eq!(Verdict::worst([Held, Held]), Held);
        assert_eq!(Verdict::worst([Held, Unknown]), Unknown);
        assert_eq!(Verdict::worst([Unknown, Latent]), Latent);
        assert_eq!(Verdict::worst([Latent, Broken, Held]), Broken);
    }

    #[test]
    fn nothing_checked_is_unknown_and_never_held() {
        assert_eq!(Verdict::worst([]), Verdict::Unknown);
    }
}
