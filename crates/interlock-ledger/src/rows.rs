//! What the ledger keeps under which key.

use interlock_sync::store::{Content, Key, Record};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{answer::Status, refusal::Refusal};

/// The kinds of things that are kept. The words stand in keys and in refusals.
pub(crate) const ACCOUNT: &str = "account";
pub(crate) const ORDER: &str = "order";
pub(crate) const DOCUMENT: &str = "document";
pub(crate) const FILE: &str = "file";
pub(crate) const USAGE: &str = "usage";

/// An order as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderRow {
    pub(crate) user: String,
    pub(crate) amount: i64,
    pub(crate) status: Status,
    pub(crate) charge: Option<String>,
    /// The attempt that left the charge in doubt, if one has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) doubt: Option<Doubt>,
}

/// An attempt to pay whose outcome nobody knows yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Doubt {
    /// The fence with which it can be settled.
    pub(crate) fence: u64,
    /// How it was to be paid.
    pub(crate) payment_method: String,
}

/// A file of the registry as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRow {
    pub(crate) owner: String,
}

/// The key of a thing. Ids are checked when they are read, so this fails only for what never was an id.
pub(crate) fn key(kind: &str, id: &str) -> Result<Key, Refusal> {
    Key::new(format!("{kind}:{id}")).map_err(Refusal::internal)
}

/// What a number record holds.
pub(crate) fn number(record: &Record) -> Result<i64, Refusal> {
    match record.content {
        Content::Number(number) => Ok(number),
        Content::Bytes(_) => Err(Refusal::internal("a balance is no number")),
    }
}

/// What a record of text holds.
pub(crate) fn text(record: Record) -> Result<String, Refusal> {
    match record.content {
        Content::Bytes(bytes) => String::from_utf8(bytes).map_err(Refusal::internal),
        Content::Number(_) => Err(Refusal::internal("a text is a number")),
    }
}

/// What a structured record holds.
pub(crate) fn row<T: DeserializeOwned>(record: &Record) -> Result<T, Refusal> {
    match &record.content {
        Content::Bytes(bytes) => serde_json::from_slice(bytes).map_err(Refusal::internal),
        Content::Number(_) => Err(Refusal::internal("a row is a number")),
    }
}

/// The content of a structured record.
pub(crate) fn content(row: &impl Serialize) -> Result<Content, Refusal> {
    serde_json::to_vec(row).map(Content::Bytes).map_err(Refusal::internal)
}

/// The refusal for what is not there.
pub(crate) fn missing(kind: &str, id: &str) -> Refusal {
    Refusal::Missing { kind: kind.to_owned(), id: id.to_owned() }
}
