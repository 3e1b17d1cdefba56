//! A value that is made once, by whoever needs it first, and kept. [`Once`] is the type to begin with.

mod cell;
#[cfg(test)]
mod tests;

pub use self::cell::Once;
