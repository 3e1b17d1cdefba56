//! Python.
//!
//! `depth.rs` bounds what nests before anything recurses over it, `parse.rs` is the only file that names the parser's entry points,
//! `bind.rs` finds out what names mean, `lower/` turns a syntax tree into a [`Module`], `resolve/` says where imports lead and which
//! versions of the SDKs a tree asks for; `effects.toml` and `effects/` say what libraries do.

mod bind;
mod depth;
mod fix;
mod lower;
mod parse;
mod resolve;

use std::sync::LazyLock;

use interlock_model::ir::Interleaving;

use crate::{Frontend, Language, Layout, Lookup, Module, Repaired, Request, Semantics, Source, Tables};

/// The tables of the language, read once. That they can be read is tested.
fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::parse(TABLE_TEXTS).unwrap_or_default());
    &TABLES
}

const TABLE_TEXTS: &[&str] =
    &[include_str!("sdk.toml"), include_str!("builtins.toml"), include_str!("lexicon.toml")];

/// What libraries do, in a file for each field: first the language's own and those that nearly every server has.
macro_rules! effects {
    ($($file:literal),+) => {
        const EFFECTS: &str = concat!($(include_str!($file)),+);
        #[cfg(test)]
        pub(crate) const EFFECT_TEXTS: &[&str] = &[$(include_str!($file)),+];
    };
}

effects!(
    "effects.toml",
    "effects/runtime.toml",
    "effects/documents.toml",
    "effects/stores.toml",
    "effects/cloud.toml",
    "effects/services.toml"
);

/// Whether the language itself offers something under a name.
fn is_builtin(name: &str) -> bool {
    let tables = tables().builtin();
    tables.is_pure(name)
        || tables.collection("", name).is_some()
        || matches!(name, "open" | "super" | "input")
}

/// Python.
#[derive(Debug)]
pub struct Python;

/// Python, as the list of all languages holds it.
pub const LANGUAGE: Language = &Python;

impl Frontend for Python {
    fn name(&self) -> &'static str {
        "Python"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["py"]
    }

    fn settings(&self) -> &'static [&'static str] {
        &["pyproject.toml", "uv.lock", "poetry.lock", "requirements*.txt", "requirements*.in", "schema.sql"]
    }

    fn effects(&self) -> &'static str {
        EFFECTS
    }

    fn tables(&self) -> &'static Tables {
        tables()
    }

    fn semantics(&self) -> &'static Semantics {
        &Semantics {
            asynchronous: Interleaving::AtSuspension,
            synchronous: Interleaving::AtSuspension,
            unwinds: true,
            coroutines: true,
            waits_unsaid: true,
            lookup: Lookup::DepthFirst,
            constructor: Some("constructor"),
            called: Some("__call__"),
            above: Some("super"),
            function_name: Some("__name__"),
            empty_is_false: true,
            tuples: false,
            bare_maps: false,
            default_export: None,
        }
    }

    fn module(&self, source: &Source<'_>) -> Module {
        lower::lower(source)
    }

    fn layout(&self, modules: &[Module], settings: &[(String, String)]) -> Layout {
        resolve::layout(modules, settings)
    }

    fn repair(&self, source: &Source<'_>, requests: &[Request]) -> Repaired {
        fix::repair(source, requests)
    }

    fn reads(&self, source: &Source<'_>) -> bool {
        fix::reads(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    #[test]
    fn the_tables_can_be_read() {
        Tables::parse(TABLE_TEXTS).unwrap();
        Knowledge::of(LANGUAGE).unwrap();
    }
}
