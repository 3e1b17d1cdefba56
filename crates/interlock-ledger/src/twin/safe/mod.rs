//! The twin that holds: each tool written with the primitive that fits it.
//!
//! | topic | primitive |
//! |---|---|
//! | credits | the store's own transfer and add with a floor |
//! | orders | idempotency with a provider key, a fenced lease, conditional writes |
//! | reports | create-new, atomic replace and compare-and-swap under a root; a keyed lock before them |
//! | documents | put if absent, put if version |
//! | files | the owner judged and the record changed in one step |
//! | usage | a counter in the store |
//! | limits | the adapter for rmcp, with a policy on the store |

mod credits;
mod documents;
mod files;
mod limits;
mod orders;
mod reports;
mod usage;

use std::sync::Arc;

use super::{MakeError, Parts, Twin};
use crate::book::Book;

/// Makes the safe twin.
///
/// # Errors
///
/// When the folder cannot be used, or the rate makes no sense.
pub fn make(parts: &Parts) -> Result<Twin, MakeError> {
    let book = Book::new(parts.store.clone(), parts.log.clone());
    Ok(Twin {
        credits: Arc::new(credits::Safe { book: book.clone() }),
        orders: Arc::new(orders::Safe::new(book.clone(), parts.payments.clone())),
        reports: Arc::new(reports::Safe::new(book.clone(), &parts.files)?),
        documents: Arc::new(documents::Safe { book: book.clone() }),
        files: Arc::new(files::Safe { book: book.clone() }),
        usage: Arc::new(usage::Safe::new(book)),
        warden: limits::warden(parts)?,
        limits: None,
    })
}
