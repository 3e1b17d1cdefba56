//! What an operator sees: the log, the audit log, health, metrics and traces of a guard in front of a real server.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};

use crate::{
    effects::{Effects, configured},
    kit::{Client, free_address, scratch, until},
    raw::Raw,
};

const POLICY: &str = "\
[audit]\npath = \"audit.jsonl\"\n\n\
[[tool]]\nmatch = \"do\"\nlock = \"page:{args.name}\"\nchanges = \"page:{args.name}\"\n\n\
[[tool]]\nmatch = \"look\"\nrate = \"2/h\"\n\n\
[[tool]]\nmatch = \"crash\"\ndeny = true\nmode = \"observe\"\n";

/// Two that run, two that read and a third that is one too many.
async fn some_calls(client: &Client) {
    for name in ["one", "two"] {
        assert!(!client.call("do", json!({ "name": name })).await.is_error);
    }
    for is_refused in [false, false, true] {
        assert_eq!(client.call("look", json!({})).await.is_error, is_refused);
    }
}

/// The lines of a file, each of them one JSON object.
fn objects(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("there is a file");
    let object = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
    text.lines().map(object).inspect(|line: &Value| assert!(line.is_object(), "{line}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn as_json_every_line_of_the_log_is_an_object_until_the_very_last() {
    let effects = Effects::new();
    let log = effects.file("log");
    let guard =
        effects.configured(POLICY).with(&["--log", "json", "--grace", "100"]).logging_to(&log).serve();
    let client = guard.client().await;
    some_calls(&client).await;
    // The server's own words, a configuration that is no good, and calls that are cut off.
    let _ = client.try_call("crash", json!({})).await;
    until("the server is back", || {
        objects(&log).iter().filter(|line| line["event"] == "upstream" && line["state"] == "up").count() == 2
    })
    .await;
    effects.write_policy("[[tool]]\nmatch = 7\n");
    guard.signal("HUP");
    until("the mistake is told", || objects(&log).iter().any(|line| line["event"] == "reload")).await;
    tokio::spawn(async move { client.try_call("do", json!({ "name": "endless", "ms": 1_000_000 })).await });
    until("it has begun", || effects.began() == 3).await;
    guard.signal("TERM");
    assert_eq!(guard.ended().await, Some(2));
    let lines = objects(&log);
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    let refused = of("refused");
    assert_eq!(refused.len(), 1, "{lines:?}");
    let fields = ["decision", "reason", "tool", "caller"].map(|field| refused[0][field].as_str());
    assert_eq!(fields, [Some("refused"), Some("rate"), Some("look"), Some("anonymous")]);
    let observed = of("observed");
    assert_eq!((&observed[0]["decision"], &observed[0]["tool"]), (&json!("observed"), &json!("crash")));
    assert_eq!(of("said")[0]["words"], "out of memory, says the server");
    assert_eq!(of("failed")[0]["words"], "1 calls did not finish in time and were cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_has_each_decision_and_each_ending_with_all_that_is_known() {
    let effects = Effects::new();
    let guard = effects.configured(POLICY).serve();
    some_calls(&guard.client().await).await;
    guard.signal("TERM");
    assert_eq!(guard.ended().await, Some(0));
    let lines = objects(&effects.file("audit.jsonl"));
    let told = |line: &Value| {
        let words = ["event", "tool", "decision", "reason", "ending"];
        words.iter().filter_map(|word| line[*word].as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        lines.iter().map(told).collect::<Vec<_>>(),
        [
            "decided do granted",
            "ended do answered",
            "decided do granted",
            "ended do answered",
            "decided look granted",
            "ended look answered",
            "decided look granted",
            "ended look answered",
            "decided look refused rate",
        ]
    );
    for (index, line) in lines.iter().enumerate() {
        assert_eq!((&line["caller"], &line["upstream"]), (&json!("anonymous"), &json!("effects")));
        assert!(line["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{line}");
        assert_eq!(line["call"], lines[index - index % 2]["call"], "both lines of a call have its number");
        assert!(line["waited_ms"].is_number() && line["arguments"].is_null(), "{line}");
    }
    assert_eq!(lines[0]["keys"], json!(["page:one"]));
    assert!(lines[0]["fence"].as_u64() < lines[2]["fence"].as_u64(), "fences only rise");
    assert!(lines[1]["took_ms"].is_number() && lines[1]["fence"] == lines[0]["fence"]);
}

/// What the admin listener answers: the status and the body.
pub(crate) async fn get(admin: &str, path: &str) -> (u16, String) {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
    let answer = http.get(format!("http://{admin}{path}")).send().await.expect("it answers");
    (answer.status().as_u16(), answer.text().await.expect("it has a body"))
}

/// What a page of metrics says, by name and labels as they stand there. Everything in it must belong to a family that was announced.
fn metrics(page: &str) -> BTreeMap<&str, f64> {
    let mut families = BTreeMap::new();
    let mut samples = BTreeMap::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a kind");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(families.insert(name, kind), None, "{name} is announced once");
        } else if !line.starts_with("# HELP ") {
            let (sample, value) = line.rsplit_once(' ').expect("a value");
            let name = sample.split('{').next().expect("a name");
            let parts = ["_bucket", "_sum", "_count"].iter().find_map(|part| name.strip_suffix(part));
            let family = parts.filter(|family| families.get(family) == Some(&"histogram")).unwrap_or(name);
            assert!(families.contains_key(family), "{line}");
            assert!(sample.contains('{') == sample.ends_with('}'), "{line}");
            let value = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
            assert!(samples.insert(sample, value).is_none(), "{sample} is there twice");
        }
    }
    samples
}

#[tokio::test(flavor = "multi_thread")]
async fn health_readiness_and_metrics_tell_of_what_happened() {
    let (effects, admin) = (Effects::new(), free_address());
    let guard = effects.configured(POLICY).with(&["--admin", &admin]).serve();
    let client = guard.client().await;
    assert_eq!(get(&admin, "/health").await.0, 200);
    assert_eq!(get(&admin, "/ready").await, (200, r#"{"ready":true,"missing":[]}"#.to_owned()));
    some_calls(&client).await;
    let under_way = client.clone();
    tokio::spawn(async move { under_way.try_call("do", json!({ "name": "slow", "ms": 1_000_000 })).await });
    until("it has begun", || effects.began() == 3).await;
    let (status, page) = get(&admin, "/metrics").await;
    let found = metrics(&page);
    let of = |sample: &str| found.get(sample).copied().unwrap_or_else(|| panic!("no {sample} in {page}"));
    assert_eq!(status, 200);
    for (sample, value) in [
        ("interlock_guard_calls_total{tool=\"do\",decision=\"granted\",reason=\"\"}", 3.0),
        ("interlock_guard_calls_total{tool=\"look\",decision=\"granted\",reason=\"\"}", 2.0),
        ("interlock_guard_calls_total{tool=\"look\",decision=\"refused\",reason=\"rate\"}", 1.0),
        ("interlock_guard_call_endings_total{tool=\"do\",ending=\"answered\"}", 2.0),
        ("interlock_guard_calls_in_flight{tool=\"do\"}", 1.0),
        ("interlock_guard_calls_waiting{tool=\"do\"}", 0.0),
        ("interlock_guard_call_seconds_count{tool=\"do\"}", 2.0),
        ("interlock_guard_wait_seconds_bucket{tool=\"do\",le=\"+Inf\"}", 3.0),
        ("interlock_guard_upstream_up{upstream=\"effects\"}", 1.0),
        ("interlock_guard_store_errors_total", 0.0),
        ("interlock_guard_closing", 0.0),
    ] {
        assert_eq!(of(sample), value, "{sample}");
    }
    assert!(of("process_resident_memory_bytes") > 1e6);
    guard.signal("TERM");
    // Its call is waited for, and meanwhile nobody should send it more.
    while get(&admin, "/ready").await.0 != 503 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert!(get(&admin, "/ready").await.1.contains("closing"));
    assert_eq!(get(&admin, "/health").await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_observe_mode_nothing_is_refused_or_delayed_and_all_of_it_is_written_down() {
    let (effects, admin) = (Effects::new(), free_address());
    let policy = format!("mode = \"observe\"\n{POLICY}").replace("page:{args.name}", "page");
    let guard = effects.configured(&policy).with(&["--admin", &admin]).serve();
    let client = guard.client().await;
    for _ in 0..4 {
        assert!(!client.call("look", json!({})).await.is_error);
    }
    let release = effects.file("release");
    let first = json!({ "name": "first", "ms": 1_000_000, "until": release });
    let other = client.clone();
    let first = tokio::spawn(async move { other.call("do", first).await });
    until("the first has begun", || effects.began() == 1).await;
    assert!(!client.call("do", json!({ "name": "second" })).await.is_error);
    std::fs::write(release, "").expect("it is written");
    assert!(!first.await.expect("it is answered").is_error);
    assert_eq!(effects.all(), ["begin first", "begin second", "end second", "end first"]);
    let page = get(&admin, "/metrics").await.1;
    let found = metrics(&page);
    for (tool, reason, count) in [("look", "rate", 2.0), ("do", "locked", 1.0)] {
        let sample = format!(
            "interlock_guard_calls_total{{tool=\"{tool}\",decision=\"observed\",reason=\"{reason}\"}}"
        );
        assert_eq!(found.get(sample.as_str()), Some(&count), "{page}");
    }
    assert!(!page.contains("decision=\"refused\""), "{page}");
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A call in a trace that its request's head names, and what its server was given.
async fn looked(url: &str) -> Value {
    let client = Raw::connected(url).await;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "look" } });
    let request = client.request(call.to_string());
    let request = request.header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01"));
    let text = request.header("tracestate", "a=b").send().await.expect("it answers").text().await;
    let answer: Value = serde_json::from_str(&text.expect("it has a body")).expect("it is JSON");
    let told = answer["result"]["content"][0]["text"].as_str().expect("it answers with text");
    serde_json::from_str(told).expect("which is JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_that_a_header_names_goes_on_to_the_server() {
    let effects = Effects::new();
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let guard = effects.configured("").serve();
    assert_eq!(looked(&guard.url).await["meta"]["traceparent"], json!(parent));
    for era in ["handshake", "stateless"] {
        let (server, folder) = (effects.over_http(era), scratch());
        let upstream = format!("[[upstream]]\nname = \"effects\"\nurl = \"{}\"\n", server.url);
        let guard = configured(folder.path(), &upstream).serve();
        let headers = looked(&guard.url).await["headers"].take();
        assert_eq!(
            (&headers["traceparent"], &headers["tracestate"]),
            (&json!(parent), &json!("a=b")),
            "{era}"
        );
    }
}

/// A collector of traces, and the bodies that it gets.
async fn collector() -> (String, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
    let endpoint = format!("http://{}", listener.local_addr().expect("it has an address"));
    let (send, bodies) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            let body = loop {
                if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                    break Value::Null;
                }
                let text = String::from_utf8_lossy(&bytes);
                let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
                if let Some(body) = body {
                    break body;
                }
            };
            let answer = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = send.send(body);
        }
    });
    (endpoint, bodies)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_names_a_collector_and_spans_belong_to_the_callers_trace() {
    let effects = Effects::new();
    let (endpoint, mut bodies) = collector().await;
    let guard = effects.configured("").env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint).serve();
    let given = looked(&guard.url).await["meta"]["traceparent"].as_str().expect("it has one").to_owned();
    let body = bodies.recv().await.expect("it is sent");
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone();
    let kinds: BTreeMap<_, _> = spans.iter().map(|span| (span["kind"].as_u64(), span)).collect();
    let (server, client) = (&kinds[&Some(2)], &kinds[&Some(3)]);
    assert_eq!((&server["traceId"], &server["parentSpanId"]), (&json!(TRACE), &json!("00f067aa0ba902b7")));
    assert_eq!((&server["name"], &client["parentSpanId"]), (&json!("tools/call look"), &server["spanId"]));
    let ours = format!("00-{TRACE}-{}-01", client["spanId"].as_str().expect("an id"));
    assert_eq!(given, ours, "what the server does belongs below the guard's own span");
}
