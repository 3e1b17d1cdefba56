//! TypeScript and JavaScript.
//!
//! `parse.rs` is the only file that names the parser's entry points; `restore/` turns back what compilers wrote; `lower/` turns a syntax
//! tree into a [`Module`];
//! `resolve/` says where imports lead; `effects.toml` says what libraries do;
//! [`fix`] changes a source where that is mechanical.

pub(crate) mod depth;
pub mod fix;

mod parse;
mod restore;
mod salvage;

pub(crate) mod lower;

mod resolve;

use std::sync::LazyLock;

use interlock_model::ir::Interleaving;

use crate::{Frontend, Language, Layout, Lookup, Module, Repaired, Request, Semantics, Source, Tables};

/// The tables of the language, read once. That they can be read is tested.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::parse(TABLE_TEXTS).unwrap_or_default());
    &TABLES
}

const TABLE_TEXTS: &[&str] =
    &[include_str!("sdk.toml"), include_str!("builtins.toml"), include_str!("lexicon.toml")];

/// TypeScript and JavaScript.
#[derive(Debug)]
pub struct TypeScript;

/// TypeScript and JavaScript, as the list of all languages holds it.
pub const LANGUAGE: Language = &TypeScript;

impl Frontend for TypeScript {
    fn name(&self) -> &'static str {
        "TypeScript"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"]
    }

    fn settings(&self) -> &'static [&'static str] {
        &[
            "package.json",
            "tsconfig.json",
            "tsconfig.base.json",
            "jsconfig.json",
            "schema.prisma",
            "schema.sql",
        ]
    }

    fn effects(&self) -> &'static str {
        include_str!("effects.toml")
    }

    fn tables(&self) -> &'static Tables {
        tables()
    }

    fn semantics(&self) -> &'static Semantics {
        &Semantics {
            asynchronous: Interleaving::AtSuspension,
            synchronous: Interleaving::AtSuspension,
            unwinds: true,
            coroutines: false,
            waits_unsaid: false,
            lookup: Lookup::DepthFirst,
            constructor: Some("constructor"),
            called: None,
            above: Some("super"),
            function_name: None,
            empty_is_false: false,
            tuples: false,
            bare_maps: false,
            default_export: Some("default"),
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
    use crate::{Package, knowledge::Knowledge, link};

    #[test]
    fn files_become_one_program_through_the_list_of_languages() {
        let language = crate::ALL.iter().find(|language| language.extensions().contains(&"mts")).unwrap();
        let files = [
            ("a.mts", "import { save } from \"./b.mjs\";\nawait save(1);\n"),
            (
                "b.mts",
                "import fs from \"node:fs/promises\";\nexport const save = (x) => fs.writeFile(\"x\", x);\n",
            ),
        ];
        let modules = files
            .iter()
            .map(|(path, text)| ((*path).into(), language.module(&Source { path, text })))
            .collect();
        let knowledge = Knowledge::of(*language).unwrap();
        let program = link(*language, Package { modules, settings: vec![], knowledge: &knowledge });
        expect_test::expect![[r#"
            a.mts
            1     fn module() at start-up
            2       save = call save("1")
            2       suspend
            b.mts
            1     fn module() at start-up

            2     fn save(x)
            2       writeFile = write blind file "x" from x
            2       return writeFile
        "#]]
        .assert_eq(&program.to_string());
    }

    #[test]
    fn the_tables_can_be_read() {
        Tables::parse(TABLE_TEXTS).unwrap();
    }

    #[test]
    fn a_module_is_the_same_after_it_was_written_down_and_read_back() {
        let text = "import { db } from \"./db.js\";\nexport class Store {\n  #rows = new Map();\n  async put(id, row = `${id}`) {\n    \
                    if (!this.#rows.has(id)) await db.insert(\"rows\", { id, row });\n    this.#rows.set(id, row);\n  }\n}\n";
        let module = LANGUAGE.module(&Source { path: "store.ts", text });
        let written = serde_json::to_string(&module).unwrap();
        assert_eq!(serde_json::from_str::<Module>(&written).unwrap(), module);
    }
}
