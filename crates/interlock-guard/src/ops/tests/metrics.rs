//! What Prometheus reads.

use std::time::Duration;

use expect_test::expect;

use super::story::{HOSTILE, arrive, call, day, decide, ops};
use crate::{
    event::{Decision, Event, Watch},
    ops::OpsOptions,
};

/// The lines without those that differ from machine to machine, and without empty buckets.
fn shown(text: &str) -> String {
    let is_shown = |line: &&str| {
        let is_empty = line.contains("_bucket") && line.ends_with(" 0");
        !is_empty && !line.contains("process_") && !line.contains("build_info")
    };
    text.lines().filter(is_shown).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_day_as_prometheus_sees_it() {
    let ops = ops(OpsOptions::default());
    day(&ops);
    expect![[r##"
        # HELP interlock_guard_calls_total Calls over which it was decided.
        # TYPE interlock_guard_calls_total counter
        interlock_guard_calls_total{tool="create",decision="granted",reason=""} 3
        interlock_guard_calls_total{tool="read",decision="replayed",reason=""} 1
        interlock_guard_calls_total{tool="read",decision="refused",reason="too_often"} 1
        interlock_guard_calls_total{tool="read",decision="observed",reason="stale"} 1
        # HELP interlock_guard_call_endings_total Calls that were let through and have ended.
        # TYPE interlock_guard_call_endings_total counter
        interlock_guard_call_endings_total{tool="create",ending="answered"} 1
        interlock_guard_call_endings_total{tool="create",ending="unknown"} 1
        interlock_guard_call_endings_total{tool="read",ending="failed"} 1
        # HELP interlock_guard_calls_without_key_total Calls without an idempotency key, of tools that have a rule for it: sent again, they run again.
        # TYPE interlock_guard_calls_without_key_total counter
        # HELP interlock_guard_calls_in_flight Calls that run.
        # TYPE interlock_guard_calls_in_flight gauge
        interlock_guard_calls_in_flight{tool="create"} 1
        interlock_guard_calls_in_flight{tool="read"} 0
        interlock_guard_calls_in_flight{tool="other"} 0
        # HELP interlock_guard_calls_waiting Calls that stand in line.
        # TYPE interlock_guard_calls_waiting gauge
        interlock_guard_calls_waiting{tool="create"} 1
        interlock_guard_calls_waiting{tool="read"} 0
        interlock_guard_calls_waiting{tool="other"} 0
        # HELP interlock_guard_wait_seconds How long calls waited until it was decided over them.
        # TYPE interlock_guard_wait_seconds histogram
        interlock_guard_wait_seconds_bucket{tool="create",le="0.0025"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="0.005"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="0.01"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="0.025"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="0.05"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="0.1"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="0.25"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="0.5"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="1"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="2.5"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="5"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="10"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="30"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="60"} 3
        interlock_guard_wait_seconds_bucket{tool="create",le="+Inf"} 3
        interlock_guard_wait_seconds_sum{tool="create"} 0.0045
        interlock_guard_wait_seconds_count{tool="create"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="0.0025"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="0.005"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="0.01"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="0.025"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="0.05"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="0.1"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="0.25"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="0.5"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="1"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="2.5"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="5"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="10"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="30"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="60"} 3
        interlock_guard_wait_seconds_bucket{tool="read",le="+Inf"} 3
        interlock_guard_wait_seconds_sum{tool="read"} 0.0045
        interlock_guard_wait_seconds_count{tool="read"} 3
        # HELP interlock_guard_call_seconds How long upstreams took.
        # TYPE interlock_guard_call_seconds histogram
        interlock_guard_call_seconds_bucket{tool="create",le="0.05"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="0.1"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="0.25"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="0.5"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="1"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="2.5"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="5"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="10"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="30"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="60"} 2
        interlock_guard_call_seconds_bucket{tool="create",le="+Inf"} 2
        interlock_guard_call_seconds_sum{tool="create"} 0.08
        interlock_guard_call_seconds_count{tool="create"} 2
        interlock_guard_call_seconds_bucket{tool="read",le="0.05"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="0.1"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="0.25"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="0.5"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="1"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="2.5"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="5"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="10"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="30"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="60"} 1
        interlock_guard_call_seconds_bucket{tool="read",le="+Inf"} 1
        interlock_guard_call_seconds_sum{tool="read"} 0.04
        interlock_guard_call_seconds_count{tool="read"} 1
        # HELP interlock_guard_upstream_up Whether an upstream answers.
        # TYPE interlock_guard_upstream_up gauge
        interlock_guard_upstream_up{upstream="memory"} 1
        # HELP interlock_guard_upstream_restarts_total How often an upstream came up again.
        # TYPE interlock_guard_upstream_restarts_total counter
        interlock_guard_upstream_restarts_total{upstream="memory"} 1
        # HELP interlock_guard_requests_turned_away_total Requests that were turned away by their head: no credential, a wrong one, another origin.
        # TYPE interlock_guard_requests_turned_away_total counter
        # HELP interlock_guard_messages_refused_total Messages other than tool calls that were refused.
        # TYPE interlock_guard_messages_refused_total counter
        interlock_guard_messages_refused_total 0
        # HELP interlock_guard_store_errors_total How often the store could not be asked.
        # TYPE interlock_guard_store_errors_total counter
        interlock_guard_store_errors_total 1
        # HELP interlock_guard_policy_generation The number of the policy that holds.
        # TYPE interlock_guard_policy_generation gauge
        interlock_guard_policy_generation 3
        # HELP interlock_guard_policy_reloads_total How often the policy was replaced.
        # TYPE interlock_guard_policy_reloads_total counter
        interlock_guard_policy_reloads_total 1
        # HELP interlock_guard_closing Whether the guard is closing.
        # TYPE interlock_guard_closing gauge
        interlock_guard_closing 0
        # HELP interlock_guard_audit_lines_dropped_total Lines of the audit log that were never written.
        # TYPE interlock_guard_audit_lines_dropped_total counter
        interlock_guard_audit_lines_dropped_total 0
        # HELP interlock_guard_log_lines_dropped_total Lines of the log that were never written.
        # TYPE interlock_guard_log_lines_dropped_total counter
        interlock_guard_log_lines_dropped_total 0
        # HELP interlock_guard_trace_spans_dropped_total Spans that were never sent.
        # TYPE interlock_guard_trace_spans_dropped_total counter
        interlock_guard_trace_spans_dropped_total 0
    "##]]
    .assert_eq(&shown(&ops.metrics()));
}

#[test]
fn a_hostile_name_stays_inside_its_label() {
    let ops = ops(OpsOptions::default());
    ops.note(&Event::Listed { tools: &[HOSTILE] });
    let call = call(HOSTILE);
    arrive(&ops, 1, &call);
    decide(&ops, 1, &call, Decision::Refused { reason: "denied" }, &[]);
    let text = ops.metrics();
    let line = text.lines().find(|line| line.starts_with("interlock_guard_calls_total")).unwrap();
    expect![[r#"interlock_guard_calls_total{tool="</script><img src=x onerror=alert(1)>\"'\\\n�[31m�{{evil}}",decision="refused",reason="denied"} 1"#]].assert_eq(line);
}

#[test]
fn every_metric_is_on_the_page_about_operations_and_no_other() {
    let page = include_str!("../../../../../docs/guard-operations.md");
    let ops = ops(OpsOptions::default());
    let text = ops.metrics();
    let told: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    for (name, kind) in &told {
        assert!(page.contains(&format!("| `{name}` | {kind} |")), "{name}, a {kind}, is not on the page");
    }
    let written =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(name, _)| name);
    for name in written.filter(|name| name.starts_with("interlock_guard_") || name.starts_with("process_")) {
        assert!(told.iter().any(|(told, _)| *told == name), "{name} is on the page and not told");
    }
}

#[test]
fn histograms_add_up() {
    let ops = ops(OpsOptions::default());
    let call = call("t");
    for (id, millis) in [(1, 0), (2, 3), (3, 700), (4, 120_000)] {
        let waited = Duration::from_millis(millis);
        let id = interlock_sync::store::OpId(id);
        ops.note(&Event::Decided { id, call: &call, decision: Decision::Replayed, keys: &[], waited });
    }
    let text = ops.metrics();
    let value = |name: &str| {
        let line =
            text.lines().find_map(|line| line.strip_prefix(&format!("interlock_guard_wait_seconds_{name}")));
        line.and_then(|line| line.rsplit_once(' ')).map(|(_, value)| value.parse::<f64>().unwrap()).unwrap()
    };
    assert_eq!(value("bucket{tool=\"t\",le=\"0.001\"}"), 1.0);
    assert_eq!(value("bucket{tool=\"t\",le=\"60\"}"), 3.0);
    assert_eq!(value("bucket{tool=\"t\",le=\"+Inf\"}"), 4.0);
    assert_eq!(value("count"), 4.0);
    assert_eq!(value("sum"), 120.703);
}
