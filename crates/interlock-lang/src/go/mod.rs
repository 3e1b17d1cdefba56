//! Go.
//!
//! `parse/` alone names the parser; it makes the syntax of `ast.rs`, whose depth is bounded; `bind.rs` finds out what names
//! mean, `permits.rs` which channels are locks, `lower/` turns the syntax into a [`Module`], `resolve.rs` says where imports lead, `versions.rs` how calls run; `effects.toml` says what libraries do.

mod ast;
mod bind;
mod lower;
mod parse;
mod permits;
mod resolve;
mod versions;

use std::sync::LazyLock;

use interlock_model::ir::Interleaving;

use crate::{Frontend, Language, Layout, Lookup, Module, Semantics, Source, Tables};

/// The tables of the language, read once. That they can be read is tested.
fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::parse(TABLE_TEXTS).unwrap_or_default());
    &TABLES
}

/// What libraries do: first the language's own and those that nearly every server has.
const EFFECTS: &str = concat!(include_str!("effects.toml"), include_str!("effects/outside.toml"));
#[cfg(test)]
pub(crate) const EFFECT_TEXTS: &[&str] =
    &[include_str!("effects.toml"), include_str!("effects/outside.toml")];

const TABLE_TEXTS: &[&str] =
    &[include_str!("sdk.toml"), include_str!("builtins.toml"), include_str!("lexicon.toml")];

/// Whether the language itself offers something under a name.
fn is_builtin(name: &str) -> bool {
    tables().builtin().is_pure(name) || is_type(name)
}

/// Whether a name is that of a type of the language.
fn is_type(name: &str) -> bool {
    tables().builtin().plain_types.contains(name)
}

/// Go.
#[derive(Debug)]
pub struct Go;

/// Go, as the list of all languages holds it.
pub const LANGUAGE: Language = &Go;

impl Frontend for Go {
    fn name(&self) -> &'static str {
        "Go"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["go"]
    }

    fn settings(&self) -> &'static [&'static str] {
        &["go.mod", "schema.sql"]
    }

    fn effects(&self) -> &'static str {
        EFFECTS
    }

    fn tables(&self) -> &'static Tables {
        tables()
    }

    fn semantics(&self) -> &'static Semantics {
        &Semantics {
            asynchronous: Interleaving::Anywhere,
            synchronous: Interleaving::Anywhere,
            unwinds: false,
            coroutines: false,
            waits_unsaid: true,
            lookup: Lookup::Shallowest,
            constructor: None,
            called: None,
            above: None,
            function_name: None,
            empty_is_false: false,
            tuples: true,
            bare_maps: true,
            default_export: None,
        }
    }

    fn module(&self, source: &Source<'_>) -> Module {
        lower::lower(source)
    }

    fn layout(&self, modules: &[Module], settings: &[(String, String)]) -> Layout {
        resolve::layout(modules, settings)
    }

    fn reads(&self, source: &Source<'_>) -> bool {
        parse::parse(source.text).trouble.is_empty()
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
