//! What was measured.

use std::fmt;

/// One quantity, ours and the peer's.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) both: Both,
    /// The peer's name, a space, and its version.
    pub(crate) peer: String,
    pub(crate) unit: &'static str,
}

/// The two sides of a row.
#[derive(Clone, Copy)]
pub(crate) struct Both {
    pub(crate) ours: f64,
    pub(crate) peer: f64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, both: Both { ours, peer }, peer: name, unit } = self;
        write!(f, "{what}\t{ours}\t{peer}\t{name}\t{unit}")
    }
}
