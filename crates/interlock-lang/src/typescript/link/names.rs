//! Which declaration a global name means, once imports and re-exports have been followed.
//!
//! Afterwards a global is called by the file that declares it (`src/store.ts::load`) or by the library that exports it
//! (`fs/promises::writeFile`); what the language itself offers has no `::` in its name (`Map`). A library's default export is
//! called `default`; behind it, as behind a whole library, the first field is the export.

use std::cell::RefCell;

use interlock_model::ir::{AccessPath, Field, Fields, Name, Root};
use rustc_hash::FxHashMap;

use super::specifier::{Files, Place};
use crate::typescript::{
    module::{Export, Imported, Module},
    split_global,
};

/// How many re-exports are followed in a row.
const FOLLOWED: usize = 32;

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meant {
    /// A global, by its full name.
    Global(Name),
    /// All exports of a file.
    File(usize),
    /// An export of a library; empty for all of them or the default one.
    Library(Name, Name),
}

/// The names of all modules.
#[derive(Debug)]
pub(super) struct Names {
    paths: Vec<Name>,
    imports: Vec<FxHashMap<Name, (Name, Imported)>>,
    exports: Vec<FxHashMap<Name, Offer>>,
    all: Vec<Vec<Name>>,
    files: Files,
    known: RefCell<FxHashMap<(usize, Name), Option<Meant>>>,
}

/// What is behind an exported name.
#[derive(Debug)]
enum Offer {
    Local(Name),
    From(Name, Imported),
}

impl Names {
    /// Takes the imports and exports out of the modules.
    pub(super) fn new(modules: &mut [Module], files: Files) -> Self {
        let paths = modules.iter().map(|module| module.path.clone()).collect();
        let (mut imports, mut exports, mut all) = (vec![], vec![], vec![]);
        for module in modules {
            imports.push(
                std::mem::take(&mut module.imports)
                    .into_iter()
                    .map(|import| (import.local, (import.from, import.what)))
                    .collect(),
            );
            let (mut named, mut whole) = (FxHashMap::default(), vec![]);
            for export in std::mem::take(&mut module.exports) {
                match export {
                    Export::Local { exported, local } => {
                        named.insert(exported, Offer::Local(local));
                    }
                    Export::From { exported, from, what } => {
                        named.insert(exported, Offer::From(from, what));
                    }
                    Export::All { from } => whole.push(from),
                }
            }
            exports.push(named);
            all.push(whole);
        }
        Self { paths, imports, exports, all, files, known: RefCell::default() }
    }

    /// The imports of files that are not in the tree: module and specifier. What is no source is not meant.
    pub(super) fn lost(&self) -> Vec<(usize, Name)> {
        let mut lost = vec![];
        for (module, (imports, path)) in self.imports.iter().zip(&self.paths).enumerate() {
            let mut wanted: Vec<&Name> = imports.values().map(|(from, _)| from).collect();
            wanted.sort_unstable();
            wanted.dedup();
            for from in wanted.into_iter().filter(|from| from.starts_with('.') && may_be_source(from)) {
                if matches!(self.files.place(path, from), Place::Library(_)) {
                    lost.push((module, from.clone()));
                }
            }
        }
        lost
    }

