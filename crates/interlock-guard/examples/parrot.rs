//! A server for tests, on stdio: its tools show what reached it, and make it do what servers may do.
//!
//! `parrot [--era handshake|stateless|both] [--name NAME]`. As one of both eras it keeps to the one it was begun with; as one without a handshake
//! it ends when it gets one, as some do.

use std::{
    error::Error,
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// How the protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Handshake,
    Stateless,
    Both,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut era, name) = options();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut asked: Option<Value> = None;
    let mut polls = 0;
    #[expect(clippy::disallowed_methods, reason = "an example is a program")]
    let input = io::stdin();
    for line in input.lock().lines() {
        let line = line?;
        heard.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
        let message: Value = serde_json::from_str(&line)?;
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let Some(id) = id else { continue };
        let states = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").is_some();
        if method == "initialize" && era == Era::Stateless {
            say(&error(&id, -32022, "no handshake here"));
            return Ok(());
        }
        if era == Era::Stateless && !states && !method.is_empty() {
            say(&error(&id, -32602, "the revision is not stated"));
            continue;
        }
        if era == Era::Both && method != "server/discover" && !method.is_empty() {
            era = if states { Era::Stateless } else { Era::Handshake };
        }
        match method {
            "" => {
                // The client's answer to what was asked.
                if let Some(call) = asked.take() {
                    say(&text(&call, &message.to_string()));
                }
            }
            "initialize" => say(&json!({ "jsonrpc": "2.0", "id": id, "result": {
                "protocolVersion": message.pointer("/params/protocolVersion"),
                "capabilities": { "tools": { "listChanged": true }, "prompts": {}, "resources": {} },
                "serverInfo": { "name": "parrot", "version": "1" },
            } })),
            "server/discover" if era != Era::Handshake => {
                say(&json!({ "jsonrpc": "2.0", "id": id, "result": {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private",
                "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "parrot", "version": "2" } },
            } }))
            }
            "tools/list" => {
                let region = json!({ "type": "string", "x-mcp-header": "Region" });
                let schema = json!({ "type": "object", "properties": { "region": region } });
                let tool = |name: &str, reads: bool| json!({ "name": name, "inputSchema": schema, "annotations": { "readOnlyHint": reads } });
                let tools = ["echo", "wait", "progress", "ask", "task", "die", "change", "heard"];
                let tools: Vec<Value> = tools.iter().map(|name| tool(name, *name == "heard")).collect();
                say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": tools } }));
            }
            // Only for clients that know what a task is; over after it was asked for three times.
            "tasks/get" => {
                let knows = "/params/_meta/io.modelcontextprotocol~1clientCapabilities/extensions/io.modelcontextprotocol~1tasks";
                if era == Era::Stateless && message.pointer(knows).is_none() {
                    say(&error(&id, -32021, "the client does not know tasks"));
                    continue;
                }
                polls += 1;
                let status = if polls < 3 { "working" } else { "completed" };
                let told = json!({ "resultType": "complete", "taskId": "t", "status": status });
                say(&json!({ "jsonrpc": "2.0", "id": id, "result": told }));
            }
            "prompts/list" => {
                let prompts = json!([{ "name": "greet" }]);
                say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "prompts": prompts } }));
            }
            "prompts/get" => {
                let prompt = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
                let content = json!({ "type": "text", "text": format!("{name} got {prompt}") });
                let messages = json!([{ "role": "user", "content": content }]);
                say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "messages": messages } }));
            }
            "resources/list" => {
                let resources = json!([{ "uri": format!("parrot://{name}/listed"), "name": "listed" }]);
                say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "resources": resources } }));
            }
            "resources/read" => {
                let uri = message.pointer("/params/uri").and_then(Value::as_str).unwrap_or_default();
                if uri.starts_with(&format!("parrot://{name}/")) {
                    let contents = json!([{ "uri": uri, "text": format!("{name} has it") }]);
                    say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "contents": contents } }));
                } else {
                    say(&error(&id, -32602, "there is no such resource"));
                }
            }
            "tools/call" => match message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default()
            {
                "echo" => say(&text(&id, &line)),
                "heard" => {
                    let lines = heard.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
                    say(&text(&id, &lines));
                }
                "who" => say(&text(&id, &std::process::id().to_string())),
                "wait" => {
                    let ms = message.pointer("/params/arguments/ms").and_then(Value::as_u64).unwrap_or(50);
                    thread::spawn(move || {
                        thread::sleep(Duration::from_millis(ms));
                        say(&text(&id, "waited"));
                    });
                }
                "progress" => {
                    let token = message.pointer("/params/_meta/progressToken");
                    let params = json!({ "progressToken": token, "progress": 1 });
                    say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
                    say(&text(&id, "done"));
                }
                "ask" => {
                    asked = Some(id);
                    let params = json!({ "messages": [], "maxTokens": 1 });
                    say(
                        &json!({ "jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": params }),
                    );
                }
                "task" => {
                    let task = json!({
                        "resultType": "task", "taskId": "t", "status": "working", "ttlMs": 60_000, "pollIntervalMs": 50,
                    });
                    say(&json!({ "jsonrpc": "2.0", "id": id, "result": task }));
                }
                "change" => {
                    say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                    say(&text(&id, "changed"));
                }
                _ => return Ok(()),
            },
            _ => say(&error(&id, -32601, "Method not found")),
        }
    }
    Ok(())
}

fn options() -> (Era, String) {
    let mut era = Era::Handshake;
    let mut name = "parrot".to_owned();
    #[expect(clippy::disallowed_methods, reason = "an example is a program")]
    let mut arguments = std::env::args().skip(1);
    while let (Some(key), Some(value)) = (arguments.next(), arguments.next()) {
        match (key.as_str(), value.as_str()) {
            ("--era", "stateless") => era = Era::Stateless,
            ("--era", "both") => era = Era::Both,
            ("--name", given) => name = given.to_owned(),
            _ => {}
        }
    }
    (era, name)
}

fn text(id: &Value, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

fn say(message: &Value) {
    #[expect(clippy::disallowed_methods, reason = "an example is a program")]
    let mut output = io::stdout().lock();
    // A guard that does not read any more is about to end this program.
    let _ = writeln!(output, "{message}").and_then(|()| output.flush());
}
