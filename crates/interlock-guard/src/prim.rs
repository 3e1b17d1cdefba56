//! Where the waiting line gets its mutex from: one place, so that the model test can compile the same file with a mutex whose schedule it
//! commands (`tests/line_model`).

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
