//! Spans as OTLP has them in JSON: ids in hexadecimal, times and 64-bit numbers as text.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{
    super::text::clip,
    span::{Span, ids},
};

/// Kinds of spans and of status, by the numbers of the protocol.
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// A request for the collector.
pub(super) fn request(service: &str, spans: &[Span]) -> Value {
    json!({"resourceSpans": [{
        "resource": {"attributes": [
            text("service.name", service),
            text("service.version", env!("CARGO_PKG_VERSION")),
            text("telemetry.sdk.name", "interlock-guard"),
            text("telemetry.sdk.language", "rust"),
            text("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
        ]},
        "scopeSpans": [{
            "scope": {"name": "interlock-guard", "version": env!("CARGO_PKG_VERSION")},
            "spans": spans.iter().flat_map(both).collect::<Vec<_>>(),
        }],
    }]})
}

/// The server span of a call and, if it was let through, the client span inside it.
fn both(span: &Span) -> impl Iterator<Item = Value> {
    let ids = ids(span.id);
    let trace = format!("{:032x}", span.parent.map_or(ids.trace, |parent| parent.trace));
    let server = format!("{:016x}", ids.server);
    let mut common = vec![
        text("mcp.method.name", "tools/call"),
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", &span.tool),
        text("interlock.upstream", &span.upstream),
    ];
    if let Some(ending) = span.ending {
        common.push(text("interlock.ending", ending));
    }
    if let Some(error) = span.error {
        common.push(text("error.type", error));
    }
    let make = |id: String, parent: Option<String>, kind: u8, start, attributes: Vec<Value>| {
        let mut made = json!({
            "traceId": trace,
            "spanId": id,
            "name": format!("tools/call {}", clip(&span.tool)),
            "kind": kind,
            "startTimeUnixNano": nanos(start),
            "endTimeUnixNano": nanos(span.end),
            "attributes": attributes,
            "status": if span.error.is_some() { json!({"code": ERROR}) } else { json!({}) },
        });
        if let (Some(fields), Some(parent)) = (made.as_object_mut(), parent) {
            fields.insert("parentSpanId".to_owned(), parent.into());
        }
        made
    };
    let mut whole = common.clone();
    whole.push(text("interlock.caller", span.caller.as_str()));
    whole.push(text("interlock.decision", span.decision));
    if let Some(session) = &span.session {
        whole.push(text("mcp.session.id", session));
    }
    if let Some(reason) = &span.reason {
        whole.push(text("interlock.reason", reason));
    }
    if let Some(fence) = span.fence {
        // Text, because JSON readers lose the last digits of a number this large.
        whole.push(json!({"key": "interlock.fence", "value": {"intValue": fence.0.to_string()}}));
    }
    let keys: Vec<_> = span.keys.iter().map(|key| json!({"stringValue": &**key})).collect();
    whole.push(json!({"key": "interlock.keys", "value": {"arrayValue": {"values": keys}}}));
    let parent = span.parent.map(|parent| format!("{:016x}", parent.span));
    let client = span
        .forwarded
        .map(|start| make(format!("{:016x}", ids.client), Some(server.clone()), CLIENT, start, common));
    [make(server, parent, SERVER, span.start, whole)].into_iter().chain(client)
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": clip(value)}})
}

fn nanos(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}
