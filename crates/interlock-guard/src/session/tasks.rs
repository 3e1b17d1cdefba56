//! Tasks: work that goes on after its call was answered. The guard asks for them itself, as what the call holds is held until they end.

use std::sync::Arc;

use serde::Deserialize;

use crate::{
    call::{Task, TaskState, TaskWatch},
    message::{Message, quoted},
    upstream::{Link, Parcel, Reply, STATED_FOR_TASKS},
};

/// What either era says of a task.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    task_id: String,
    ttl: Option<u64>,
    poll_interval: Option<u64>,
    ttl_ms: Option<u64>,
    poll_interval_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Status {
    status: String,
}

/// The task that an answer stands for. A server without a handshake wants each question about it to state what it is for.
pub(super) fn of(link: &Arc<Link>, answer: &Message, is_stateless: bool) -> Option<Task> {
    let parts = answer.parts();
    let is_task = parts.result_type.is_some_and(|at| answer.text(at).as_deref() == Some("task"));
    let raw = if is_task && parts.task_id.is_some() { answer.result()? } else { answer.raw(parts.task?) };
    let told: Told = serde_json::from_slice(&raw).ok()?;
    let meta = if is_stateless { STATED_FOR_TASKS } else { "" };
    let (link, id) = (Arc::downgrade(link), told.task_id.clone());
    let watch = TaskWatch::new(move || {
        let (link, id) = (link.upgrade(), id.clone());
        async move {
            match link {
                Some(link) => ask(&link, &id, meta).await,
                None => TaskState::Lost { reason: "the conversation with the server is over".to_owned() },
            }
        }
    });
    Some(Task {
        id: told.task_id,
        ttl_ms: told.ttl_ms.or(told.ttl),
        poll_ms: told.poll_interval_ms.or(told.poll_interval),
        watch,
    })
}

async fn ask(link: &Arc<Link>, id: &str, meta: &'static str) -> TaskState {
    let text = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tasks/get\",\"params\":{{\"taskId\":{}}}}}",
        quoted(id)
    );
    let lost = |reason: String| TaskState::Lost { reason };
    let question = match Message::read(text.into()) {
        Ok(question) => question,
        Err(fault) => return lost(fault.to_string()),
    };
    match link.call(Parcel { meta: meta.into(), ..Parcel::new(question) }, None).await {
        Reply::Lost(gone) => lost(gone.reason),
        Reply::Answer(answer) => {
            let Some(result) = answer.result() else {
                let error = answer.error().unwrap_or_default();
                return lost(format!("the server says {}", String::from_utf8_lossy(&error)));
            };
            match serde_json::from_slice::<Status>(&result) {
                Ok(told) if told.status == "completed" => TaskState::Ended { is_error: false },
                Ok(told) if matches!(told.status.as_str(), "failed" | "cancelled") => {
                    TaskState::Ended { is_error: true }
                }
                Ok(_) => TaskState::Working,
                Err(error) => lost(format!("the server's word on it cannot be read: {error}")),
            }
        }
    }
}
