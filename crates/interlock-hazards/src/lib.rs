//! The catalogue: every way in which concurrent calls go wrong, one folder each.
//!
//! A folder holds all that is known of its hazard: `mod.rs` names it, `doc.md` is its page, `remedy.rs` says what stops it. Adding
//! one is a folder and a line here; `cargo xtask new hazard NAME` writes both, and `cargo xtask gen` the list in [`ALL`].

mod all;
mod candidates;
mod check_act;
mod chosen_names;
mod claims;
mod decision;
mod dependences;
mod fields;
mod found_entries;
mod gates;
mod hazard;
mod issue;
mod keys;
mod lexicon;
mod limits;
mod meet;
mod policies;
mod reason;
mod requests;
mod rows;
mod unproven;
pub mod view;
mod words;

// catalogue: begin
pub mod auth_check_then_act;
pub mod call_after_close;
pub mod db_check_then_act;
pub mod duplicate_load;
pub mod file_check_then_act;
pub mod interleaved_output;
pub mod leak_on_partial_init;
pub mod lease_without_fence;
pub mod lock_not_released;
pub mod lost_update;
pub mod missing_idempotency_key;
pub mod no_caller_limit;
pub mod non_atomic_file_replace;
pub mod non_atomic_rate_limit;
pub mod retry_storm;
pub mod shared_session_state;
pub mod stale_read_across_await;
pub mod unprotected_multi_step;
pub mod unsafe_lock_map;
pub mod unversioned_record;
// catalogue: end

pub use all::ALL;
pub use decision::{Decision, Outcome};
pub use hazard::{Example, Face, Hazard, Probe, Rule, find, nearest};
pub use issue::Issue;
pub use lexicon::{Lexicon, UnknownTopic};
pub use reason::Reason;
pub use unproven::surest;
pub use words::words;
