//! Server-sent events, taken apart as they arrive.

use bytes::{Bytes, BytesMut};

/// An event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// What it carries; empty for one that only sets the id.
    pub(crate) data: Bytes,
    /// Where to go on after it.
    pub(crate) id: Option<String>,
    /// How long to wait before coming back, in ms.
    pub(crate) retry: Option<u64>,
}

/// What has arrived and is not yet an event.
#[derive(Debug, Default)]
pub(crate) struct Events {
    buffer: BytesMut,
    /// Up to here no line end was found.
    looked: usize,
    event: Partial,
}

#[derive(Debug, Default)]
struct Partial {
    data: Option<BytesMut>,
    id: Option<String>,
    retry: Option<u64>,
}

impl Events {
    /// Adds what has arrived.
    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// How many bytes wait for the rest of their event.
    pub(crate) fn waiting(&self) -> usize {
        self.buffer.len() + self.event.data.as_ref().map_or(0, BytesMut::len)
    }

    /// The next whole event.
    pub(crate) fn next(&mut self) -> Option<Event> {
        while let Some(line) = self.line() {
            if line.is_empty() {
                let Partial { data, id, retry } = std::mem::take(&mut self.event);
                if data.is_some() || id.is_some() || retry.is_some() {
                    return Some(Event { data: data.unwrap_or_default().freeze(), id, retry });
                }
                continue;
            }
            self.field(&line);
        }
        None
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => {
                let (name, rest) = line.split_at(at);
                let value = rest.strip_prefix(b":").unwrap_or(rest);
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match name {
            b"data" => match &mut self.event.data {
                Some(data) => {
                    data.extend_from_slice(b"\n");
                    data.extend_from_slice(value);
                }
                none => *none = Some(value.into()),
            },
            b"id" if !value.contains(&0) => self.event.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" => self.event.retry = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
            _ => {}
        }
    }

    /// The next whole line. A carriage return at the very end may be half of a line end, so it waits.
    fn line(&mut self) -> Option<BytesMut> {
        let rest = self.buffer.get(self.looked..)?;
        let Some(found) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.looked = self.buffer.len();
            return None;
        };
        let at = self.looked + found;
        let width = match (self.buffer.get(at), self.buffer.get(at + 1)) {
            (Some(b'\r'), None) => {
                self.looked = at;
                return None;
            }
            (Some(b'\r'), Some(b'\n')) => 2,
            _ => 1,
        };
        let line = self.buffer.split_to(at);
        let _ = self.buffer.split_to(width);
        self.looked = 0;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = ": hello\r\nid: 7\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: message\ndata:x\n\nretry: 50\nid: 8\ndata:\n\n";
        let whole = events(text, text.len());
        assert_eq!(whole.len(), 3);
        assert_eq!(whole[0], Event { data: "{\"a\":\n1}".into(), id: Some("7".into()), retry: None });
        assert_eq!(whole[1].data, "x");
        assert_eq!(whole[2], Event { data: Bytes::new(), id: Some("8".into()), retry: Some(50) });
        for size in 1..text.len() {
            assert_eq!(events(text, size), whole, "{size}");
        }
    }

    fn events(text: &str, size: usize) -> Vec<Event> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for chunk in text.as_bytes().chunks(size) {
            events.feed(chunk);
            while let Some(event) = events.next() {
                found.push(event);
            }
        }
        found
    }
}
