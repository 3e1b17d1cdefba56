//! What is wrong with a message.

use super::compose::Code;

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// They are no JSON.
    #[error("not JSON: unexpected byte at offset {0}")]
    Syntax(usize),
    /// They are no UTF-8.
    #[error("not UTF-8")]
    Encoding,
    /// They nest too deeply.
    #[error("nested more than {0} levels deep")]
    Depth(u32),
    /// There are too many of them.
    #[error("longer than {0} bytes")]
    Length(usize),
    /// A key that decides where a message goes is there twice, and readers differ in which one counts.
    #[error("the member {0:?} appears twice")]
    Twice(String),
    /// A key differs from such a one only in upper and lower case, and some readers do not tell them apart.
    #[error("the member {0:?} differs from one of the protocol only in upper and lower case")]
    Alike(String),
    /// It is JSON, but no JSON-RPC message.
    #[error("{0}")]
    Shape(&'static str),
}

impl Fault {
    /// The JSON-RPC code for it.
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Syntax(_) | Self::Encoding | Self::Depth(_) => Code::PARSE,
            Self::Length(_) | Self::Twice(_) | Self::Alike(_) | Self::Shape(_) => Code::INVALID_REQUEST,
        }
    }
}
