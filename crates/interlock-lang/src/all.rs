//! Written by `cargo xtask gen` from the module lines of `lib.rs`; do not edit.

use crate::Language;

/// Every language, in the order of the modules.
pub static ALL: &[Language] = &[crate::go::LANGUAGE, crate::python::LANGUAGE, crate::typescript::LANGUAGE];
