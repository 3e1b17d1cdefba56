//! The answers of a tool: as they are stored, and as a refusal looks like one.

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, MetaObject},
};
use serde_json::{Value, json};

use crate::adapt::{Answer, CallRefusal};

/// The `_meta` entry of a result in which a refusal says for programs what its text says for models: `reason`, `retryable`,
/// `mayHaveRun`, and `retryAfterMs` if that is known.
pub const REFUSAL: &str = "dev.interlock/refusal";

/// What a handler returned.
pub(super) type Returned = Result<CallToolResponse, ErrorData>;

/// How an answer is stored: one name and what it holds, so that no answer can be taken for one of another kind.
const RESULT: &str = "result";
const TASK: &str = "task";
const ERROR: &str = "error";

/// Every ending is stored, errors too: a handler that answered with an error may have done half of its work, and must not be run again
/// by a duplicate. Only a call that asks for more input is not over; it comes again with that, and has the key then.
impl Answer for Returned {
    fn to_stored(&self) -> Option<Vec<u8>> {
        let stored = match self {
            Ok(CallToolResponse::Complete(result)) => json!({ RESULT: result }),
            Ok(CallToolResponse::Task(task)) => json!({ TASK: task }),
            Ok(_) => return None,
            Err(error) => json!({ ERROR: error }),
        };
        Some(stored.to_string().into_bytes())
    }

    fn from_stored(stored: &[u8]) -> Option<Self> {
        let Value::Object(stored) = serde_json::from_slice(stored).ok()? else { return None };
        let (kind, content) = stored.into_iter().next()?;
        match kind.as_str() {
            RESULT => Some(Ok(serde_json::from_value::<CallToolResult>(content).ok()?.into())),
            TASK => Some(Ok(serde_json::from_value::<CreateTaskResult>(content).ok()?.into())),
            ERROR => Some(Err(serde_json::from_value(content).ok()?)),
            _ => None,
        }
    }
}

/// The refusal as a result of the tool that is an error. Clients show its text to the model, as they do not with errors of the protocol.
/// It has no structured content, because clients check that against the tool's schema even here.
pub(super) fn refused(refusal: &CallRefusal) -> CallToolResult {
    let mut details = json!({
        "reason": refusal.reason.name(),
        "retryable": refusal.is_retryable(),
        "mayHaveRun": refusal.may_have_run(),
    });
    if let (Some(wait), Some(details)) = (refusal.retry_after(), details.as_object_mut()) {
        let millis = u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
        details.insert("retryAfterMs".to_owned(), millis.into());
    }
    let mut meta = MetaObject::new();
    meta.insert(REFUSAL.to_owned(), details);
    let mut result = CallToolResult::error(vec![ContentBlock::text(refusal.to_string())]);
    result.meta = Some(meta);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(returned: &Returned) {
        let stored = returned.to_stored().unwrap();
        let read = Returned::from_stored(&stored).unwrap();
        assert_eq!(format!("{read:?}"), format!("{returned:?}"));
    }

    #[test]
    fn what_is_stored_reads_back_as_it_was() {
        let mut result = CallToolResult::structured(json!({"task": null, "error": [1.5, "ä"]}));
        result.meta = Some(MetaObject::new());
        check(&Ok(result.into()));
        check(&Ok(CallToolResult::error(vec![ContentBlock::text("no such order")]).into()));
        check(&Err(ErrorData::invalid_params("no", Some(json!({"result": {}})))));
    }

    #[test]
    fn what_cannot_be_read_is_no_answer() {
        for stored in ["", "{}", "[]", "null", r#"{"other": {}}"#, r#"{"error": 7}"#] {
            assert!(Returned::from_stored(stored.as_bytes()).is_none(), "{stored}");
        }
    }
}
