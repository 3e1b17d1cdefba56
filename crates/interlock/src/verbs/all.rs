//! Written by `cargo xtask gen` from the module lines of `mod.rs`; do not edit.

use super::Verb;

/// Every verb, in the order of the modules.
pub(super) static ALL: &[Verb] = &[
    super::audit::VERB,
    super::completions::VERB,
    super::confine::VERB,
    super::doubts::VERB,
    super::explain::VERB,
    super::guard::VERB,
    super::ledger::VERB,
    super::payment_provider::VERB,
    super::prove::VERB,
    super::scan::VERB,
    super::serve::VERB,
];
