//! `postgres://…`: many processes on many machines, one PostgreSQL (12 or later) between them.
//!
//! Every operation is one call of a function in the database, so one round trip and one transaction; `schema/` holds these
//! functions, and says beside each why it is right under READ COMMITTED. What a deployment should know:
//!
//! - **A namespace is a schema**, `interlock_NAME`. Two namespaces share no row, no version and no lock, applications of
//!   different versions can share a database, and `DROP SCHEMA … CASCADE` forgets one of them. The first to open a namespace
//!   makes its schema, under a lock of that transaction, and needs the right to; afterwards the right to use it is enough. A
//!   schema of a later version is refused.
//! - **Transaction pooling works.** Nothing is prepared by name, no session setting and no session lock is used: a statement
//!   takes all it needs along. The price is that the server parses a short `SELECT` each time; the plans inside the functions
//!   are kept.
//! - **A hot number is not a bottleneck.** Additions to one record, and entries of one log, that arrive while another is under
//!   way in the same process travel together in one statement, each with its own answer.
//! - **Hints** of what was given back go by `NOTIFY`, and are heard on one more connection of each process that wants to. A pool that hands
//!   connections out by the transaction loses them, and nothing else.
//! - **Durability** is the server's: what was answered survives its crash as long as `fsync` and `synchronous_commit` are on. Admissions and their
//!   ends wait for it behind their transactions, all of a process together: no lock is kept while the disk writes.
//!   Rate limits alone do not wait for the disk, and may forget the grants of the moment before a crash.
//! - **TLS** goes with the feature `tls`; without it, a URL that demands TLS is refused (`security/`, `address.rs`).

mod address;
mod admission;
mod attempt;
mod durable;
mod fault;
mod fold;
mod hints;
mod lease;
mod limit;
mod line;
mod log;
mod migrate;
mod record;
mod security;
mod store;
#[cfg(test)]
mod tests;
mod wire;

use std::{error::Error, sync::Arc};

use self::{hints::Hints, line::Line, store::PostgresStore};
use crate::{
    Backend, OpenError, Options,
    open::{Opening, without_secrets},
};

/// The entry in the list of backends.
pub const BACKEND: Backend =
    Backend { schemes: &["postgres", "postgresql"], example: "postgres://…", open, caveats: None };

fn open(url: &str, options: &Options) -> Opening {
    let (url, options) = (url.to_owned(), options.clone());
    Box::pin(async move { Ok(Arc::new(connect(&url, &options).await?) as _) })
}

async fn connect(url: &str, options: &Options) -> Result<PostgresStore, OpenError> {
    let (pool, security, config) =
        address::pool(url, options.connections, options.root_certificates.as_deref()).map_err(|reason| {
            OpenError::Malformed { url: without_secrets(url), reason: reason.to_string() }
        })?;
    let unreachable =
        |source: Box<dyn Error + Send + Sync>| OpenError::Unreachable { url: without_secrets(url), source };
    let schema = migrate::up_to_date(&pool, &options.namespace, options.timeout)
        .await
        .map_err(|e| unreachable(e.into()))?;
    let hints = Hints::new(config, security.clone());
    Ok(PostgresStore::new(Line::new(pool, security, schema, options.timeout), options.remember_ops, hints))
}
