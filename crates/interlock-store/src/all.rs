//! Written by `cargo xtask gen` from the module lines of `lib.rs`; do not edit.

use crate::Backend;

/// Every backend, in the order of the modules.
pub(crate) static ALL: &[Backend] = &[
    crate::memory::BACKEND,
    #[cfg(feature = "postgres")]
    crate::postgres::BACKEND,
    #[cfg(feature = "redis")]
    crate::redis::BACKEND,
    #[cfg(feature = "sqlite")]
    crate::sqlite::BACKEND,
];
