//! Spans, sent to a collector on loopback that writes down what it gets.

use std::{sync::Arc, time::Duration};

use expect_test::expect;
use interlock_sync::{retry::Retry, store::OpId};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};

use super::story::{arrive, call, decide, end, grant, ops};
use crate::{
    event::{Decision, Ending, Watch},
    ops::{MetricOptions, Ops, OpsOptions, TraceOptions},
    traceparent::Traceparent,
};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A collector that answers with these, one after the other, and then with 200.
async fn collector(answers: &'static [&'static str]) -> (String, mpsc::UnboundedReceiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}/base/", listener.local_addr().unwrap());
    let (send, receive) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut answers = answers.iter();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = Vec::new();
            let (head, body) = loop {
                assert!(stream.read_buf(&mut bytes).await.unwrap() > 0);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                if body.len() >= length.parse().unwrap() {
                    break (head.to_owned(), body.to_owned());
                }
            };
            let status = answers.next().unwrap_or(&"200 OK");
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{{}}"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
            let _ = send.send((head, serde_json::from_str(&body).unwrap()));
        }
    });
    (endpoint, receive)
}

fn traced(endpoint: String, per_mille: u16) -> Arc<Ops> {
    let headers = vec![("x-key".to_owned(), "secret".to_owned())];
    let traces = TraceOptions { endpoint, service: "guard".to_owned(), per_mille, headers };
    ops(OpsOptions { traces: Some(traces), ..OpsOptions::default() })
}

fn story(ops: &Ops) {
    let mut create = call("create");
    create.traceparent = Traceparent::read(PARENT);
    arrive(ops, 1, &create);
    grant(ops, 1, &create, &["graph"]);
    end(ops, 1, &create, Ending::Answered);
    arrive(ops, 2, &call("create"));
    decide(ops, 2, &call("create"), Decision::Refused { reason: "stale" }, &["graph"]);
    let mut unsampled = call("create");
    unsampled.traceparent = Traceparent::read(&PARENT.replace("-01", "-00"));
    arrive(ops, 3, &unsampled);
    decide(ops, 3, &unsampled, Decision::Replayed, &[]);
}

fn spans(request: &Value) -> Vec<Value> {
    let mut spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
    for span in &mut spans {
        let span = span.as_object_mut().unwrap();
        let time = |value: Value| value.as_str().unwrap().parse::<u128>().unwrap();
        let (start, end) =
            (time(span.remove("startTimeUnixNano").unwrap()), time(span.remove("endTimeUnixNano").unwrap()));
        assert!(start <= end && start > 1_700_000_000_000_000_000);
    }
    spans
}

