//! TypeScript and JavaScript.
//!
//! `parse.rs` is the only file that names the parser's entry points; `restore/` turns back what compilers wrote; `lower/` turns a syntax
//! tree into a module of `module.rs`;
//! `link/` puts modules together; `sdk/` finds the handlers; `effects.toml` says what libraries do;
//! [`fix`] changes a source where that is mechanical.

pub(crate) mod depth;
pub mod fix;
pub(crate) mod module;

mod parse;
mod restore;
mod salvage;

mod lower;

mod sdk;

mod link;

use interlock_model::ir::Program;

use crate::{Frontend, Language, Module, Package, Repaired, Request, Source};

/// The file or library and the name in a global, `PATH::NAME`.
pub(crate) fn split_global(global: &str) -> Option<(&str, &str)> {
    // What something is called in its file is short, so reading it from the end is faster than any search for two characters.
    let mut behind = 0;
    for (at, byte) in global.bytes().enumerate().rev() {
        if (byte, behind) == (b':', b':') {
            return Some((global.get(..at)?, global.get(at + 2..)?));
        }
        behind = byte;
    }
    None
}

/// Whether a global belongs to a file or a library, and not to the language.
pub(crate) fn is_qualified(global: &str) -> bool {
    split_global(global).is_some()
}

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

    fn module(&self, source: &Source<'_>) -> Module {
        Module::new(lower::lower(source))
    }

    fn link(&self, package: Package<'_>) -> Program {
        let Package { modules, settings, knowledge } = package;
        let modules = modules
            .into_iter()
            .map(|(path, module)| {
                let mut module: module::Module = module.take().unwrap_or_default();
                module.path = path;
                module
            })
            .collect();
        link::link(modules, &settings, knowledge)
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
        let knowledge = Knowledge::parse(language.effects()).unwrap();
        let program = language.link(Package { modules, settings: vec![], knowledge: &knowledge });
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
    fn a_global_is_split_at_its_last_double_colon() {
        for name in
            ["src/a.ts::load", "a:b.ts::x", "a::b.ts::x", "a.ts::x:y", "a:::b", "::x", "Map", "a:b", ""]
        {
            assert_eq!(split_global(name), name.rsplit_once("::"), "{name}");
            assert_eq!(is_qualified(name), name.contains("::"), "{name}");
        }
    }

    #[test]
    fn a_module_of_another_language_is_an_empty_one() {
        let modules = vec![("a.ts".into(), Module::new(()))];
        let program = LANGUAGE.link(Package { modules, settings: vec![], knowledge: &Knowledge::default() });
        assert_eq!((program.files.len(), program.functions.len()), (1, 0));
    }
}
