//! Why a call has no answer, in words that a model can act on.

use std::{fmt, time::Duration};

/// A call that was not let through, or whose answer is not there.
///
/// Its text says what was refused, why, and what to do. It is a value, and no operation of this crate returns it as an error: the server is
/// well. It can be passed on as one with `?`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "whoever called has to be told"]
pub struct CallRefusal {
    /// Which tool was called.
    pub tool: String,
    /// Why.
    pub reason: RefusalReason,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalReason {
    /// The server is closing.
    Closed,
    /// The caller called too often.
    Rate {
        /// When a call would be let through again; `None` if never.
        retry_after: Option<Duration>,
    },
    /// The caller has too many calls under way.
    InFlight {
        /// How many may be.
        limit: u32,
        /// Whether also as many wait as may; otherwise the time to wait was up.
        is_queue_full: bool,
        /// When a place is free at the latest, if that is known.
        retry_after: Option<Duration>,
    },
    /// Other calls held what this one works on, until the time to wait was up.
    Locked {
        /// What: the keys that the call needs.
        keys: Vec<String>,
    },
    /// The call does not say what it works on.
    Argument {
        /// The argument that would say it.
        name: String,
        /// Whether it is there, but twice, or as a list, an object or an empty text.
        is_present: bool,
    },
    /// The idempotency key is not a text, or an empty one.
    Key,
    /// The call has no idempotency key, and the tool is not run without one.
    KeyMissing,
    /// The idempotency key was used for another request.
    Mismatch,
    /// The same call, by its idempotency key, is still under way.
    Running {
        /// When to ask again at the latest, if that is known.
        retry_after: Option<Duration>,
    },
    /// The same call, by its idempotency key, was started, and nobody knows how it ended.
    InDoubt,
    /// The same call, by its idempotency key, was done before, but what is stored of its answer cannot be read.
    Unreadable,
    /// The store that limits and idempotency keys live in could not be asked.
    Store {
        /// What it said.
        error: String,
        /// Whether asking again may help.
        is_retryable: bool,
    },
    /// The call was started and gave no answer in time. It goes on.
    Timeout {
        /// How long it was waited for.
        after: Duration,
        /// Whether its answer can be had later, by the same idempotency key.
        has_key: bool,
    },
    /// Whoever called went away while the call waited for its turn.
    GivenUp,
}

impl CallRefusal {
    /// When to call again, if that is known.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.reason {
            RefusalReason::Rate { retry_after }
            | RefusalReason::InFlight { retry_after, .. }
            | RefusalReason::Running { retry_after } => retry_after,
            _ => None,
        }
    }

    /// Whether the same call may be let through later, or have an answer then.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.reason {
            RefusalReason::Rate { retry_after } => retry_after.is_some(),
            RefusalReason::Store { is_retryable, .. } => is_retryable,
            RefusalReason::Timeout { has_key, .. } => has_key,
            RefusalReason::Closed
            | RefusalReason::InFlight { .. }
            | RefusalReason::Locked { .. }
            | RefusalReason::Running { .. }
            | RefusalReason::GivenUp => true,
            RefusalReason::Argument { .. }
            | RefusalReason::Key
            | RefusalReason::KeyMissing
            | RefusalReason::Mismatch
            | RefusalReason::InDoubt
            | RefusalReason::Unreadable => false,
        }
    }

    /// Whether the tool may have been run, now or before, by this call or one with the same key.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        matches!(
            self.reason,
            RefusalReason::Running { .. }
                | RefusalReason::InDoubt
                | RefusalReason::Unreadable
                | RefusalReason::Timeout { .. }
        )
    }
}

impl RefusalReason {
    /// The reason's name, for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Rate { .. } => "rate",
            Self::InFlight { .. } => "in-flight",
            Self::Locked { .. } => "locked",
            Self::Argument { .. } => "argument",
            Self::Key => "idempotency-key",
            Self::KeyMissing => "idempotency-key-missing",
            Self::Mismatch => "idempotency-mismatch",
            Self::Running { .. } => "running",
            Self::InDoubt => "in-doubt",
            Self::Unreadable => "unreadable",
            Self::Store { .. } => "store",
            Self::Timeout { .. } => "timeout",
            Self::GivenUp => "given-up",
        }
    }
}

