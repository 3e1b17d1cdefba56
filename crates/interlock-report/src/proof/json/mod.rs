//! A proof as JSON, the form that scripts read; and the forms of its parts, which a replay is made of as well.
//!
//! Times are whole nanoseconds, counted from the first request.

pub(super) mod call;
pub(super) mod run;
mod wire;

use interlock_model::ProofReport;
use serde::Deserialize;

/// The version that is written and read.
pub const VERSION: u64 = 1;

/// Why a text is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No JSON, or not the fields that a report has.
    #[error("not a report of `interlock prove --format json`")]
    Malformed(#[source] serde_json::Error),
    /// A version that another release writes.
    #[error("version {0} of the report is not known here; this release reads version {VERSION}")]
    Version(u64),
}

/// Writes a report.
#[must_use]
pub fn write(report: &ProofReport) -> String {
    crate::encode::json(&wire::Report::from(report))
}

/// A report as a part of something larger.
pub(crate) fn wire(report: &ProofReport) -> impl serde::Serialize + use<> {
    wire::Report::from(report)
}

/// Reads a report back. Fields that are not known are passed over.
///
/// # Errors
///
/// When the text is no JSON, is of another version, or lacks what a report has.
pub fn read(text: &str) -> Result<ProofReport, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let head: Head = serde_json::from_str(text).map_err(ReadError::Malformed)?;
    if head.version != VERSION {
        return Err(ReadError::Version(head.version));
    }
    let report: wire::Report = serde_json::from_str(text).map_err(ReadError::Malformed)?;
    Ok(report.into())
}

/// Read first, because another version may have other fields.
#[derive(Deserialize)]
#[serde(expecting = "an object with a version")]
pub(super) struct Head {
    pub(super) version: u64,
}
