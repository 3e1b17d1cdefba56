//! What the libraries of TypeScript do, in the text form of the IR.
//!
//! Sources of calls are written by hand: `on("pg.Pool", "pool")` is an object, [`Script`] calls its methods one after another.

mod builders;
mod databases;
mod drivers;
mod files;
mod locks;
mod mappers;
mod outside;
mod paths;
mod python;
mod script;
mod services;
mod stores;
mod whole;

use std::sync::LazyLock;

use super::Knowledge;

const EFFECTS: &str = include_str!("../../typescript/effects.toml");

/// What TypeScript's file says, read once.
fn knowledge() -> &'static Knowledge {
    static READ: LazyLock<Knowledge> = LazyLock::new(|| Knowledge::parse(EFFECTS).unwrap());
    &READ
}