#[tokio::test]
async fn a_call_is_a_server_span_under_its_parent_and_a_client_span_inside_it() {
    let (endpoint, mut received) = collector(&[]).await;
    let ops = traced(endpoint, 1000);
    story(&ops);
    let going = ops.traceparent(OpId(1), &{
        let mut call = call("create");
        call.traceparent = Traceparent::read(PARENT);
        call
    });
    ops.work(async {}).await;
    let (head, request) = received.recv().await.unwrap();
    assert!(
        head.starts_with("POST /base/v1/traces HTTP/1.1\r\n") && head.contains("x-key: secret"),
        "{head}"
    );
    let spans = spans(&request);
    assert_eq!(spans.len(), 3);
    assert_eq!(spans[0]["parentSpanId"], "00f067aa0ba902b7");
    assert_eq!(spans[1]["parentSpanId"], spans[0]["spanId"]);
    // What the upstream gets makes its spans children of the client span.
    let expected = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", spans[1]["spanId"].as_str().unwrap());
    assert_eq!(going.unwrap().to_string(), expected);
    expect![[r#"
        "tools/call create" kind 2 status {} 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 26a90e7c423166a6
            mcp.method.name: {"stringValue":"tools/call"}
            gen_ai.operation.name: {"stringValue":"execute_tool"}
            gen_ai.tool.name: {"stringValue":"create"}
            interlock.upstream: {"stringValue":"memory"}
            interlock.ending: {"stringValue":"answered"}
            interlock.caller: {"stringValue":"key:ci"}
            interlock.decision: {"stringValue":"granted"}
            mcp.session.id: {"stringValue":"session-1"}
            interlock.fence: {"intValue":"1"}
            interlock.keys: {"arrayValue":{"values":[{"stringValue":"graph"}]}}
        "tools/call create" kind 3 status {} 4bf92f3577b34da6a3ce929d0e0e4736 26a90e7c423166a6 5ba208d6dc82d245
            mcp.method.name: {"stringValue":"tools/call"}
            gen_ai.operation.name: {"stringValue":"execute_tool"}
            gen_ai.tool.name: {"stringValue":"create"}
            interlock.upstream: {"stringValue":"memory"}
            interlock.ending: {"stringValue":"answered"}
        "tools/call create" kind 2 status {"code":2} d7cc9674ff5ffa39deab78ecf3d9f1ea - 53b697e5b3838c5a
            mcp.method.name: {"stringValue":"tools/call"}
            gen_ai.operation.name: {"stringValue":"execute_tool"}
            gen_ai.tool.name: {"stringValue":"create"}
            interlock.upstream: {"stringValue":"memory"}
            error.type: {"stringValue":"tool_error"}
            interlock.caller: {"stringValue":"key:ci"}
            interlock.decision: {"stringValue":"refused"}
            mcp.session.id: {"stringValue":"session-1"}
            interlock.reason: {"stringValue":"stale"}
            interlock.keys: {"arrayValue":{"values":[{"stringValue":"graph"}]}}
    "#]].assert_eq(&spans.iter().map(shown).collect::<String>());
}

#[tokio::test]
async fn counters_are_sent_as_the_page_shows_them_and_once_more_at_the_end() {
    let (endpoint, mut received) = collector(&[]).await;
    let every = Duration::from_secs(3600);
    let metrics = MetricOptions {
        endpoint,
        service: "guard".to_owned(),
        every,
        headers: vec![("x-key".to_owned(), "secret".to_owned())],
    };
    let ops = ops(OpsOptions { metrics: Some(metrics), ..OpsOptions::default() });
    story(&ops);
    ops.work(async {}).await;
    let (head, request) = received.recv().await.unwrap();
    assert!(
        head.starts_with("POST /base/v1/metrics HTTP/1.1\r\n") && head.contains("x-key: secret"),
        "{head}"
    );
    let metrics = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let names: Vec<_> = metrics.iter().map(|metric| metric["name"].as_str().unwrap()).collect();
    let page = ops.metrics();
    let shown = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let shown: std::collections::BTreeSet<_> = shown.collect();
    assert_eq!(names, shown.into_iter().collect::<Vec<_>>());
    let calls = metrics.iter().find(|metric| metric["name"] == "interlock_guard_calls_total").unwrap();
    let total: f64 = calls["sum"]["dataPoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["asDouble"].as_f64().unwrap())
        .sum();
    assert_eq!(total, 3.0);
}

/// A span on a few lines.
fn shown(span: &Value) -> String {
    let ids = ["traceId", "parentSpanId", "spanId"].map(|name| span[name].as_str().unwrap_or("-"));
    let mut out =
        format!("{} kind {} status {} {}\n", span["name"], span["kind"], span["status"], ids.join(" "));
    for attribute in span["attributes"].as_array().unwrap() {
        out += &format!("    {}: {}\n", attribute["key"].as_str().unwrap(), attribute["value"]);
    }
    out
}

#[tokio::test]
async fn a_collector_that_is_busy_gets_it_again_and_one_that_refuses_does_not() {
    let (endpoint, mut received) = collector(&["503 Busy", "429 Wait", "200 OK", "400 No"]).await;
    let ops = traced(endpoint, 1000);
    let traces = ops.traces.as_ref().unwrap();
    story(&ops);
    let retry = Retry::times(5).first(Duration::from_millis(1));
    traces.send_all(&retry).await;
    let bodies = [
        received.recv().await.unwrap().1,
        received.recv().await.unwrap().1,
        received.recv().await.unwrap().1,
    ];
    assert!(bodies[0] == bodies[1] && bodies[1] == bodies[2]);
    assert_eq!(traces.dropped(), 0);
    story(&ops);
    traces.send_all(&retry).await;
    assert_eq!(traces.dropped(), 2);
    assert!(received.try_recv().is_ok() && received.try_recv().is_err());
}

#[tokio::test]
async fn without_a_collector_spans_are_dropped_and_counted_and_nobody_waits() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let ops = traced(endpoint, 1000);
    for id in 0..10_000 {
        decide(&ops, id, &call("t"), Decision::Replayed, &[]);
    }
    ops.work(async {}).await;
    assert!(ops.metrics().contains("interlock_guard_trace_spans_dropped_total 10000"));
}

#[test]
fn of_calls_without_a_parent_about_as_many_are_recorded_as_asked_for() {
    let ops = traced("http://127.0.0.1:1".to_owned(), 100);
    let recorded =
        (0..10_000).filter(|id| ops.traceparent(OpId(*id), &call("t")).unwrap().is_sampled()).count();
    assert!((800..1200).contains(&recorded), "{recorded}");
}

#[test]
fn a_collector_that_cannot_be_reached_this_way_is_a_mistake_at_once() {
    for endpoint in ["collector:4318", "", "http://", "http:///x", "ftp://x", "/v1/traces"] {
        let options = TraceOptions {
            endpoint: endpoint.into(),
            service: "g".into(),
            per_mille: 1,
            headers: Vec::new(),
        };
        assert!(
            Ops::open(OpsOptions { traces: Some(options), ..OpsOptions::default() }).is_err(),
            "{endpoint}"
        );
    }
}
