//! Why a call has no answer of its server, in words that a model can act on, as the result of a tool.
//!
//! It is a result that says `isError`, because clients show that to the model, as they do not with errors of the protocol; and it has no
//! structured content, because clients check that against the tool's schema even here.

use std::{fmt, time::Duration};

use bytes::Bytes;
use interlock_sync::adapt::{CallRefusal, RefusalReason};
use serde_json::{Value, json};

/// The `_meta` entry that says for programs what the text says for models.
const DETAILS: &str = "dev.interlock/refusal";

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    /// What the guard has in common with servers that guard themselves.
    Common(RefusalReason),
    /// As many calls wait already as may.
    QueueFull {
        /// For what.
        keys: Vec<String>,
    },
    /// The policy says that the tool may not be called.
    Denied {
        /// By which rule.
        rule: String,
    },
    /// What the call builds on changed since its reader last saw it, or was never seen.
    Stale {
        /// What changed.
        changed: Vec<String>,
        /// What this reader has never read.
        unseen: Vec<String>,
        /// Tools that are known to read it.
        readers: Vec<String>,
    },
    /// The policy asks for a fresh view, and nobody knows who reads.
    NoReader,
    /// The server behind the guard will not answer any more.
    Lost {
        /// Why, for people.
        reason: String,
        /// Whether the call may have run.
        may_have_run: bool,
        /// Whether the same call is told apart by its idempotency key.
        has_key: bool,
        /// Whether its server says that the tool only reads.
        only_reads: bool,
    },
}

impl Why {
    /// The reason's name, for programs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Common(reason) => reason.name(),
            Self::QueueFull { .. } => "queue-full",
            Self::Denied { .. } => "denied",
            Self::Stale { .. } => "stale",
            Self::NoReader => "no-reader",
            Self::Lost { .. } => "lost",
        }
    }

    /// The result of the tool, as JSON text.
    pub(super) fn said_of(&self, tool: &str) -> Bytes {
        let mut details = json!({
            "reason": self.name(),
            "retryable": self.is_retryable(tool),
            "mayHaveRun": self.may_have_run(tool),
        });
        if let Value::Object(details) = &mut details {
            if let Some(wait) = self.retry_after(tool) {
                let millis = u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
                details.insert("retryAfterMs".into(), millis.into());
            }
            if !self.keys().is_empty() {
                details.insert("keys".into(), self.keys().into());
            }
        }
        let text = Words { tool, why: self }.to_string();
        let result = json!({
            "content": [{ "type": "text", "text": text }],
            "isError": true,
            "_meta": { DETAILS: details },
        });
        Bytes::from(result.to_string())
    }

    fn common(&self, tool: &str) -> Option<CallRefusal> {
        match self {
            Self::Common(reason) => Some(CallRefusal { tool: tool.to_owned(), reason: reason.clone() }),
            _ => None,
        }
    }

    fn is_retryable(&self, tool: &str) -> bool {
        match self {
            Self::Common(_) => self.common(tool).is_some_and(|common| common.is_retryable()),
            Self::QueueFull { .. } | Self::Stale { .. } => true,
            Self::Denied { .. } | Self::NoReader => false,
            Self::Lost { may_have_run, only_reads, .. } => !may_have_run || *only_reads,
        }
    }

    fn may_have_run(&self, tool: &str) -> bool {
        match self {
            Self::Common(_) => self.common(tool).is_some_and(|common| common.may_have_run()),
            Self::Lost { may_have_run, .. } => *may_have_run,
            _ => false,
        }
    }

    fn retry_after(&self, tool: &str) -> Option<Duration> {
        self.common(tool).and_then(|common| common.retry_after())
    }

    fn keys(&self) -> Vec<String> {
        match self {
            Self::Common(RefusalReason::Locked { keys }) | Self::QueueFull { keys } => keys.clone(),
            Self::Stale { changed, unseen, .. } => changed.iter().chain(unseen).cloned().collect(),
            _ => Vec::new(),
        }
    }
}