    /// The library and the name that a global stands for, if it is no file's. The language's own have the empty library.
    pub(super) fn exported<'n>(&self, global: &'n str) -> Option<(&'n str, &'n str)> {
        match split_global(global) {
            None => Some(("", global)),
            Some((path, _)) if self.files.file(path).is_some() => None,
            Some((library, name)) => Some((library, if matches!(name, "default" | "*") { "" } else { name })),
        }
    }

    /// Leads a path to where it is declared. Only globals of `module` can be imported ones, so all others stay.
    pub(super) fn lead(&self, module: usize, path: &mut AccessPath) {
        let Root::Global(global) = &path.root else { return };
        let Some((file, name)) = split_global(global) else { return };
        if self.paths.get(module).is_none_or(|own| &**own != file) {
            return;
        }
        let Some((from, what)) = self.imports.get(module).and_then(|imports| imports.get(name)) else {
            return;
        };
        let mut meant = self.imported(module, from, what, FOLLOWED);
        // The first field behind a whole module is one of its exports.
        let mut used = 0;
        for field in &path.fields {
            let (Meant::File(target), Field::Name(name)) = (&meant, field) else { break };
            let target = *target;
            if &**name == "default" && !self.offers(target, "default") {
                // Compiled code asks a module without a default export for `.default`, and means all of it.
                used += 1;
                continue;
            }
            match self.export(target, name, FOLLOWED) {
                Some(next) => meant = next,
                None => match self.export(target, "default", FOLLOWED) {
                    // Asked for by its own name, though it is exported as the default.
                    Some(Meant::Global(own)) if split_global(&own).is_some_and(|(_, own)| own == &**name) => {
                        meant = Meant::Global(own);
                    }
                    // `module.exports = object` offers the object's members as its own.
                    Some(next) => {
                        meant = next;
                        break;
                    }
                    None => meant = Meant::Global(global_name(self.paths.get(target), name)),
                },
            }
            used += 1;
        }
        if used > 0 {
            path.fields.to_mut().drain(..used);
        }
        path.root = Root::Global(match meant {
            Meant::Global(name) => name,
            Meant::File(target) => match (path.fields.is_empty(), self.export(target, "default", FOLLOWED)) {
                // `const make = require("./make")` is what that file exports as a whole.
                (true, Some(Meant::Global(name))) => name,
                _ => global_name(self.paths.get(target), "*"),
            },
            Meant::Library(library, export) => self.of_library(&library, &export, &mut path.fields),
        });
    }

    fn of_library(&self, library: &str, export: &str, fields: &mut Fields) -> Name {
        if !export.is_empty() && export != "default" {
            return format!("{library}::{export}").into();
        }
        while matches!(fields.first(), Some(Field::Name(name)) if &**name == "default") {
            fields.to_mut().remove(0);
        }
        match fields.first() {
            Some(Field::Name(name)) => {
                let name = format!("{library}::{name}");
                fields.to_mut().remove(0);
                name.into()
            }
            _ => format!("{library}::default").into(),
        }
    }

    /// What an import of a module means.
    fn imported(&self, module: usize, from: &Name, what: &Imported, depth: usize) -> Meant {
        let Some(path) = self.paths.get(module) else { return Meant::File(module) };
        match (self.files.place(path, from), what) {
            (Place::File(target), Imported::All) => Meant::File(target),
            (Place::File(target), Imported::Name(name)) => match self.export(target, name, depth) {
                Some(meant) => meant,
                // A default import of a module that has none is all of it.
                None if &**name == "default" => Meant::File(target),
                None => match self.export(target, "default", depth) {
                    Some(Meant::Global(object)) => Meant::Global(format!("{object}.{name}").into()),
                    _ => Meant::Global(global_name(self.paths.get(target), name)),
                },
            },
            (Place::Library(library), Imported::All) => Meant::Library(library, "".into()),
            (Place::Library(library), Imported::Name(name)) => {
                let name = if &**name == "default" { "".into() } else { name.clone() };
                Meant::Library(library, name)
            }
        }
    }

    fn offers(&self, module: usize, name: &str) -> bool {
        self.exports.get(module).is_some_and(|exports| exports.contains_key(name))
    }

    /// What a module offers under a name.
    pub(super) fn export(&self, module: usize, name: &str, depth: usize) -> Option<Meant> {
        let key = (module, Name::from(name));
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        // A circle of re-exports finds this entry, and nothing.
        self.known.borrow_mut().insert(key.clone(), None);
        let found = depth.checked_sub(1).and_then(|depth| self.search(module, name, depth));
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    fn search(&self, module: usize, name: &str, depth: usize) -> Option<Meant> {
        match self.exports.get(module)?.get(name) {
            Some(Offer::Local(local)) => {
                return Some(match self.imports.get(module)?.get(local) {
                    Some((from, what)) => self.imported(module, from, what, depth),
                    None => Meant::Global(global_name(self.paths.get(module), local)),
                });
            }
            Some(Offer::From(from, what)) => return Some(self.imported(module, from, what, depth)),
            None if name == "default" => return None,
            None => {}
        }
        let path = self.paths.get(module)?;
        self.all.get(module)?.iter().find_map(|from| match self.files.place(path, from) {
            Place::File(target) => self.export(target, name, depth),
            Place::Library(_) => None,
        })
    }
}

fn global_name(path: Option<&Name>, name: &str) -> Name {
    format!("{}::{name}", path.map_or("", |path| path)).into()
}

/// Whether a specifier may lead to a source: it ends like one, or in nothing that is known to be something else.
fn may_be_source(specifier: &str) -> bool {
    let name = specifier.rsplit('/').next().unwrap_or(specifier);
    match name.rsplit_once('.') {
        Some((_, ending)) => !matches!(
            ending,
            "json"
                | "css"
                | "scss"
                | "less"
                | "svg"
                | "png"
                | "jpg"
                | "gif"
                | "ico"
                | "md"
                | "mdx"
                | "txt"
                | "html"
                | "wasm"
                | "node"
                | "sql"
                | "graphql"
                | "yaml"
                | "yml"
                | "toml"
                | "vue"
                | "svelte"
                | "d"
        ),
        None => true,
    }
}
