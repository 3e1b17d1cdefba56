//! What each tool is given, under the names that agents send. The examples are what `--seed` makes.

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
        #[schemars(example = &"alice")]
        from_user_id: Id,
        /// The account that is paid.
        #[schemars(example = &"bob")]
        to_user_id: Id,
        /// How many credits.
        amount: Amount,
    }
    /// Of `spend_credits`.
    SpendCredits {
        /// The account that pays.
        #[schemars(example = &"alice")]
        user_id: Id,
        /// How many credits.
        amount: Amount,
        /// What for; kept in the audit log.
        reason: Text,
    }
    /// Of `debit_balance` and `credit_balance`.
    ChangeBalance {
        /// The account.
        #[schemars(example = &"alice")]
        #[schemars(example = &"bob")]
        user_id: Id,
        /// How many credits.
        amount: Amount,
    }
    /// Of `get_account`.
    GetAccount {
        /// The account.
        #[schemars(example = &"alice")]
        #[schemars(example = &"bob")]
        user_id: Id,
    }
    /// Of `process_order`.
    ProcessOrder {
        /// The order.
        #[schemars(example = &"order-1")]
        order_id: Id,
        /// Whose order it is.
        #[schemars(example = &"alice")]
        user_id: Id,
        /// How it is paid for.
        #[schemars(example = &"card-1")]
        payment_method_id: Id,
    }
    /// Of `get_order`.
    GetOrder {
        /// The order.
        #[schemars(example = &"order-1")]
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
        #[schemars(example = &"alice")]
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
        #[schemars(example = &"doc-1")]
        id: Id,
        /// What it shall say.
        body: Text,
        /// The version that this replaces, as `get_document` gave it.
        version: u64,
    }
    /// Of `get_document`.
    GetDocument {
        /// The document.
        #[schemars(example = &"doc-1")]
        id: Id,
    }
    /// Of `delete_file`.
    DeleteFile {
        /// The file.
        #[schemars(example = &"file-1")]
        file_id: Id,
    }
    /// Of `transfer_file`.
    TransferFile {
        /// The file.
        #[schemars(example = &"file-1")]
        file_id: Id,
        /// Its new owner.
        #[schemars(example = &"bob")]
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
