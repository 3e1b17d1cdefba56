//! The counters as Prometheus reads them, text format 0.0.4.

use std::{
    fmt::{Display, Write},
    sync::{Arc, PoisonError, atomic::Ordering},
    time::SystemTime,
};

use super::super::text::is_harmful;
use super::{
    Dropped, Tally, Tool,
    histogram::{BUCKETS, Histogram},
    process::{Process, unix_seconds},
};

/// Writes everything down. `process` is what the process takes, where that is known.
pub(in crate::ops) fn expose(
    tally: &Tally,
    dropped: Dropped,
    started: SystemTime,
    process: Option<Process>,
) -> String {
    let mut page = Page(String::with_capacity(16 << 10));
    page.family("build_info", "gauge", "The version of the guard.");
    page.line("build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    calls(&mut page, tally);
    page.family("upstream_up", "gauge", "Whether an upstream answers.");
    let upstreams = tally.upstreams.read();
    for (name, upstream) in &upstreams {
        page.line("upstream_up", &[("upstream", name)], u8::from(upstream.is_up()));
    }
    page.family("upstream_restarts_total", "counter", "How often an upstream came up again.");
    for (name, upstream) in &upstreams {
        page.line("upstream_restarts_total", &[("upstream", name)], upstream.restarts);
    }
    page.family(
        "requests_turned_away_total",
        "counter",
        "Requests that were turned away by their head: no credential, a wrong one, another origin.",
    );
    let turned_away = tally.turned_away.lock().unwrap_or_else(PoisonError::into_inner);
    for (reason, count) in &*turned_away {
        page.line("requests_turned_away_total", &[("reason", reason)], count);
    }
    drop(turned_away);
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    for (name, kind, help, value) in [
        (
            "messages_refused_total",
            "counter",
            "Messages other than tool calls that were refused.",
            read(&tally.refused_messages),
        ),
        (
            "store_errors_total",
            "counter",
            "How often the store could not be asked.",
            read(&tally.store_errors),
        ),
        ("policy_generation", "gauge", "The number of the policy that holds.", read(&tally.generation)),
        ("policy_reloads_total", "counter", "How often the policy was replaced.", read(&tally.reloads)),
        (
            "closing",
            "gauge",
            "Whether the guard is closing.",
            u64::from(tally.is_closing.load(Ordering::Relaxed)),
        ),
        (
            "audit_lines_dropped_total",
            "counter",
            "Lines of the audit log that were never written.",
            dropped.audit,
        ),
        ("log_lines_dropped_total", "counter", "Lines of the log that were never written.", dropped.log),
        ("trace_spans_dropped_total", "counter", "Spans that were never sent.", dropped.spans),
    ] {
        page.family(name, kind, help);
        page.line(name, &[], value);
    }
    own(&mut page, started, process);
    page.0
}

/// What is counted by tool.
fn calls(page: &mut Page, tally: &Tally) {
    let tools = tally.tools.read();
    page.family("calls_total", "counter", "Calls over which it was decided.");
    for (name, tool) in &tools {
        let mut line = |decision, reason: &str, count: u64| {
            if count > 0 {
                page.line(
                    "calls_total",
                    &[("tool", name), ("decision", decision), ("reason", reason)],
                    count,
                );
            }
        };
        line("granted", "", tool.granted.load(Ordering::Relaxed));
        line("replayed", "", tool.replayed.load(Ordering::Relaxed));
        for (decision, counts) in [("refused", &tool.refused), ("observed", &tool.observed)] {
            for (index, count) in counts.iter().enumerate() {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    line(decision, &tally.reasons.name(index), count);
                }
            }
        }
    }
    page.family("call_endings_total", "counter", "Calls that were let through and have ended.");
    for (name, tool) in &tools {
        for (ending, count) in [
            ("answered", &tool.answered),
            ("failed", &tool.failed),
            ("cancelled", &tool.cancelled),
            ("unknown", &tool.unknown),
        ] {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                page.line("call_endings_total", &[("tool", name), ("ending", ending)], count);
            }
        }
    }
    page.family(
        "calls_without_key_total",
        "counter",
        "Calls without an idempotency key, of tools that have a rule for it: sent again, they run again.",
    );
    for (name, tool) in &tools {
        let count = tool.without_key.load(Ordering::Relaxed);
        if count > 0 {
            page.line("calls_without_key_total", &[("tool", name)], count);
        }
    }
    page.family("calls_in_flight", "gauge", "Calls that run.");
    for (name, tool) in &tools {
        page.line("calls_in_flight", &[("tool", name)], tool.in_flight.get());
    }
    page.family("calls_waiting", "gauge", "Calls that stand in line.");
    for (name, tool) in &tools {
        page.line("calls_waiting", &[("tool", name)], tool.waiting.get());
    }
    histogram(
        page,
        "wait_seconds",
        "How long calls waited until it was decided over them.",
        &tools,
        |tool| &tool.waits,
    );
    histogram(page, "call_seconds", "How long upstreams took.", &tools, |tool| &tool.durations);
}

/// A histogram by tool; a tool that has nothing in it is left out.
fn histogram(
    page: &mut Page,
    name: &str,
    help: &str,
    tools: &[(Box<str>, Arc<Tool>)],
    of: impl Fn(&Tool) -> &Histogram,
) {
    page.family(name, "histogram", help);
    for (tool, row) in tools {
        let (counts, micros) = of(row).read();
        let [.., all] = counts;
        if all == 0 {
            continue;
        }
        let ends = BUCKETS.iter().map(|(_, end)| *end).chain(["+Inf"]);
        for (end, count) in ends.zip(counts) {
            page.line(&format!("{name}_bucket"), &[("tool", tool), ("le", end)], count);
        }
        page.line(&format!("{name}_sum"), &[("tool", tool)], micros as f64 / 1e6);
        page.line(&format!("{name}_count"), &[("tool", tool)], all);
    }
}

/// What the process takes, under the names that all exporters use.
fn own(page: &mut Page, started: SystemTime, process: Option<Process>) {
    let mut line = |name: &str, kind: &str, help: &str, value: f64| {
        let _ = writeln!(
            page.0,
            "# HELP process_{name} {help}\n# TYPE process_{name} {kind}\nprocess_{name} {value}"
        );
    };
    line("start_time_seconds", "gauge", "When the process started, since 1970.", unix_seconds(started));
    let Some(process) = process else { return };
    line("cpu_seconds_total", "counter", "User and system time that was taken.", process.cpu_seconds);
    line("resident_memory_bytes", "gauge", "Memory that is really there.", process.resident as f64);
    line("virtual_memory_bytes", "gauge", "Memory that was asked for.", process.virtual_memory as f64);
    line("threads", "gauge", "Threads.", process.threads as f64);
    line("open_fds", "gauge", "Open files and connections.", process.open_files as f64);
}

/// The text so far.
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ =
            writeln!(self.0, "# HELP interlock_guard_{name} {help}\n# TYPE interlock_guard_{name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.0, "interlock_guard_{name}");
        for (index, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"", if index == 0 { '{' } else { ',' });
            for c in text.chars() {
                match c {
                    '\\' => self.0.push_str("\\\\"),
                    '"' => self.0.push_str("\\\""),
                    '\n' => self.0.push_str("\\n"),
                    // Readers split lines differently; nobody misses what these would have done.
                    c if is_harmful(c) => self.0.push('\u{fffd}'),
                    c => self.0.push(c),
                }
            }
            self.0.push('"');
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }
}
