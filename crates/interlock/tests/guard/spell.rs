//! Messages made up at random: calls and whatever else makes a server act, spelled in all the ways in which some reader takes them for that.

use serde_json::{Value, json};

/// A source of messages. The same seed makes the same ones.
pub(crate) struct Speller {
    chance: Chance,
    version: &'static str,
    sent: u64,
    /// Of the message that was made last.
    method: String,
    name: String,
}

const TOOLS: [&str; 4] = ["pay", "pay", "refund", "look"];
const METHODS: [&str; 16] = [
    "resources/read",
    "resources/subscribe",
    "prompts/get",
    "completion/complete",
    "tasks/get",
    "tasks/cancel",
    "tasks/update",
    "tools/list",
    "ping",
    "logging/setLevel",
    "made/up",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/initialized",
    "notifications/made_up",
];

/// Numbers that look random, the same for the same seed: SplitMix64.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Speller {
    pub(crate) fn new(seed: u64, version: &'static str) -> Self {
        Self { chance: Chance::new(seed), version, sent: 0, method: String::new(), name: String::new() }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.chance.next() % bound as u64) as usize
    }

    /// Once in so many times.
    fn seldom(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// Parameters with what a request of the revision states.
    pub(crate) fn stated(&self, mut params: Value) -> Value {
        if self.version == "2026-07-28" {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": { "name": "fuzz", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        params
    }

    /// The headers that repeat the last message, mostly as they should.
    pub(crate) fn headers(&mut self) -> Vec<(&'static str, String)> {
        let (mut method, mut name) = (self.method.clone(), self.name.clone());
        if self.seldom(6) {
            method = self.pick(&["tools/call", "ping", "notifications/cancelled"]).to_owned();
        }
        if self.seldom(6) {
            name = self.pick(&TOOLS).to_owned();
        }
        let version = if self.seldom(10) { "2025-11-25" } else { self.version };
        vec![("mcp-protocol-version", version.to_owned()), ("mcp-method", method), ("mcp-name", name)]
    }

    /// A line, or a body.
    pub(crate) fn line(&mut self) -> Vec<u8> {
        let text = match self.below(20) {
            0 => format!("[{}]", self.message()),
            1 => format!("[{},{}]", self.message(), self.message()),
            2 => format!("[[{}],{}]", self.message(), self.message()),
            3 => {
                let between = self.pick(&["", " ", "\r", "\t", "\u{2028}", "\u{c}", ",", "\u{1e}"]);
                format!("{}{between}{}", self.message(), self.message())
            }
            4 => {
                let (before, behind) =
                    (self.pick(&["", "\u{feff}", " \t", "x", "\u{0}"]), self.pick(&["", "\r", "}", " x"]));
                format!("{before}{}{behind}", self.message())
            }
            5 => format!("{{\"x\":{},{}", self.message(), self.message().trim_start_matches('{')),
            _ => self.message(),
        };
        let mut bytes = text.into_bytes();
        if self.seldom(12) {
            for _ in 0..=self.below(3) {
                let at = self.below(bytes.len());
                match self.below(4) {
                    0 => bytes.truncate(at.max(1)),
                    1 => bytes[at] = (self.chance.next() & 0xff) as u8,
                    2 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, self.pick(&["\"", "{", "}", ",", "\\", ":"]).as_bytes()[0]),
                }
                if bytes.is_empty() {
                    bytes.push(b'{');
                }
            }
        }
        bytes.retain(|byte| *byte != b'\n');
        bytes
    }

    fn message(&mut self) -> String {
        let mut members = Vec::new();
        let is_call = !self.seldom(3);
        self.method = if is_call { "tools/call" } else { self.pick(&METHODS) }.to_owned();
        self.name = self.pick(&TOOLS).to_owned();
        if !self.seldom(10) {
            members.push(self.member("jsonrpc", "\"2.0\""));
        }
        if !self.seldom(3) {
            let id = self.id();
            members.push(self.member("id", &id));
        }
        let method = self.string(&self.method.clone());
        members.push(self.member("method", &method));
        if self.seldom(16) {
            let other = self.pick(&["\"ping\"", "\"tools/call\"", "null", "7", "\"notifications/progress\""]);
            let other = self.member("method", other);
            members.push(other);
        }
        let params = self.params(&self.name.clone());
        members.push(self.member("params", &params));
        if self.seldom(16) {
            let name = self.pick(&TOOLS);
            let params = self.params(name);
            members.push(self.member("params", &params));
        }
        if self.seldom(16) {
            let kind = self.pick(&["result", "error"]);
            members.push(self.member(kind, "{\"code\":1,\"message\":\"\"}"));
        }
        if self.seldom(10) {
            members
                .push("\"__proto__\":{\"method\":\"tools/call\",\"params\":{\"name\":\"pay\"}}".to_owned());
        }
        for at in (1..members.len()).rev() {
            let other = self.below(at + 1);
            members.swap(at, other);
        }
        format!("{{{}}}", members.join(","))
    }

    fn id(&mut self) -> String {
        self.sent += 1;
        match self.below(32) {
            0 => "null".to_owned(),
            1 => "1.5".to_owned(),
            2 => "true".to_owned(),
            3 => "[1]".to_owned(),
            4 => "{}".to_owned(),
            5 => "9".repeat(400),
            6 => "-0".to_owned(),
            7 => "1".to_owned(),
            8 => format!("\"{}\"", self.sent),
            9 => "\"\\ud800\"".to_owned(),
            10 => format!("{}e0", self.sent),
            _ => self.sent.to_string(),
        }
    }

    fn params(&mut self, name: &str) -> String {
        match self.below(24) {
            0 => format!("[\"{name}\"]"),
            1 => "null".to_owned(),
            2 => format!("\"{name}\""),
            3 => format!("{{\"name\":[\"{name}\"]}}"),
            _ => {
                let spelled = self.string(name);
                let mut members = vec![self.member("name", &spelled), "\"arguments\":{}".to_owned()];
                if self.seldom(8) {
                    let (other, key) = (self.pick(&TOOLS), self.pick(&["name", "Name", "uri", "taskId"]));
                    members.push(format!("\"{key}\":\"{other}\""));
                }
                if self.seldom(6) {
                    let number = self.below(40);
                    members.push(format!("\"requestId\":{number},\"progressToken\":{number}"));
                }
                let meta = self.stated(json!({}));
                if let Some(meta) = meta.get("_meta") {
                    members.push(format!("\"_meta\":{meta}"));
                }
                if self.seldom(2) {
                    members.reverse();
                }
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// A member whose name is mostly written as it should be.
    fn member(&mut self, name: &str, value: &str) -> String {
        let spelled = match self.below(60) {
            0 => name.to_uppercase(),
            1 => name.replacen(|_| true, &name.chars().take(1).collect::<String>().to_uppercase(), 1),
            2 => name.replace('s', "\u{17f}"),
            3 => format!("{name} "),
            4 | 5 => escaped(name),
            _ => name.to_owned(),
        };
        let blank = if self.seldom(12) { " \t" } else { "" };
        format!("\"{spelled}\"{blank}:{blank}{value}")
    }

    /// A text, mostly written as it should be.
    fn string(&mut self, text: &str) -> String {
        let spelled = match self.below(60) {
            0 => format!("{text}\\ud800"),
            1 => format!(" {text}"),
            2 => format!("{text}\\u0000"),
            3 | 4 => text.replace('/', "\\/"),
            5 | 6 => escaped(text),
            _ => text.to_owned(),
        };
        format!("\"{spelled}\"")
    }
}

/// All in escapes.
fn escaped(text: &str) -> String {
    text.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect()
}
