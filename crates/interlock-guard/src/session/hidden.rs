//! Tools that a caller may not call: left out of the lists that it gets. Calling one is refused by the desk, whoever knows its name.

use bytes::Bytes;
use serde::Deserialize;

use super::{client::Session, merge::page_spans};
use crate::{
    call::Caller,
    message::{Edit, Message, Span},
};

/// What a list says of a tool that decides which rules it has.
#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    annotations: Option<Hints>,
}

#[derive(Deserialize)]
struct Hints {
    #[serde(default, rename = "readOnlyHint")]
    reads_only: Option<bool>,
}

impl Session {
    /// Whether a caller gets to see an item of a list of tools. What has no name names nothing that could be called.
    pub(super) fn is_shown(&self, caller: &Caller, prefix: &str, item: &[u8]) -> bool {
        let Ok(listed) = serde_json::from_slice::<Listed>(item) else { return true };
        let reads_only = listed.annotations.and_then(|hints| hints.reads_only) == Some(true);
        self.engine.desk.is_open_to(caller, &format!("{prefix}{}", listed.name), reads_only)
    }

    /// What takes tools that the caller may not call out of a server's own answer. Nothing if it may call all of them.
    pub(super) fn hiding(&self, caller: &Caller, answer: &Message) -> Option<Edit<'static>> {
        let prefix = self.engine.upstreams.first().map(|upstream| upstream.config.prefix.as_str())?;
        let (at, result) = (answer.result_span()?, answer.result()?);
        let items = page_spans(&result, "tools");
        let (first, last) = (items.first()?, items.last()?);
        let region = Span { start: at.start + first.start, end: at.start + last.end };
        let all: Vec<Bytes> =
            items.iter().map(|span| result.slice(span.start as usize..span.end as usize)).collect();
        let shown: Vec<&[u8]> =
            all.iter().map(|item| &**item).filter(|item| self.is_shown(caller, prefix, item)).collect();
        (shown.len() < all.len()).then(|| Edit::new(region, shown.join(&b',')))
    }
}
