//! A client that sends bytes of its own choice over HTTP, and reads what comes.

use serde_json::{Value, json};

/// A connection to a guard, with a session if it gives one.
#[derive(Clone)]
pub(crate) struct Raw {
    http: reqwest::Client,
    url: String,
    pub(crate) session: Option<String>,
    version: &'static str,
    /// The key that it shows, if any.
    key: Option<&'static str>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Came {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Raw {
    /// A stranger: no handshake yet.
    pub(crate) fn new(url: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
        Self { http, url: url.to_owned(), session: None, version: "2025-11-25", key: None }
    }

    /// Somebody with a key.
    pub(crate) fn known(url: &str, key: &'static str) -> Self {
        Self { key: Some(key), ..Self::new(url) }
    }

    /// The same with a session that another one opened.
    pub(crate) fn in_session(self, session: Option<&str>) -> Self {
        Self { session: session.map(str::to_owned), ..self }
    }

    /// Ends a session.
    pub(crate) async fn end(&self, session: &str) {
        let request = self.http.delete(&self.url).header("mcp-session-id", session);
        let request = request.header("x-api-key", self.key.unwrap_or_default());
        assert!(request.send().await.expect("it answers").status().is_success());
    }

    /// A client that has shaken hands.
    pub(crate) async fn connected(url: &str) -> Self {
        Self::speaking(url, "2025-11-25").await
    }

    /// The same in another revision.
    pub(crate) async fn speaking(url: &str, version: &'static str) -> Self {
        let mut raw = Self { version, ..Self::new(url) };
        let info = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = raw.request(hello.to_string()).send().await.expect("it answers");
        assert!(answer.status().is_success(), "{answer:?}");
        let session = answer.headers().get("mcp-session-id").and_then(|id| id.to_str().ok());
        raw.session = session.map(str::to_owned);
        let _ = answer.text().await;
        let _ = raw.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        raw
    }

    /// A request with a body, on its way out.
    pub(crate) fn request(&self, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
        let request = self
            .http
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body);
        let request = match self.key {
            Some(key) => request.header("x-api-key", key),
            None => request,
        };
        match &self.session {
            Some(session) => {
                request.header("mcp-session-id", session).header("mcp-protocol-version", self.version)
            }
            None => request,
        }
    }

    /// The stream that belongs to no request.
    pub(crate) async fn stream(&self) -> reqwest::Response {
        let session = self.session.as_deref().unwrap_or_default();
        let request = self.http.get(&self.url).header("accept", "text/event-stream");
        request.header("mcp-session-id", session).send().await.expect("it answers")
    }

    /// Posts, and reads all that comes.
    pub(crate) async fn post(&self, body: impl Into<reqwest::Body>) -> Result<Came, reqwest::Error> {
        Self::read(self.request(body)).await
    }

    /// Sends a request, and reads all that comes.
    pub(crate) async fn read(request: reqwest::RequestBuilder) -> Result<Came, reqwest::Error> {
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        Ok(Came { status, body: answer.text().await? })
    }

    /// Calls a tool under an id of one's own.
    pub(crate) async fn call(&self, id: Value, params: &Value) -> Result<Came, reqwest::Error> {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.post(call.to_string()).await
    }
}

impl Came {
    /// The answer to a request: the body itself, or the last message of its stream.
    pub(crate) fn message(&self) -> Option<Value> {
        let streamed = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut streamed = streamed.filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok());
        serde_json::from_str(&self.body).ok().or_else(|| streamed.next_back())
    }
}
