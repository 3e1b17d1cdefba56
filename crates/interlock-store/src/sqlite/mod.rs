//! `sqlite:PATH`: one file, for all processes of one machine.
//!
//! Every change runs in our own code inside a transaction that holds the file's write lock, with the decisions of
//! [`interlock_sync::decide`]. One thread per store writes. It takes all operations that wait, and that come while it runs them, into one
//! transaction (again, each in a savepoint of its own, if one of them fails), commits once and only then answers: what was answered is on
//! the disk, and many callers share one `fsync`. Reads run on connections of their own and see what was committed, no more.
//!
//! An operation that was handed to the writer takes effect even if its future is dropped. It does so before [`Options::timeout`] is
//! over or never: one that has waited too long for its turn is turned away unrun. Because [`applied`] queues behind what was handed
//! over, its answer after a lost one is final for this process.
//!
//! The file must be on a local disk, since WAL needs memory that all processes share; while it is in use it must not be moved,
//! replaced or removed, and a store that notices refuses to go on. Its companions `PATH-wal` and `PATH-shm` belong to it.
//!
//! [`applied`]: interlock_sync::store::Store::applied

mod connect;
mod desk;
mod fault;
mod job;
mod patience;
mod place;
mod readers;
mod schema;
mod store;
mod tables;
mod time;
mod values;
mod writer;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::{place::Place, store::SqliteStore};
use crate::{Backend, OpenError, Options, open::Opening};

/// The entry in the list of backends.
pub const BACKEND: Backend = Backend { schemes: &["sqlite"], example: "sqlite:PATH", open, caveats: None };

fn open(url: &str, options: &Options) -> Opening {
    let (url, options) = (url.to_owned(), options.clone());
    Box::pin(async move {
        let place = Place::of_url(&url)?;
        let opened = tokio::task::spawn_blocking(move || SqliteStore::open(&place, &options)).await;
        let unreachable = |source| OpenError::Unreachable { url: url.clone(), source };
        match opened {
            Ok(Ok(store)) => Ok(Arc::new(store) as _),
            Ok(Err(problem)) => Err(unreachable(problem.into())),
            Err(ended) => Err(unreachable(ended.into())),
        }
    })
}
