//! What a server has, for somebody who only wants to know: started or asked, and left again.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{Link, Lost, Parcel, Process, Refusal, Reply, STATED, Upstream};
use crate::{manage::Phases, message::Message, policy::ListedTool};

/// More pages are not asked for.
const PAGES: u32 = 100;
/// How long a server may take to end.
const LEAVES_WITHIN: Duration = Duration::from_secs(2);

/// Why a server did not say what it has.
#[derive(Debug, thiserror::Error)]
pub enum Unsaid {
    /// There is no answer.
    #[error("{0}")]
    Lost(String),
    /// The answer is an error.
    #[error("it refused `{method}`: {error}")]
    Refused {
        /// What it was asked.
        method: &'static str,
        /// The error, as JSON text.
        error: String,
    },
}

impl Upstream {
    /// Begins a conversation of its own with the server, in either era, asks for all its tools, and takes leave. Names have no prefix.
    ///
    /// # Errors
    ///
    /// It cannot be reached, ends, or refuses to say.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the conversation, and the process if there is one.
    pub async fn survey(&self) -> Result<Vec<ListedTool>, Unsaid> {
        let link = self.own(None).map_err(lost)?;
        let visit = Visit(link.process().cloned());
        let listed = list(&link).await;
        if let Some(process) = &visit.0 {
            process.leave();
            process.body.end(LEAVES_WITHIN, &Phases::default()).await;
            return match listed {
                // How it ended says more than that it did not answer.
                Err(Unsaid::Lost(_)) => Err(Unsaid::Lost(process.ended().await)),
                listed => listed,
            };
        }
        if let Some(leaving) = link.http().and_then(|http| http.leave()) {
            let _ = tokio::time::timeout(LEAVES_WITHIN, leaving).await;
        }
        listed
    }
}

/// A process that must not outlive the question.
struct Visit(Option<Process>);

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(process) = &self.0 {
            process.kill();
        }
    }
}

async fn list(link: &Arc<Link>) -> Result<Vec<ListedTool>, Unsaid> {
    let meta = match link.introduce().await {
        Ok(_) => "",
        Err(Refusal::Lost(gone)) => return Err(lost(gone)),
        // A server without a handshake refuses one.
        Err(Refusal::Error(error)) => match link.discover().await.map_err(lost)? {
            Some(_) => STATED,
            None => return Err(refused("initialize", &error)),
        },
    };
    let (mut tools, mut cursor) = (Vec::new(), None::<Value>);
    for _ in 0..PAGES {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let question = json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": params });
        let question = Message::read(question.to_string().into());
        let question = question.map_err(|fault| Unsaid::Lost(fault.to_string()))?;
        let answer = match link.call(Parcel { meta: meta.into(), ..Parcel::new(question) }, None).await {
            Reply::Answer(answer) => answer,
            Reply::Lost(gone) => return Err(lost(gone)),
        };
        let Some(result) = answer.result() else {
            return Err(refused("tools/list", &answer.error().unwrap_or_default()));
        };
        let page: Value = serde_json::from_slice(&result).unwrap_or_default();
        tools.extend(ListedTool::all_of(&page));
        cursor = page.get("nextCursor").filter(|cursor| !cursor.is_null()).cloned();
        if cursor.is_none() {
            break;
        }
    }
    Ok(tools)
}

fn lost(lost: Lost) -> Unsaid {
    Unsaid::Lost(lost.reason)
}

fn refused(method: &'static str, error: &[u8]) -> Unsaid {
    Unsaid::Refused { method, error: String::from_utf8_lossy(error).into_owned() }
}