impl std::error::Error for CallRefusal {}

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match &self.reason {
            RefusalReason::Closed => write!(
                f,
                "`{tool}` was not run: the server is closing and takes no new calls. Try again when it is back."
            ),
            RefusalReason::Rate { retry_after: Some(wait) } => write!(
                f,
                "`{tool}` was not run: it was called too often. Try again in {}, and more slowly from then on.",
                Wait(*wait)
            ),
            RefusalReason::Rate { retry_after: None } => {
                write!(f, "`{tool}` was not run: its rate limit never lets such a call through.")
            }
            RefusalReason::InFlight { limit, retry_after, .. } => {
                write!(f, "`{tool}` was not run: at most {limit} of your calls may run at once. ")?;
                match retry_after {
                    Some(wait) => {
                        write!(f, "Try again when one has answered, in {} at the latest.", Wait(*wait))
                    }
                    None => f.write_str("Wait for the answer of another call, then try again."),
                }
            }
            RefusalReason::Locked { keys } => write!(
                f,
                "`{tool}` was not run: other calls kept working on {}. Try again a little later.",
                list(keys)
            ),
            RefusalReason::Argument { name, is_present: false } => write!(
                f,
                "`{tool}` was not run: the argument `{name}` is missing, which says what the call works on. Call it again with \
                 `{name}`."
            ),
            RefusalReason::Argument { name, is_present: true } => write!(
                f,
                "`{tool}` was not run: the argument `{name}` must be there once, and be a text that is not empty, a number or a \
                 truth value."
            ),
            RefusalReason::Key => {
                write!(f, "`{tool}` was not run: its idempotency key must be a text that is not empty.")
            }
            RefusalReason::KeyMissing => write!(
                f,
                "`{tool}` was not run: it needs an idempotency key, by which the same call is known when it is sent again. Call it \
                 again with a new key."
            ),
            RefusalReason::Mismatch => write!(
                f,
                "`{tool}` was not run: its idempotency key was used for a call with other arguments. Use a new key for a new call."
            ),
            RefusalReason::Running { .. } => write!(
                f,
                "The same call of `{tool}` is still under way. Send it again with the same idempotency key to get its answer."
            ),
            RefusalReason::InDoubt => write!(
                f,
                "The same call of `{tool}` was started before, and nobody knows whether it took effect. It is not run again: look at \
                 the state first, and use a new idempotency key only if it did not."
            ),
            RefusalReason::Unreadable => write!(
                f,
                "The same call of `{tool}` was done before and is not run again, but its answer cannot be told: look at the state."
            ),
            RefusalReason::Store { error, is_retryable } => {
                write!(f, "`{tool}` was not run: {error}.")?;
                if *is_retryable { f.write_str(" Try again a little later.") } else { Ok(()) }
            }
            RefusalReason::Timeout { after, has_key } => {
                write!(
                    f,
                    "`{tool}` was started and has not answered within {}. It goes on, and may yet take effect. ",
                    Wait(*after)
                )?;
                f.write_str(if *has_key {
                    "Send it again with the same idempotency key to get its answer."
                } else {
                    "Look at the state before you call it again."
                })
            }
            RefusalReason::GivenUp => write!(f, "`{tool}` was not run: whoever called it went away."),
        }
    }
}

/// A time to wait, rounded up, so that whoever waits for it does not come too early.
struct Wait(Duration);

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (millis, seconds) = (self.0.as_micros().div_ceil(1_000), self.0.as_millis().div_ceil(1_000));
        match millis {
            0..1_000 => write!(f, "{millis} ms"),
            _ if seconds == 1 => f.write_str("1 second"),
            _ => write!(f, "{seconds} seconds"),
        }
    }
}

fn list(keys: &[String]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(reason: RefusalReason) -> String {
        CallRefusal { tool: "pay".into(), reason }.to_string()
    }

    #[test]
    fn a_refusal_says_what_why_and_when_to_try_again() {
        let retry_after = Some(Duration::from_micros(1_500_001));
        assert_eq!(
            words(RefusalReason::Rate { retry_after }),
            "`pay` was not run: it was called too often. Try again in 2 seconds, and more slowly from then on."
        );
        assert_eq!(
            words(RefusalReason::InFlight { limit: 3, is_queue_full: true, retry_after: None }),
            "`pay` was not run: at most 3 of your calls may run at once. Wait for the answer of another call, then try again."
        );
        assert_eq!(
            words(RefusalReason::Locked { keys: vec!["order:1".into(), "stock".into()] }),
            "`pay` was not run: other calls kept working on `order:1`, `stock`. Try again a little later."
        );
        assert_eq!(
            words(RefusalReason::Timeout { after: Duration::from_micros(1_200), has_key: true }),
            "`pay` was started and has not answered within 2 ms. It goes on, and may yet take effect. Send it again with the \
             same idempotency key to get its answer."
        );
    }
}