struct Words<'a> {
    tool: &'a str,
    why: &'a Why,
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool;
        match self.why {
            Why::Common(_) => match self.why.common(tool) {
                Some(common) => common.fmt(f),
                None => Ok(()),
            },
            Why::QueueFull { keys } => {
                write!(f, "`{tool}` was not run: too many calls wait")?;
                if !keys.is_empty() {
                    write!(f, " for {}", list(keys))?;
                }
                f.write_str(" already. Wait for the answers of other calls, then try again.")
            }
            Why::Denied { rule } => write!(
                f,
                "`{tool}` was not run: the policy of this server does not allow it (rule `{rule}`). Do not try again."
            ),
            Why::Stale { changed, unseen, readers } => {
                write!(f, "`{tool}` was not run: ")?;
                if !changed.is_empty() {
                    let has = if changed.len() == 1 { "has" } else { "have" };
                    write!(f, "{} {has} changed since you last read it", list(changed))?;
                }
                if !unseen.is_empty() {
                    let and = if changed.is_empty() { "" } else { ", and " };
                    write!(f, "{and}you have not read {} yet", list(unseen))?;
                }
                let first = if changed.is_empty() { "Read it first" } else { "Read it again first" };
                match readers.as_slice() {
                    [] => write!(f, ". {first}, then decide whether to call `{tool}`."),
                    readers => {
                        let readers: Vec<_> = readers.iter().map(|reader| format!("`{reader}`")).collect();
                        write!(
                            f,
                            ". {first}: call {}, then decide whether to call `{tool}`.",
                            readers.join(" or ")
                        )
                    }
                }
            }
            Why::NoReader => write!(
                f,
                "`{tool}` was not run: it may only be called by somebody who has read what it changes, and this connection does not \
                 say who you are. Connect with a session or an identity."
            ),
            Why::Lost { reason, may_have_run: false, .. } => {
                write!(f, "`{tool}` was not run: {reason}. Try again a little later.")
            }
            Why::Lost { reason, may_have_run: true, only_reads: true, .. } => {
                write!(
                    f,
                    "`{tool}` was started and has no answer: {reason}. It only reads, so call it again."
                )
            }
            Why::Lost { reason, may_have_run: true, has_key, only_reads: false } => {
                write!(
                    f,
                    "`{tool}` was started, and nobody knows whether it took effect: {reason}. Look at the state before you call it again"
                )?;
                f.write_str(if *has_key { ", and use a new idempotency key then." } else { "." })
            }
        }
    }
}

fn list(keys: &[String]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(why: Why, expected: Expect) {
        let result: Value = serde_json::from_slice(&why.said_of("pay")).unwrap();
        assert!(result["isError"] == true && result.get("structuredContent").is_none());
        let (text, details) = (&result["content"][0]["text"], &result["_meta"][DETAILS]);
        expected.assert_eq(&format!("{}\n{details}\n", text.as_str().unwrap()));
    }

    #[test]
    fn a_refusal_says_what_why_and_what_to_do() {
        check(
            Why::Common(RefusalReason::Rate { retry_after: Some(Duration::from_millis(1_500)) }),
            expect![[r#"
                `pay` was not run: it was called too often. Try again in 2 seconds, and more slowly from then on.
                {"mayHaveRun":false,"reason":"rate","retryAfterMs":1500,"retryable":true}
            "#]],
        );
        check(
            Why::Common(RefusalReason::Locked { keys: vec!["order:1".into()] }),
            expect![[r#"
                `pay` was not run: other calls kept working on `order:1`. Try again a little later.
                {"keys":["order:1"],"mayHaveRun":false,"reason":"locked","retryable":true}
            "#]],
        );
        check(
            Why::Stale { changed: vec!["graph".into()], unseen: vec![], readers: vec!["read_graph".into()] },
            expect![[r#"
                `pay` was not run: `graph` has changed since you last read it. Read it again first: call `read_graph`, then decide whether to call `pay`.
                {"keys":["graph"],"mayHaveRun":false,"reason":"stale","retryable":true}
            "#]],
        );
        check(
            Why::Stale { changed: vec!["a".into(), "b".into()], unseen: vec!["c".into()], readers: vec![] },
            expect![[r#"
                `pay` was not run: `a`, `b` have changed since you last read it, and you have not read `c` yet. Read it again first, then decide whether to call `pay`.
                {"keys":["a","b","c"],"mayHaveRun":false,"reason":"stale","retryable":true}
            "#]],
        );
        check(
            Why::Lost {
                reason: "the process of `bank` ended".into(),
                may_have_run: true,
                has_key: true,
                only_reads: false,
            },
            expect![[r#"
                `pay` was started, and nobody knows whether it took effect: the process of `bank` ended. Look at the state before you call it again, and use a new idempotency key then.
                {"mayHaveRun":true,"reason":"lost","retryable":false}
            "#]],
        );
        check(
            Why::Lost {
                reason: "the process of `bank` ended".into(),
                may_have_run: true,
                has_key: false,
                only_reads: true,
            },
            expect![[r#"
                `pay` was started and has no answer: the process of `bank` ended. It only reads, so call it again.
                {"mayHaveRun":true,"reason":"lost","retryable":true}
            "#]],
        );
        check(
            Why::QueueFull { keys: vec!["graph".into()] },
            expect![[r#"
                `pay` was not run: too many calls wait for `graph` already. Wait for the answers of other calls, then try again.
                {"keys":["graph"],"mayHaveRun":false,"reason":"queue-full","retryable":true}
            "#]],
        );
    }
}
