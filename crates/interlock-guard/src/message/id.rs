//! The id of a request, comparable: one client's ids must differ while their requests run.

use bytes::Bytes;

use super::scan::unescaped;

/// An id as MCP allows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// An integer, as it is written: it may be longer than any machine's.
    Integer(Bytes),
    /// A string, by what it says and not by how it is escaped.
    Text(Bytes),
}

impl Id {
    /// Reads a JSON value. `None` for everything but strings and integers.
    pub(crate) fn read(raw: &Bytes) -> Option<Self> {
        match raw.first()? {
            b'"' => {
                let inner = raw.slice(1..raw.len().checked_sub(1)?);
                let is_escaped = inner.contains(&b'\\');
                // One that has no text is told apart by how it is written.
                let text = if is_escaped { unescaped(&inner).map(Bytes::from) } else { None };
                Some(Self::Text(text.unwrap_or(inner)))
            }
            b'-' | b'0'..=b'9' if !raw.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
                Some(Self::Integer(raw.clone()))
            }
            _ => None,
        }
    }

    /// The number of an id that the guard itself gave out.
    pub(crate) fn number(raw: &[u8]) -> Option<u64> {
        std::str::from_utf8(raw).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &'static str) -> Option<Id> {
        Id::read(&Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn strings_and_integers_are_ids_and_nothing_else_is() {
        for good in ["1", "-7", "\"a\"", "\"\"", "123456789012345678901234567890"] {
            assert!(id(good).is_some(), "{good}");
        }
        for bad in ["1.5", "1e3", "null", "true", "{}", "[1]"] {
            assert_eq!(id(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_id_is_what_it_says_and_keeps_its_type() {
        assert_eq!(id("\"\\u0031\""), id("\"1\""));
        assert_ne!(id("1"), id("\"1\""));
    }
}
