//! The headers that MCP has. A name that is made once need not be checked and spelled again for each request.

use http::HeaderName;

/// Which session a request belongs to.
pub(crate) static SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// In which revision it is.
pub(crate) static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Its method, for whoever does not read bodies.
pub(crate) static METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What it names, for the same.
pub(crate) static NAME: HeaderName = HeaderName::from_static("mcp-name");
