//! The primitives of the model checker, under the names that the gate imports.

pub(crate) use std::sync::PoisonError;

pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard, atomic};
