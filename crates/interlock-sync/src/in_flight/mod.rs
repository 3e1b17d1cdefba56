//! In-flight limits: so many calls of one caller at once.
//!
//! | limit | for | waits | a holder that dies |
//! |---|---|---|---|
//! | [`InFlight`] | one process | in order of arrival, notified | takes its process with it |
//! | [`SharedInFlight`] | many processes on one [`Store`](crate::store::Store) | by asking again, in no order | its permits come back after their time |
//!
//! Permits are counted in the entry of their caller, and the entry stays as long as one is out. Where entries are evicted by a timer
//! instead, a caller whose calls take longer gets a fresh entry and twice the limit.

mod answer;
mod keep_alive;
mod local;
mod shard;
mod shared;
mod shared_permit;
#[cfg(test)]
mod tests_local;
#[cfg(test)]
mod tests_shared;
mod waiting;

pub use self::{
    answer::{Acquired, Full, FullReason},
    local::{InFlight, OwnedPermit, Permit},
    shared::SharedInFlight,
    shared_permit::SharedPermit,
};
