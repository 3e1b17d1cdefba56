//! For tests only: pages that are tests, and real servers that last as long as a test.
//!
//! No crate depends on this one outside its tests; `xtask tidy` sees to that.

pub mod cases;
pub mod packages;
pub mod page;
pub mod service;
pub mod stack;
