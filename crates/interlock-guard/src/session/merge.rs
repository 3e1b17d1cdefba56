//! Several servers as one: lists put together, and requests that name no tool led to whoever knows what they ask for.
//!
//! Tools and prompts have their server's prefix. Resources keep their addresses, which are theirs alone; where one was listed is remembered,
//! and for one that never was the servers are asked in turn. Lists come whole, because many clients never ask for a second page.

use std::sync::{Arc, PoisonError};

use bytes::{BufMut, Bytes, BytesMut};

use super::{
    call::{Said, Who, failed, returned, unavailable},
    client::{Session, Style},
    outbox::Outbox,
};
use crate::{
    call::Caller,
    message::{Code, Edit, Message, Scanner, Span, answer, quoted, splice},
    upstream::{Parcel, Reply, Upstream},
};

/// More pages of one server are not asked for.
const MOST_PAGES: usize = 100;
/// How many resources and tasks are remembered.
const MOST_PLACES: usize = 10_000;

/// The member of the result that a list is in; `None` for what is no list.
pub(super) fn list(method: &str) -> Option<&'static str> {
    match method {
        "tools/list" => Some("tools"),
        "prompts/list" => Some("prompts"),
        "resources/list" => Some("resources"),
        "resources/templates/list" => Some("resourceTemplates"),
        _ => None,
    }
}

impl Session {
    /// The lists of all servers as one. A server that has no such list, or is away, has nothing in it.
    pub(super) async fn gather(&self, caller: &Caller, message: &Message, key: &'static str) -> Said {
        if message.parts().cursor.is_some() {
            return failed(message, Code::INVALID_PARAMS, "this list has one page only");
        }
        let lists =
            (0..self.engine.upstreams.len()).map(|index| self.whole_list(index, caller, message, key));
        let lists = futures_util::future::join_all(lists).await;
        let mut result = BytesMut::new();
        result.put_slice(format!("{{\"{key}\":[").as_bytes());
        let mut is_first = true;
        for item in lists.into_iter().flatten() {
            if !std::mem::take(&mut is_first) {
                result.put_u8(b',');
            }
            result.put_slice(&item);
        }
        result.put_u8(b']');
        if self.style == Style::Stateless || message.parts().stated_version.is_some() {
            result.put_slice(b",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\"");
        }
        result.put_u8(b'}');
        Said::Answer(answer(&message.id(), &result))
    }

    /// All that one server lists, under the names that clients know.
    async fn whole_list(
        &self,
        index: usize,
        caller: &Caller,
        message: &Message,
        key: &'static str,
    ) -> Vec<Bytes> {
        let mut items = Vec::new();
        let Some(upstream) = self.engine.upstreams.get(index) else { return items };
        let Ok(link) = self.link(index, caller).await else { return items };
        let bridge = self.bridge(&link, message);
        let mut cursor: Option<Bytes> = None;
        for _ in 0..MOST_PAGES {
            let Some(question) = next_page(message, cursor.as_ref()) else { break };
            let parcel = Parcel {
                meta: bridge.meta().into(),
                is_bridged: bridge == super::greeting::Bridge::Completes,
                ..Parcel::new(question)
            };
            let Reply::Answer(answer) = link.call(parcel, None).await else { break };
            let Some(result) = answer.result() else { break };
            if key == "tools" {
                upstream.tools.learn(&result);
            }
            let (page, next) = page(&result, key);
            for item in page {
                if key == "tools" && !self.is_shown(caller, &upstream.config.prefix, &item) {
                    continue;
                }
                items.push(self.named(upstream, index, item, key));
            }
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        items
    }

    /// An item under the name that clients know.
    fn named(&self, upstream: &Upstream, index: usize, item: Bytes, key: &str) -> Bytes {
        if matches!(key, "tools" | "prompts") {
            let Some((at, name)) = text_at(&item, &[b"name"]) else { return item };
            let name = quoted(&format!("{}{name}", upstream.config.prefix));
            return splice(&item, &mut [Edit::new(at, name.into_bytes())]);
        }
        if let Some((_, uri)) = text_at(&item, &[b"uri"]) {
            self.remember(uri, index);
        }
        item
    }

    /// A request that names no tool and no prompt: led to the server that knows what it asks for.
    pub(super) async fn ask_around(&self, who: &Who, message: &Message, out: &Arc<Outbox>) -> Said {
        let (first, edits) = self.known_place(message);
        let count = self.engine.upstreams.len();
        let others = (0..count).filter(|index| Some(*index) != first && edits.is_empty());
        let mut said = failed(message, Code::METHOD_NOT_FOUND, "no upstream knows this");
        for index in first.into_iter().chain(others) {
            let link = match self.link_for(index, &who.caller, message).await {
                Ok(link) => link,
                Err(lost) => {
                    said = unavailable(message, &lost);
                    continue;
                }
            };
            let bridge = self.bridge(&link, message);
            let parcel = Parcel {
                meta: bridge.meta().into(),
                is_bridged: bridge == super::greeting::Bridge::Completes,
                headers: Arc::clone(&who.headers),
                edits: edits.clone(),
                ..Parcel::new(message.clone())
            };
            match link.call(parcel, Some(Arc::clone(out))).await {
                Reply::Lost(lost) => said = unavailable(message, &lost),
                Reply::Answer(answer) => {
                    let is_known = answer.error().is_none();
                    said = returned(message, &answer, bridge);
                    if is_known {
                        if let Some(what) = what(message) {
                            self.remember(what, index);
                        }
                        return said;
                    }
                }
            }
        }
        said
    }

    /// A request that concerns all servers. It is done if one of them does it.
    pub(super) async fn ask_all(&self, message: &Message) -> Said {
        let asked = (0..self.engine.upstreams.len()).map(|index| async move {
            let link = self.link(index, &self.caller).await.ok()?;
            match link.call(Parcel::new(message.clone()), None).await {
                Reply::Answer(answer) => Some(returned(message, &answer, super::greeting::Bridge::None)),
                Reply::Lost(_) => None,
            }
        });
        let mut said = failed(message, Code::UNAVAILABLE, "no upstream answers");
        for answer in futures_util::future::join_all(asked).await.into_iter().flatten() {
            if !matches!(said, Said::Answer(_)) {
                said = answer;
            }
        }
        said
    }

    /// Where a request belongs, as far as that is known, and what has to be changed in it there.
    fn known_place(&self, message: &Message) -> (Option<usize>, Vec<(Span, Vec<u8>)>) {
        if message.method() == "completion/complete"
            && let Some(params) = message.params()
            && let Some((at, name)) = text_at(&message.raw(params), &[b"ref", b"name"])
        {
            let fitting = self.by_prefix(&name);
            let at = Span { start: at.start + params.start, end: at.end + params.start };
            if let Some((index, rest)) = fitting {
                return (Some(index), vec![(at, quoted(rest).into_bytes())]);
            }
        }
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        (what(message).and_then(|what| places.get(&what).copied()), Vec::new())
    }

    /// Notes where something is.
    pub(super) fn remember(&self, what: String, index: usize) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= MOST_PLACES {
            places.clear();
        }
        places.insert(what, index);
    }
}

