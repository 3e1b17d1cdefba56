//! The counters for a collector of OpenTelemetry: what `/metrics` shows, sent as OTLP over HTTP in JSON, now and again.
//!
//! It is made from that page, which is the one place that lists what is counted, so that both say the same.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::pin,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use interlock_sync::retry::Retry;
use serde_json::{Value, json};

use super::{
    options::{MetricOptions, OpsError},
    trace::Collector,
};

/// Sums and histograms count from the start of the guard.
const CUMULATIVE: u8 = 2;

/// Who sends them.
#[derive(Debug)]
pub(super) struct Meter {
    service: String,
    every: Duration,
    collector: Collector,
}

/// The points of one family.
#[derive(Debug, Default)]
struct Family {
    kind: String,
    help: String,
    points: Vec<(Labels, f64)>,
    /// By labels without the bucket's end: the ends and how many are below each, the sum.
    histograms: BTreeMap<Labels, Buckets>,
}

type Labels = Vec<(String, String)>;

#[derive(Debug, Default)]
struct Buckets {
    ends: Vec<(String, f64)>,
    sum: f64,
}

impl Meter {
    /// A sender to a collector.
    pub(super) fn new(options: &MetricOptions) -> Result<Self, OpsError> {
        let collector = Collector::new(&options.endpoint, "/v1/metrics", &options.headers)?;
        Ok(Self { service: options.service.clone(), every: options.every, collector })
    }

    /// Sends the counters of the metrics page to the collector, again and again until `stop`, then once more. What the collector refuses is not
    /// sent again: the next page has all counters.
    pub(super) async fn send(
        &self,
        started: SystemTime,
        page: impl Fn() -> String,
        stop: impl Future<Output = ()>,
    ) {
        let mut stop = pin!(stop);
        let once = async || {
            let request = request(&self.service, &page(), started, SystemTime::now());
            self.collector.deliver(Bytes::from(request.to_string()), &Retry::never()).await;
        };
        loop {
            tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(self.every) => {}
            }
            tokio::select! {
                () = &mut stop => break,
                () = once() => {}
            }
        }
        once().await;
    }
}

/// A request for the collector.
fn request(service: &str, page: &str, started: SystemTime, now: SystemTime) -> Value {
    let (started, now) = (nanos(started), nanos(now));
    let metrics: Vec<_> =
        families(page).into_iter().map(|(name, family)| metric(&name, &family, &started, &now)).collect();
    json!({"resourceMetrics": [{
        "resource": {"attributes": [
            attribute("service.name", service),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
        ]},
        "scopeMetrics": [{
            "scope": {"name": "interlock-guard", "version": env!("CARGO_PKG_VERSION")},
            "metrics": metrics,
        }],
    }]})
}

fn metric(name: &str, family: &Family, started: &str, now: &str) -> Value {
    let point = |labels: &Labels| {
        let attributes: Vec<_> = labels.iter().map(|(name, value)| attribute(name, value)).collect();
        json!({"attributes": attributes, "startTimeUnixNano": started, "timeUnixNano": now})
    };
    let with = |labels: &Labels, more: Value| {
        let mut point = point(labels);
        if let (Some(point), Value::Object(more)) = (point.as_object_mut(), more) {
            point.extend(more);
        }
        point
    };
    let numbers: Vec<_> =
        family.points.iter().map(|(labels, value)| with(labels, json!({"asDouble": value}))).collect();
    let (field, data) = match family.kind.as_str() {
        "histogram" => {
            let points: Vec<_> =
                family.histograms.iter().map(|(labels, buckets)| with(labels, buckets.written())).collect();
            ("histogram", json!({"aggregationTemporality": CUMULATIVE, "dataPoints": points}))
        }
        "counter" => {
            ("sum", json!({"aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": numbers}))
        }
        _ => ("gauge", json!({"dataPoints": numbers})),
    };
    json!({"name": name, "description": family.help, field: data})
}

impl Buckets {
    /// On the page a bucket has all that are shorter, too; here only its own.
    fn written(&self) -> Value {
        let (mut below, mut counts, mut bounds) = (0.0, Vec::new(), Vec::new());
        for (end, count) in &self.ends {
            counts.push(format!("{}", (count - below).max(0.0)));
            below = *count;
            bounds.extend(end.parse::<f64>().ok().filter(|end| end.is_finite()));
        }
        json!({"count": format!("{below}"), "sum": self.sum, "bucketCounts": counts, "explicitBounds": bounds})
    }
}

