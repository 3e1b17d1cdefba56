//! What the guard says in its own words.

use bytes::{BufMut, Bytes, BytesMut};

/// A JSON-RPC error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) i32);

impl Code {
    pub(crate) const PARSE: Self = Self(-32700);
    pub(crate) const INVALID_REQUEST: Self = Self(-32600);
    pub(crate) const METHOD_NOT_FOUND: Self = Self(-32601);
    pub(crate) const INVALID_PARAMS: Self = Self(-32602);
    pub(crate) const INTERNAL: Self = Self(-32603);
    /// Whoever should have answered is not there. Of the range that implementations may use.
    pub(crate) const UNAVAILABLE: Self = Self(-32010);
    /// More than the guard takes at once.
    pub(crate) const BUSY: Self = Self(-32011);
    pub(crate) const HEADER_MISMATCH: Self = Self(-32020);
    pub(crate) const UNSUPPORTED_VERSION: Self = Self(-32022);
}

/// An answer around a result that is JSON text already.
pub(crate) fn answer(id: &[u8], result: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(id.len() + result.len() + 40);
    bytes.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    bytes.put_slice(id);
    bytes.put_slice(b",\"result\":");
    bytes.put_slice(result);
    bytes.put_u8(b'}');
    bytes.freeze()
}

/// An answer around an error that is JSON text already.
pub(crate) fn answer_error(id: &[u8], error: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(id.len() + error.len() + 40);
    bytes.put_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    bytes.put_slice(id);
    bytes.put_slice(b",\"error\":");
    bytes.put_slice(error);
    bytes.put_u8(b'}');
    bytes.freeze()
}

/// An error in the guard's own words. Without an id, as the id could not be read, it has `null`.
pub(crate) fn failure(id: Option<&[u8]>, code: Code, message: &str) -> Bytes {
    let error = format!("{{\"code\":{},\"message\":{}}}", code.0, quoted(message));
    answer_error(id.unwrap_or(b"null"), error.as_bytes())
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
