//! What the library's files take from `crate::prim`: mutexes under the scheduler's command, and hashes that are the same in every
//! run, so that a schedule can be replayed.

pub(crate) use std::{
    hash::{BuildHasherDefault, DefaultHasher},
    sync::OnceLock,
};

pub(crate) use shuttle::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) type Hashing = BuildHasherDefault<DefaultHasher>;

pub(crate) fn hashing() -> Hashing {
    Hashing::default()
}

/// Few, so that keys meet.
pub(crate) fn default_shards() -> usize {
    2
}
