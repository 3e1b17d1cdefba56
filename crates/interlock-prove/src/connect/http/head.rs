//! The head of a request.

use super::Address;

/// A POST with its headers.
pub(super) struct Head {
    path: String,
    /// In the order they are sent.
    pub(super) headers: Vec<(String, String)>,
}

impl Head {
    pub(super) fn new(address: &Address) -> Self {
        let mut head = Self { path: address.path.clone(), headers: Vec::new() };
        head.add("Host", &address.authority());
        head.add("Content-Type", "application/json");
        head.add("Accept", "application/json, text/event-stream");
        head
    }

    /// A value that could end the header is cut there.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        let clean = |text: &str| text.chars().filter(|c| !c.is_control()).collect();
        self.headers.push((clean(name), clean(value)));
    }

    /// The whole request.
    pub(super) fn encode(&self, body: &str) -> Vec<u8> {
        let mut text = format!("POST {} HTTP/1.1\r\n", self.path);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        text.into_bytes()
    }
}
