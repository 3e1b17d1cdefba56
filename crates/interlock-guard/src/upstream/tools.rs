//! What an upstream said of its tools: which of them only read, and which arguments they want in headers too.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use bytes::Bytes;
use foldhash::quality::RandomState;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Mutex;

use super::{
    link::Link,
    mirror::{self, Mirrored},
    parcel::Parcel,
    pending::Reply,
};
use crate::{
    event::{Event, Watch},
    message::{Message, quoted},
};

/// The tools that were listed.
#[derive(Default)]
pub(crate) struct Tools {
    known: RwLock<Known>,
    /// Held while the guard asks for the list, so that it asks once for many calls.
    asking: Mutex<()>,
    /// Who hears which tools there are, and what stands before their names for clients.
    told: OnceLock<(Arc<dyn Watch>, String)>,
}

#[derive(Debug, Default)]
struct Known {
    tools: HashMap<String, Facts, RandomState>,
    /// The list was asked for and has not changed since: what is not in it is not there.
    is_complete: bool,
}

#[derive(Debug)]
struct Facts {
    reads_only: bool,
    mirrored: Arc<[Mirrored]>,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    tools: Vec<Tool>,
    #[serde(default, rename = "nextCursor")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    annotations: Option<Annotations>,
    #[serde(default, rename = "inputSchema")]
    schema: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Annotations {
    #[serde(default, rename = "readOnlyHint")]
    reads_only: Option<bool>,
}

/// More pages are not asked for.
const MOST_PAGES: u32 = 100;
/// More tools are not remembered.
const MOST_TOOLS: usize = 100_000;

impl Tools {
    /// Has somebody told which tools there are.
    pub(crate) fn tell(&self, watch: &Arc<dyn Watch>, prefix: &str) {
        let _ = self.told.set((Arc::clone(watch), prefix.to_owned()));
    }

    /// Notes what a list says, and returns the cursor of the next page.
    pub(crate) fn learn(&self, result: &Bytes) -> Option<String> {
        let list: List = serde_json::from_slice(result).ok()?;
        if let Some((watch, prefix)) = self.told.get() {
            let names: Vec<_> = list.tools.iter().map(|tool| format!("{prefix}{}", tool.name)).collect();
            watch.note(&Event::Listed { tools: &names.iter().map(String::as_str).collect::<Vec<_>>() });
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for tool in list.tools {
            if known.tools.len() < MOST_TOOLS || known.tools.contains_key(&tool.name) {
                let reads_only = tool.annotations.and_then(|said| said.reads_only).unwrap_or(false);
                let mirrored = tool.schema.map_or_else(Arc::default, |schema| mirror::declared(schema.get()));
                known.tools.insert(tool.name, Facts { reads_only, mirrored });
            }
        }
        list.next
    }

    /// Forgets, as the server said that its list has changed.
    pub(crate) fn forget(&self) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Known::default();
    }

    /// Whether a tool only reads. A tool that was never listed is asked for once.
    pub(crate) async fn reads_only(&self, link: &Arc<Link>, tool: &str, meta: &'static str) -> bool {
        if let Some(known) = self.look_up(tool) {
            return known;
        }
        let _asking = self.asking.lock().await;
        if let Some(known) = self.look_up(tool) {
            return known;
        }
        let is_complete = Box::pin(self.ask(link, meta)).await;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.is_complete |= is_complete;
        known.tools.get(tool).is_some_and(|facts| facts.reads_only)
    }

    /// The arguments that a tool wants in headers too, as far as it was listed.
    pub(crate) fn mirrored(&self, tool: &str) -> Arc<[Mirrored]> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.tools.get(tool).map_or_else(Arc::default, |facts| Arc::clone(&facts.mirrored))
    }

    fn look_up(&self, tool: &str) -> Option<bool> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let reads_only = known.tools.get(tool).map(|facts| facts.reads_only);
        reads_only.or(known.is_complete.then_some(false))
    }

    /// Asks for the whole list. Says whether it came.
    async fn ask(&self, link: &Arc<Link>, meta: &'static str) -> bool {
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let params =
                cursor.as_deref().map_or_else(String::new, |cursor| format!("\"cursor\":{}", quoted(cursor)));
            let text =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\",\"params\":{{{params}}}}}");
            let Ok(message) = Message::read(text.into()) else { return false };
            let parcel = Parcel { meta: meta.into(), ..Parcel::new(message) };
            let Reply::Answer(answer) = link.call(parcel, None).await else { return false };
            // A server without tools says so with an error, which is an answer too.
            let Some(result) = answer.result() else { return true };
            cursor = self.learn(&result);
            if cursor.is_none() {
                return true;
            }
        }
        false
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("known", &self.known).finish_non_exhaustive()
    }
}
