//! What the line takes from `crate::prim`: a mutex under the scheduler's command.

pub(crate) use shuttle::sync::{Mutex, MutexGuard, PoisonError};