/// The families of a page, by their names.
fn families(page: &str) -> BTreeMap<String, Family> {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            if let Some((name, help)) = help.split_once(' ') {
                families.entry(name.to_owned()).or_default().help = help.to_owned();
            }
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            if let Some((name, kind)) = kind.split_once(' ') {
                families.entry(name.to_owned()).or_default().kind = kind.to_owned();
            }
        } else if let Some((name, labels, value)) = sample(line) {
            add(&mut families, name, labels, value);
        }
    }
    families
}

fn add(families: &mut BTreeMap<String, Family>, name: &str, mut labels: Labels, value: f64) {
    if let Some(family) = families.get_mut(name) {
        family.points.push((labels, value));
        return;
    }
    let Some((base, part)) = name.rsplit_once('_') else { return };
    let Some(family) = families.get_mut(base) else { return };
    let end = labels.iter().position(|(name, _)| name == "le").map(|at| labels.remove(at).1);
    let buckets = family.histograms.entry(labels).or_default();
    match (part, end) {
        ("bucket", Some(end)) => buckets.ends.push((end, value)),
        ("sum", _) => buckets.sum = value,
        _ => {}
    }
}

/// A line of the page: a name, its labels, a number.
fn sample(line: &str) -> Option<(&str, Labels, f64)> {
    let (head, value) = line.rsplit_once(' ')?;
    let value = value.parse().ok()?;
    let Some((name, mut rest)) = head.split_once('{') else { return Some((head, Labels::new(), value)) };
    let mut labels = Labels::new();
    while let Some((label, behind)) = rest.split_once("=\"") {
        let (mut text, mut chars, mut is_closed) = (String::new(), behind.char_indices(), false);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    rest = behind.get(at + 1..)?;
                    is_closed = true;
                    break;
                }
                '\\' => text.push(match chars.next()?.1 {
                    'n' => '\n',
                    other => other,
                }),
                other => text.push(other),
            }
        }
        if !is_closed {
            return None;
        }
        labels.push((label.trim_start_matches(',').to_owned(), text));
    }
    Some((name, labels, value))
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn nanos(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# HELP a_total How often.\n# TYPE a_total counter\na_total{tool=\"x\\\"y\\\\,=\\n\",reason=\"\"} 3\na_total{tool=\"z\",reason=\"r\"} 1\n\
                        # HELP up Whether.\n# TYPE up gauge\nup 1\n\
                        # HELP t_seconds How long.\n# TYPE t_seconds histogram\nt_seconds_bucket{tool=\"x\",le=\"0.5\"} 2\n\
                        t_seconds_bucket{tool=\"x\",le=\"1\"} 2\nt_seconds_bucket{tool=\"x\",le=\"+Inf\"} 5\nt_seconds_sum{tool=\"x\"} 9.5\nt_seconds_count{tool=\"x\"} 5\n";

    fn sent(page: &str) -> Vec<Value> {
        let request = request("guard", page, UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(1));
        request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone()
    }

    #[test]
    fn counters_are_sums_and_others_gauges_with_the_labels_as_they_were() {
        let metrics = sent(PAGE);
        let points = &metrics[0]["sum"]["dataPoints"];
        assert_eq!(
            (&metrics[0]["name"], &metrics[0]["description"]),
            (&json!("a_total"), &json!("How often."))
        );
        assert_eq!(metrics[0]["sum"]["isMonotonic"], true);
        assert_eq!(points[0]["attributes"][0], attribute("tool", "x\"y\\,=\n"));
        assert_eq!((&points[0]["asDouble"], &points[1]["asDouble"]), (&json!(3.0), &json!(1.0)));
        assert_eq!(points[0]["timeUnixNano"], "1000000000");
        let up = metrics.iter().find(|metric| metric["name"] == "up").unwrap();
        assert_eq!(up["gauge"]["dataPoints"][0]["asDouble"], 1.0);
    }

    #[test]
    fn a_bucket_has_its_own_and_not_those_before_it() {
        let metrics = sent(PAGE);
        let times = metrics.iter().find(|metric| metric["name"] == "t_seconds").unwrap();
        let point = &times["histogram"]["dataPoints"][0];
        assert_eq!(point["bucketCounts"], json!(["2", "0", "3"]));
        assert_eq!((&point["explicitBounds"], &point["count"]), (&json!([0.5, 1.0]), &json!("5")));
        assert_eq!((&point["sum"], &point["attributes"]), (&json!(9.5), &json!([attribute("tool", "x")])));
    }

    #[test]
    fn what_is_no_line_of_a_page_is_passed_over() {
        for page in [
            "",
            "x",
            "x{",
            "x{a=\"b} 1",
            "x{a=\"\\",
            "# TYPE",
            "# HELP x",
            "x{a=\"b\"} y",
            "t_seconds_bucket 1",
        ] {
            assert!(sent(page).is_empty(), "{page}");
        }
    }
}
