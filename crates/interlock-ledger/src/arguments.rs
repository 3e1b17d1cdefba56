//! What each tool is given, under the names that agents send.

use schemars::JsonSchema;
use serde::Deserialize;

pub use crate::values::{Amount, Id, Name, Text};

/// Each tool's arguments; a field that a tool does not know is refused, because it is a misspelt one.
macro_rules! arguments {
    ($($(#[$about:meta])* $tool:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $tool {
            $($(#[$doc])* pub $field: $type,)*
        }
    )*};
}

arguments! {
    /// Of `transfer_credits`.
    TransferCredits {
        /// The account that pays.
        from_user_id: Id,
        /// The account that is paid.
        to_user_id: Id,
        /// How many credits.
        amount: Amount,
    }
    /// Of `spend_credits`.
    SpendCredits {
        /// The account that pays.
        user_id: Id,
        /// How many credits.
        amount: Amount,
        /// What for; kept in the audit log.
        reason: Text,
    }
    /// Of `debit_balance` and `credit_balance`.
    ChangeBalance {
        /// The account.
        user_id: Id,
        /// How many credits.
        amount: Amount,
    }
    /// Of `get_account`.
    GetAccount {
        /// The account.
        user_id: Id,
    }
    /// Of `process_order`.
    ProcessOrder {
        /// The order.
        order_id: Id,
        /// Whose order it is.
        user_id: Id,
        /// How it is paid for.
        payment_method_id: Id,
    }
    /// Of `get_order`.
    GetOrder {
        /// The order.
        order_id: Id,
    }
    /// Of `create_report` and `save_report`.
    WriteReport {
        /// The report, as a file name without slashes.
        report_id: Name,
        /// What it shall say.
        content: Text,
    }
    /// Of `update_report`.
    UpdateReport {
        /// The report.
        report_id: Name,
        /// What it shall say.
        content: Text,
        /// The hash of the content that this replaces, as `read_report` gave it.
        hash: Id,
    }
    /// Of `read_report`.
    ReadReport {
        /// The report.
        report_id: Name,
    }
    /// Of `process_user_file`.
    ProcessUserFile {
        /// Whose file.
        user_id: Name,
        /// The entry to add.
        entry: Text,
    }
    /// Of `create_document`.
    CreateDocument {
        /// The new document.
        id: Id,
        /// What it shall say.
        body: Text,
    }
    /// Of `update_document`.
    UpdateDocument {
        /// The document.
        id: Id,
        /// What it shall say.
        body: Text,
        /// The version that this replaces, as `get_document` gave it.
        version: u64,
    }
    /// Of `get_document`.
    GetDocument {
        /// The document.
        id: Id,
    }
    /// Of `delete_file`.
    DeleteFile {
        /// The file.
        file_id: Id,
    }
    /// Of `transfer_file`.
    TransferFile {
        /// The file.
        file_id: Id,
        /// Its new owner.
        to_user_id: Id,
    }
    /// Of `increment_usage`.
    IncrementUsage {
        /// How much was used.
        amount: Amount,
    }
    /// Of tools that need to be told nothing.
    Nothing {}
}
