//! The library's once cell.

#[path = "../../src/once/cell.rs"]
mod cell;

pub(crate) use self::cell::Once;
