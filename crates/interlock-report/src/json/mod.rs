//! JSON, the form that scripts read, and that `prove` and `guard` take back with `--from`.
//!
//! What the format does not say does not come back: how far a witness step reaches beyond its first line, how much a proof explored,
//! and which part of the library a remedy names.

pub(crate) mod coverage;
mod policy;
mod wire;

use interlock_model::Report;
use serde::Deserialize;

/// The version that is written and read.
pub const VERSION: u64 = 1;

/// Why a text is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No JSON, or not the fields that a report has.
    #[error("not a report of `interlock scan --format json`")]
    Malformed(#[source] serde_json::Error),
    /// A version that another release writes.
    #[error("version {0} of the report is not known here; this release reads version {VERSION}")]
    Version(u64),
}

/// Writes a report.
#[must_use]
pub fn write(report: &Report) -> String {
    crate::encode::json(&wire::Report::from(report))
}

/// A report as a part of something larger.
pub(crate) fn wire(report: &Report) -> impl serde::Serialize + use<> {
    wire::Report::from(report)
}

/// Reads a report back. Fields that are not known are passed over.
///
/// # Errors
///
/// When the text is no JSON, is of another version, or lacks what a report has.
pub fn read(text: &str) -> Result<Report, ReadError> {
    /// Read first, because another version may have other fields.
    #[derive(Deserialize)]
    #[serde(expecting = "an object with a version")]
    struct Head {
        version: u64,
    }
    // Some editors put a mark in front of what they save.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let head: Head = serde_json::from_str(text).map_err(ReadError::Malformed)?;
    if head.version != VERSION {
        return Err(ReadError::Version(head.version));
    }
    let report: wire::Report = serde_json::from_str(text).map_err(ReadError::Malformed)?;
    Ok(report.into())
}
