//! What each tool answers: structured, with a schema, under the names that agents read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each answer. They can be read back too, for tests and for those who call the ledger from Rust.
macro_rules! answers {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }
    )*};
}

answers! {
    /// Credits have moved from one account to another.
    Moved {
        /// Who paid.
        from_user_id: String,
        /// Who was paid.
        to_user_id: String,
        /// How much.
        amount: i64,
        /// What the payer has left.
        from_balance: i64,
        /// What the payee has now.
        to_balance: i64,
    }
    /// An account.
    Account {
        /// Whose.
        user_id: String,
        /// How many credits are on it.
        balance: i64,
        /// Raised by every change.
        version: u64,
    }
    /// A report, without its content.
    Report {
        /// Which.
        report_id: String,
        /// The SHA-256 of its content, for `update_report`.
        hash: String,
        /// How long it is.
        bytes: u64,
    }
    /// A report with its content.
    ReportContent {
        /// Which.
        report_id: String,
        /// What it says.
        content: String,
        /// The SHA-256 of that, for `update_report`.
        hash: String,
    }
    /// A user's file after an entry was added.
    UserFile {
        /// Whose.
        user_id: String,
        /// All its entries, the new one last.
        entries: Vec<String>,
    }
    /// A document, without its body.
    DocumentSaved {
        /// Which.
        id: String,
        /// Its version now.
        version: u64,
    }
    /// A document.
    Document {
        /// Which.
        id: String,
        /// What it says.
        body: String,
        /// Its version, for `update_document`.
        version: u64,
    }
    /// A file that is gone.
    Deleted {
        /// Which.
        file_id: String,
    }
    /// A file in the registry.
    File {
        /// Which.
        file_id: String,
        /// Whose it is.
        owner_id: String,
    }
    /// The caller's files.
    Files {
        /// All of them.
        files: Vec<File>,
    }
    /// What a caller has used.
    Usage {
        /// Who.
        caller: String,
        /// How much, in all.
        used: i64,
    }
    /// An order.
    Order {
        /// Which.
        order_id: String,
        /// Whose.
        user_id: String,
        /// What it costs.
        amount: i64,
        /// How far it is.
        status: Status,
        /// The charge that paid for it, once there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charge_id: Option<String>,
    }
}

/// How far an order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Status {
    /// Nobody has paid yet.
    Pending,
    /// Somebody is about to.
    Processing,
    /// It is paid for.
    Completed,
    /// The provider declined.
    Declined,
    /// The provider was asked and its answer was lost: it may be paid for. Calling `process_order` again settles it, without a second charge.
    InDoubt,
}
