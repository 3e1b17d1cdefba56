//! What an operator can see: all of it made from [`event::Watch`](crate::event::Watch), on a listener of its own.
//!
//! | module | what |
//! |---|---|
//! | `hub` | [`Ops`]: what is opened, kept going and closed |
//! | `note` | takes note of every event and hands it to the others |
//! | `table` | the calls that are here now |
//! | `tally` | counters and histograms, as Prometheus reads them |
//! | `meter` | the same counters, sent as OTLP over HTTP |
//! | `audit` | one line of JSON for every decision and every ending |
//! | `log` | what people should hear of, so that a flood does not drown them |
//! | `trace` | spans, as OpenTelemetry names them, sent as OTLP over HTTP |
//! | `live` | the state of this moment as JSON, and the page that shows it |
//! | `admin` | the listener: who may ask, and for how long |
//! | `lines` | how text gets to a file or a terminal without anybody waiting for it |

mod admin;
mod audit;
mod doubts;
mod hub;
mod lines;
mod live;
mod log;
mod meter;
mod note;
mod options;
mod ready;
mod table;
mod tally;
mod text;
mod trace;

#[cfg(test)]
mod tests;

pub use self::{
    hub::Ops,
    log::LogFormat,
    options::{
        AdminOptions, AuditOptions, LogOptions, MetricOptions, OpsError, OpsOptions, TraceOptions, Watched,
    },
};
