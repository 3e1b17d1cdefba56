//! What is stored of an audit.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
};

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::JobError;

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// A Git address, a package, or the name of an archive behind `archive:`.
    pub target: String,
    /// Who asked: the name of a token, or an address.
    pub caller: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Whether an archive came with it.
    #[serde(default)]
    pub uploaded: bool,
}

/// What is being done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// In this step,
    pub step: u32,
    /// of so many,
    pub of: u32,
    /// this.
    pub doing: String,
}

/// What came of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// What was asked.
    pub asked: Asked,
    /// When it ended, in milliseconds since 1970.
    pub ended: u64,
    /// How long it took, in milliseconds, by the worker that ended it.
    pub took: u64,
    /// How many workers began.
    pub tries: u32,
    /// The score, where there is one.
    pub score: Option<u8>,
    /// The grade, where there is one.
    pub grade: Option<String>,
    /// How many findings there are of each severity.
    #[serde(default)]
    pub findings: BTreeMap<String, u32>,
    /// Why there is no report.
    pub failure: Option<String>,
}

/// How an audit stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nobody works on it yet.
    Queued(Asked),
    /// Somebody does.
    Running(Asked, Progress),
    /// It has ended.
    Done(Done),
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// The page.
    Html,
    /// For programs.
    Json,
    /// For code scanning.
    Sarif,
    /// For a pull request.
    Markdown,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Html, Self::Json, Self::Sarif, Self::Markdown];

    /// How files of it end.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Json => "json",
            Self::Sarif => "sarif",
            Self::Markdown => "md",
        }
    }
}

/// The texts of a report, compressed.
pub type Report = BTreeMap<Form, Vec<u8>>;

/// A text is at most this long when it is read back: what is stored is ours, but a store is shared.
const LONGEST: u64 = 256 << 20;

/// Compresses a text.
pub(crate) fn compress(text: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let _ = out.write_all(text);
    out.finish().unwrap_or_default()
}

pub(super) fn expand(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    GzDecoder::new(bytes).take(LONGEST).read_to_end(&mut text).ok()?;
    Some(text)
}

pub(super) fn encode(value: &impl Serialize) -> Vec<u8> {
    // Plain structures with text as keys can always be written.
    serde_json::to_vec(value).unwrap_or_default()
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8], key: &str) -> Result<T, JobError> {
    serde_json::from_slice(bytes).map_err(|_| JobError::Foreign(key.to_owned()))
}
