//! Written by `cargo xtask gen` from the module lines of `lib.rs`; do not edit.

use crate::Hazard;

/// Every hazard, in the order of the modules.
pub static ALL: &[Hazard] = &[
    crate::auth_check_then_act::HAZARD,
    crate::call_after_close::HAZARD,
    crate::db_check_then_act::HAZARD,
    crate::duplicate_load::HAZARD,
    crate::file_check_then_act::HAZARD,
    crate::interleaved_output::HAZARD,
    crate::leak_on_partial_init::HAZARD,
    crate::lease_without_fence::HAZARD,
    crate::lock_not_released::HAZARD,
    crate::lost_update::HAZARD,
    crate::missing_idempotency_key::HAZARD,
    crate::no_caller_limit::HAZARD,
    crate::non_atomic_file_replace::HAZARD,
    crate::non_atomic_rate_limit::HAZARD,
    crate::retry_storm::HAZARD,
    crate::shared_session_state::HAZARD,
    crate::stale_read_across_await::HAZARD,
    crate::unprotected_multi_step::HAZARD,
    crate::unsafe_lock_map::HAZARD,
    crate::unversioned_record::HAZARD,
];