/// The resource or task that a request is about.
fn what(message: &Message) -> Option<String> {
    let parts = message.parts();
    parts.uri.or(parts.task_id).and_then(|span| message.text(span)).map(std::borrow::Cow::into_owned)
}

/// The question for the next page, with what the client stated in its own.
fn next_page(message: &Message, cursor: Option<&Bytes>) -> Option<Message> {
    let mut params = Vec::new();
    if let Some(cursor) = cursor {
        params.push(format!("\"cursor\":{}", String::from_utf8_lossy(cursor)));
    }
    if let Some(meta) = message.parts().meta {
        params.push(format!("\"_meta\":{}", String::from_utf8_lossy(&message.raw(meta))));
    }
    let (method, params) = (quoted(&message.method()), params.join(","));
    let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":{method},\"params\":{{{params}}}}}");
    Message::read(text.into()).ok()
}

/// Where the items of a page are.
pub(super) fn page_spans(result: &Bytes, key: &str) -> Vec<Span> {
    walked(result, key).map(|(items, _)| items).unwrap_or_default()
}

/// The items of a page, and the cursor of the next as it is written.
fn page(result: &Bytes, key: &str) -> (Vec<Bytes>, Option<Bytes>) {
    let Some((items, cursor)) = walked(result, key) else { return (Vec::new(), None) };
    let cut = |span: Span| result.slice(span.start as usize..span.end as usize);
    let cursor = cursor.map(cut).filter(|cursor| cursor.starts_with(b"\""));
    (items.into_iter().map(cut).collect(), cursor)
}

/// Where the items and the cursor are. `None` if the page is not to be read.
fn walked(result: &Bytes, key: &str) -> Option<(Vec<Span>, Option<Span>)> {
    let (mut items, mut cursor) = (Vec::new(), None);
    let walked = Scanner::new(result).object(|scanner, member| {
        let name = member.text();
        if &*name == key.as_bytes() && scanner.peek() == Some(b'[') {
            scanner.array(|scanner| {
                items.push(scanner.value()?);
                Ok(())
            })?;
            return Ok(());
        }
        let span = scanner.value()?;
        if &*name == b"nextCursor" {
            cursor = Some(span);
        }
        Ok(())
    });
    walked.ok().map(|_| (items, cursor))
}

/// A text in nested objects, and where it is written.
fn text_at(bytes: &Bytes, path: &[&[u8]]) -> Option<(Span, String)> {
    let (first, rest) = path.split_first()?;
    let mut at = None;
    Scanner::new(bytes)
        .object(|scanner, key| {
            let span = scanner.value()?;
            if at.is_none() && &*key.text() == *first {
                at = Some(span);
            }
            Ok(())
        })
        .ok()?;
    let at = at?;
    let value = bytes.slice(at.start as usize..at.end as usize);
    if rest.is_empty() {
        return Some((at, serde_json::from_slice(&value).ok()?));
    }
    let (inner, text) = text_at(&value, rest)?;
    Some((Span { start: inner.start + at.start, end: inner.end + at.start }, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_cut_into_its_items_as_they_were_written() {
        let result = Bytes::from_static(
            b"{\"x\":1, \"tools\": [ {\"name\" : \"a\"}, {} ],\"nextCursor\":\"c\\u0031\"}",
        );
        let (items, cursor) = page(&result, "tools");
        assert_eq!(items, ["{\"name\" : \"a\"}", "{}"]);
        assert_eq!(cursor.unwrap(), "\"c\\u0031\"");
    }

    #[test]
    fn a_text_is_found_where_it_is_written() {
        let bytes =
            Bytes::from_static(b"{\"a\":{\"name\":\"no\"},\"ref\": {\"type\":1,\"name\":\"ye\\u0073\"}}");
        let (at, text) = text_at(&bytes, &[b"ref", b"name"]).unwrap();
        assert_eq!(text, "yes");
        assert_eq!(&bytes[at.start as usize..at.end as usize], b"\"ye\\u0073\"");
        assert_eq!(text_at(&bytes, &[b"ref", b"type"]), None);
    }
}
