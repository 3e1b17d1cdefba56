//! The server behind everybody: one tool that says what it was told. It does as little as it can, so that what is measured is in front of it.

use std::{
    io::{BufRead, Write, stdin, stdout},
    time::Duration,
};

use anyhow::Result;
use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Over Streamable HTTP, at an address that is its first line of output.
#[expect(clippy::print_stdout, reason = "whoever starts it reads where it is")]
pub(crate) async fn http() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, Router::new().route("/mcp", post(posted))).await?;
    Ok(())
}

async fn posted(body: String) -> Response {
    let Ok(message) = serde_json::from_str::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Some(answer) = answer(&message) else { return StatusCode::ACCEPTED.into_response() };
    if let Some(pause) = pause(&message) {
        tokio::time::sleep(pause).await;
    }
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

/// Over standard input and output, one message a line.
#[expect(clippy::disallowed_methods, reason = "this is what a server on stdio speaks through")]
pub(crate) fn stdio() -> Result<()> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        if let Some(answer) = answer(&message) {
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// How long a call asks to be kept waiting.
fn pause(message: &Value) -> Option<Duration> {
    message.pointer("/params/arguments/ms").and_then(Value::as_u64).map(Duration::from_millis)
}

fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let method = message.get("method")?.as_str()?;
    let result = match method {
        "initialize" => json!({
            "protocolVersion": message.pointer("/params/protocolVersion"),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "echo", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        "tools/call" => json!({
            "content": [{ "type": "text", "text": message.pointer("/params/arguments/text") }],
        }),
        "ping" => json!({}),
        "resources/list" => json!({ "resources": [] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "prompts/list" => json!({ "prompts": [] }),
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}
