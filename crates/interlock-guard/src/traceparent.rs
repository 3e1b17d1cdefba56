//! W3C trace context: which trace a call belongs to, and which span it comes from. In MCP it travels in `_meta`, unprefixed; over HTTP
//! a client may send it as a header.

use std::fmt;

use http::{HeaderName, HeaderValue};

/// The header that carries it.
pub(crate) const HEADER: &str = "traceparent";
/// What tracing systems say of the same trace besides; it goes where the other goes.
pub(crate) const STATE_HEADER: &str = "tracestate";

/// A `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traceparent {
    /// The trace; not 0.
    pub trace: u128,
    /// The span; not 0.
    pub span: u64,
    /// The flags; the lowest says that the trace is recorded.
    pub flags: u8,
}

impl Traceparent {
    /// The one among these headers, if there is one and it means something.
    #[must_use]
    pub(crate) fn in_headers(headers: &[(HeaderName, HeaderValue)]) -> Option<Self> {
        let (_, value) = headers.iter().find(|(name, _)| name == HEADER)?;
        Self::read(value.to_str().ok()?)
    }

    /// Reads a `traceparent`. One of a later version may be longer.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        let hex = |from: usize, to: usize| {
            let mut number = 0_u128;
            for byte in text.get(from..to)? {
                let digit = match byte {
                    b'0'..=b'9' => byte - b'0',
                    b'a'..=b'f' => byte - b'a' + 10,
                    _ => return None,
                };
                number = number << 4 | u128::from(digit);
            }
            Some(number)
        };
        let is_dash = |at: usize| text.get(at) == Some(&b'-');
        let version = hex(0, 2)?;
        let fits = match version {
            0 => text.len() == 55,
            0xff => false,
            _ => text.len() == 55 || is_dash(55),
        };
        if !fits || !is_dash(2) || !is_dash(35) || !is_dash(52) {
            return None;
        }
        let (trace, span, flags) = (hex(3, 35)?, hex(36, 52)?, hex(53, 55)?);
        (trace != 0 && span != 0).then_some(Self { trace, span: span as u64, flags: flags as u8 })
    }

    /// Whether the trace is recorded.
    #[must_use]
    pub fn is_sampled(self) -> bool {
        self.flags & 1 == 1
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only the flags of version 0 are known here.
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags & 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_is_read_is_written_again() {
        let parent = Traceparent::read(GOOD).unwrap();
        assert!(parent.is_sampled());
        assert_eq!(parent.to_string(), GOOD);
    }

    #[test]
    fn a_later_version_may_be_longer() {
        assert!(Traceparent::read(&format!("{}-what-else", GOOD.replacen("00", "cc", 1))).is_some());
        assert!(Traceparent::read(&format!("{}.what", GOOD.replacen("00", "cc", 1))).is_none());
        assert!(Traceparent::read(&format!("{GOOD}-more")).is_none());
    }

    #[test]
    fn nothing_is_taken_from_what_means_nothing() {
        for text in [
            "",
            "00",
            &GOOD.to_uppercase(),
            &GOOD.replace('4', "g"),
            &GOOD.replace('-', "_"),
            &GOOD.replacen("00", "ff", 1),
        ] {
            assert_eq!(Traceparent::read(text), None, "{text}");
        }
        assert_eq!(Traceparent::read(&format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32))), None);
        assert_eq!(Traceparent::read(&format!("00-{}-{}-01", "1".repeat(32), "0".repeat(16))), None);
    }
}
