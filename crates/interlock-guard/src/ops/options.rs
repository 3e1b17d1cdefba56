//! What an operator may ask for.

use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

use interlock_sync::store::Store;

use super::log::LogFormat;

/// Everything that the operations side is told at its start. By default it only counts.
#[derive(Default)]
pub struct OpsOptions {
    /// The upstreams, as the policy names them.
    pub upstreams: Vec<Watched>,
    /// The store that readiness asks for.
    pub store: Option<Arc<dyn Store>>,
    /// The audit log.
    pub audit: Option<AuditOptions>,
    /// The log for people.
    pub log: Option<LogOptions>,
    /// Traces.
    pub traces: Option<TraceOptions>,
    /// Counters that are sent, beside being shown.
    pub metrics: Option<MetricOptions>,
    /// The admin listener.
    pub admin: AdminOptions,
}

/// An upstream that readiness looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// What it is one of: without one of them the guard is not ready.
    pub group: String,
    /// Its name.
    pub name: String,
    /// Whether the guard is not ready without it.
    pub is_required: bool,
}

/// The audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditOptions {
    /// The file, which is appended to, and made if it is not there (readable by its owner only).
    pub path: PathBuf,
    /// How many bytes of a call's arguments are written down; none of them unless somebody asks.
    pub arguments: Option<usize>,
}

/// The log for people.
pub struct LogOptions {
    /// How it is written.
    pub format: LogFormat,
    /// Where to. A thread of its own writes, so it may block.
    pub writer: Box<dyn io::Write + Send>,
}

/// Where traces go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceOptions {
    /// The collector, such as `http://127.0.0.1:4318`; spans go to `/v1/traces` below it.
    pub endpoint: String,
    /// What this guard is called there.
    pub service: String,
    /// Of how many calls without a parent one is traced, in thousandths. A call with a parent does as its parent says.
    pub per_mille: u16,
    /// What is added to every request, such as a key.
    pub headers: Vec<(String, String)>,
}

/// Where counters go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricOptions {
    /// The collector, such as `http://127.0.0.1:4318`; counters go to `/v1/metrics` below it.
    pub endpoint: String,
    /// What this guard is called there.
    pub service: String,
    /// How often they are sent.
    pub every: Duration,
    /// What is added to every request, such as a key.
    pub headers: Vec<(String, String)>,
}

/// The admin listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminOptions {
    /// The names by which the listener may be asked, beside addresses and `localhost`. Without any, a listener on loopback refuses all
    /// other names, so that no web page can make a name of its own point here; one that is open to a network takes every name.
    pub hosts: Vec<String>,
    /// How many connections at once.
    pub connections: usize,
}

/// Why the operations side could not start.
#[derive(Debug, thiserror::Error)]
pub enum OpsError {
    /// The audit log cannot be written, and a guard that was told to keep one does not run without it.
    #[error("open the audit log {path}: {source}", path = .path.display())]
    Audit {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("start a thread: {0}")]
    Thread(#[source] io::Error),
    /// The collector's address is none.
    #[error("read the address of the collector \"{endpoint}\": {reason}")]
    Endpoint {
        /// What was given.
        endpoint: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl TraceOptions {
    /// What the environment asks for, by the variables that all programs with OpenTelemetry read: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`, without which nothing is traced, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`,
    /// `OTEL_TRACES_SAMPLER_ARG` (a ratio from 0 to 1) and `OTEL_SDK_DISABLED`.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        if given("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        let endpoint =
            given("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(|| given("OTEL_EXPORTER_OTLP_ENDPOINT"))?;
        let ratio = given("OTEL_TRACES_SAMPLER_ARG").and_then(|text| text.parse::<f64>().ok()).unwrap_or(1.0);
        Some(Self {
            endpoint,
            service: service(&given),
            per_mille: (ratio.clamp(0.0, 1.0) * 1000.0).round() as u16,
            headers: headers(&given),
        })
    }
}

/// Between two sendings, unless told otherwise, as in OpenTelemetry's own SDKs; and never less than this.
const EVERY: Duration = Duration::from_secs(60);
const LEAST: Duration = Duration::from_millis(100);

impl MetricOptions {
    /// What the environment asks for: `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`, without which nothing is sent,
    /// `OTEL_METRICS_EXPORTER` (`none` for nothing), `OTEL_METRIC_EXPORT_INTERVAL` (in ms), `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and
    /// `OTEL_SDK_DISABLED`.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_off = given("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || given("OTEL_METRICS_EXPORTER").is_some_and(|exporter| exporter != "otlp");
        if is_off {
            return None;
        }
        let endpoint =
            given("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT").or_else(|| given("OTEL_EXPORTER_OTLP_ENDPOINT"))?;
        let every = given("OTEL_METRIC_EXPORT_INTERVAL").and_then(|text| text.parse().ok());
        Some(Self {
            endpoint,
            service: service(&given),
            every: every.map_or(EVERY, Duration::from_millis).max(LEAST),
            headers: headers(&given),
        })
    }
}

fn service(given: &impl Fn(&str) -> Option<String>) -> String {
    given("OTEL_SERVICE_NAME").unwrap_or_else(|| "interlock-guard".to_owned())
}

fn headers(given: &impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let pair = |text: &str| {
        let (name, value) = text.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    given("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default().split(',').filter_map(pair).collect()
}

impl Default for AdminOptions {
    fn default() -> Self {
        Self { hosts: Vec::new(), connections: 64 }
    }
}

impl fmt::Debug for OpsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpsOptions")
            .field("upstreams", &self.upstreams)
            .field("audit", &self.audit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Option<TraceOptions> {
        TraceOptions::from_environment(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_is_traced_unless_the_environment_names_a_collector() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), None);
        assert_eq!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("OTEL_SDK_DISABLED", "True")]), None);
    }

    #[test]
    fn counters_are_sent_where_traces_go_unless_that_is_switched_off() {
        let read = |variables: &[(&str, &str)]| {
            MetricOptions::from_environment(|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(read(&[]), None);
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c");
        assert_eq!(read(&[all, ("OTEL_METRICS_EXPORTER", "none")]), None);
        assert_eq!(read(&[all, ("OTEL_SDK_DISABLED", "true")]), None);
        assert_eq!(read(&[all]).map(|options| options.every), Some(EVERY));
        let own = read(&[
            all,
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x=y"),
        ])
        .unwrap();
        assert_eq!((own.endpoint.as_str(), own.every), ("http://m", LEAST));
        assert_eq!(own.headers, [("x".to_owned(), "y".to_owned())]);
    }

    #[test]
    fn the_environment_says_where_as_whom_and_how_many() {
        let options = read(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a=b, x-other = c,broken"),
            ("OTEL_SERVICE_NAME", "guard-1"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ])
        .unwrap();
        let headers =
            [("x-key", "a=b"), ("x-other", "c")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            (options.endpoint.as_str(), options.service.as_str(), options.per_mille),
            ("http://c:4318", "guard-1", 250)
        );
        assert_eq!(options.headers, headers);
        let wild =
            read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), ("OTEL_TRACES_SAMPLER_ARG", "NaN")]).unwrap();
        assert_eq!((wild.service.as_str(), wild.per_mille), ("interlock-guard", 0));
    }
}
