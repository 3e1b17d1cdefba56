//! What each topic can do, as traits: done [safely](safe) with the primitives, and [naively](naive) with the gap that such tools usually
//! have. Whoever holds a [`Twin`] does not know which it is.

pub mod naive;
pub mod safe;

use std::{any::Any, num::NonZeroU32, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use interlock_sync::{
    adapt::{InvalidPolicy, Warden},
    store::{InvalidQuota, Store},
};

use crate::{
    Log, answer,
    arguments::{
        ChangeBalance, CreateDocument, ProcessOrder, ProcessUserFile, SpendCredits, TransferCredits,
        UpdateDocument, UpdateReport, WriteReport,
    },
    audit::Call,
    payments::Payments,
    refusal::Refusal,
};

/// What a tool answers.
pub type Answer<T> = Result<T, Refusal>;

/// Accounts with credits.
#[async_trait]
pub trait Credits: Send + Sync {
    /// Moves credits from one account to another.
    async fn transfer(&self, call: &Call, wish: &TransferCredits) -> Answer<answer::Moved>;
    /// Takes credits for a reason.
    async fn spend(&self, call: &Call, wish: &SpendCredits) -> Answer<answer::Account>;
    /// Takes credits.
    async fn debit(&self, call: &Call, wish: &ChangeBalance) -> Answer<answer::Account>;
    /// Gives credits.
    async fn credit(&self, call: &Call, wish: &ChangeBalance) -> Answer<answer::Account>;
    /// How many there are.
    async fn account(&self, user: &str) -> Answer<answer::Account>;
}

/// Orders that are paid for outside.
#[async_trait]
pub trait Orders: Send + Sync {
    /// Has an order paid for.
    async fn process(&self, call: &Call, wish: &ProcessOrder) -> Answer<answer::Order>;
    /// How far it is.
    async fn order(&self, id: &str) -> Answer<answer::Order>;
}

/// Reports and users' files, which lie in a folder.
#[async_trait]
pub trait Reports: Send + Sync {
    /// Makes a report that is not there yet.
    async fn create(&self, call: &Call, wish: &WriteReport) -> Answer<answer::Report>;
    /// Writes a report over whatever is there.
    async fn save(&self, call: &Call, wish: &WriteReport) -> Answer<answer::Report>;
    /// Writes a report over the content that was read.
    async fn update(&self, call: &Call, wish: &UpdateReport) -> Answer<answer::Report>;
    /// What it says.
    async fn read(&self, id: &str) -> Answer<answer::ReportContent>;
    /// Adds an entry to a user's file.
    async fn add_entry(&self, call: &Call, wish: &ProcessUserFile) -> Answer<answer::UserFile>;
}

/// Documents with versions.
#[async_trait]
pub trait Documents: Send + Sync {
    /// Makes a document that is not there yet.
    async fn create(&self, call: &Call, wish: &CreateDocument) -> Answer<answer::DocumentSaved>;
    /// Writes a document over the version that was read.
    async fn update(&self, call: &Call, wish: &UpdateDocument) -> Answer<answer::DocumentSaved>;
    /// What it says.
    async fn document(&self, id: &str) -> Answer<answer::Document>;
}

/// Files that belong to somebody.
#[async_trait]
pub trait FileRegistry: Send + Sync {
    /// Removes a file of the caller's.
    async fn delete(&self, call: &Call, id: &str) -> Answer<answer::Deleted>;
    /// Gives a file of the caller's to somebody else.
    async fn transfer(&self, call: &Call, id: &str, to: &str) -> Answer<answer::File>;
    /// The caller's files.
    async fn list(&self, call: &Call) -> Answer<answer::Files>;
}

/// What each caller has used.
#[async_trait]
pub trait Usage: Send + Sync {
    /// Counts.
    async fn increment(&self, call: &Call, amount: i64) -> Answer<answer::Usage>;
    /// How much it is.
    async fn usage(&self, call: &Call) -> Answer<answer::Usage>;
}

/// How often and how many at once a caller may, where the server counts for itself.
#[async_trait]
pub trait Limits: Send + Sync {
    /// Lets a call in; it is under way until what this returns is dropped.
    async fn admit(&self, caller: &str) -> Answer<Admitted>;
}

/// Holds whatever a call must give back.
pub type Admitted = Box<dyn Any + Send + Sync>;

/// One of the two.
#[derive(Clone)]
#[expect(missing_docs, reason = "each field is named as its trait, which says what it is")]
pub struct Twin {
    pub credits: Arc<dyn Credits>,
    pub orders: Arc<dyn Orders>,
    pub reports: Arc<dyn Reports>,
    pub documents: Arc<dyn Documents>,
    pub files: Arc<dyn FileRegistry>,
    pub usage: Arc<dyn Usage>,
    /// What stands before the tools and decides whether a call may come to them.
    pub warden: Warden,
    /// Who also decides that, behind it, if anybody does.
    pub limits: Option<Arc<dyn Limits>>,
}

/// What a twin is made with.
#[derive(Clone)]
pub struct Parts {
    /// Where records are kept.
    pub store: Arc<dyn Store>,
    /// The folder of reports and users' files.
    pub files: PathBuf,
    /// Where orders are paid for.
    pub payments: Payments,
    /// How many calls a caller may make in a minute.
    pub rate: u32,
    /// How many calls of a caller may be under way.
    pub in_flight: NonZeroU32,
    /// How long a naive twin thinks between its check and its act. With zero it only lets others have their turn.
    pub think: Duration,
    /// Where what nobody asked for is told.
    pub log: Log,
}

/// Why no twin could be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The folder of files cannot be used.
    #[error("failed to open the folder `{}`", .path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the machine said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The rate makes no sense.
    #[error("failed to set the rate limit")]
    Rate(#[from] InvalidQuota),
    /// The limits make no sense.
    #[error("failed to set the limits")]
    Policy(#[from] InvalidPolicy),
}
