//! A server for tests, on stdio: its tools show what reached it, and make it do what servers may do.

use std::{
    error::Error,
    io::{self, BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut asked: Option<Value> = None;
    #[expect(clippy::disallowed_methods, reason = "an example is a program")]
    let input = io::stdin();
    for line in input.lock().lines() {
        let line = line?;
        heard.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
        let message: Value = serde_json::from_str(&line)?;
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let Some(id) = id else { continue };
        match method {
            "" => {
                // The client's answer to what was asked.
                if let Some(call) = asked.take() {
                    say(&text(&call, &message.to_string()));
                }
            }
            "initialize" => say(&json!({ "jsonrpc": "2.0", "id": id, "result": {
                "protocolVersion": message.pointer("/params/protocolVersion"),
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "parrot", "version": "1" },
            } })),
            "tools/list" => {
                let tool = |name: &str, reads: bool| json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": reads } });
                let tools = ["echo", "wait", "progress", "ask", "die", "change", "heard"];
                let tools: Vec<Value> = tools.iter().map(|name| tool(name, *name == "heard")).collect();
                say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": tools } }));
            }
            "tools/call" => match message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default()
            {
                "echo" => say(&text(&id, &line)),
                "heard" => {
                    let lines = heard.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
                    say(&text(&id, &lines));
                }
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
                "change" => {
                    say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                    say(&text(&id, "changed"));
                }
                _ => return Ok(()),
            },
            _ => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
        }
    }
    Ok(())
}

fn text(id: &Value, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
}

fn say(message: &Value) {
    #[expect(clippy::disallowed_methods, reason = "an example is a program")]
    let mut output = io::stdout().lock();
    // A guard that does not read any more is about to end this program.
    let _ = writeln!(output, "{message}").and_then(|()| output.flush());
}
