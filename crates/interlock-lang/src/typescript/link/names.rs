//! Which declaration a global name means, once imports and re-exports have been followed.
//!
//! Afterwards a global is called by the file that declares it (`src/store.ts::load`) or by the library that exports it
//! (`fs/promises::writeFile`); what the language itself offers has no `::` in its name (`Map`). A library's default export is
//! called `default`; behind it, as behind a whole library, the first field is the export.

use std::{cell::RefCell, collections::BTreeMap};

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
pub(crate) struct Names {
    paths: Vec<Name>,
    imports: Vec<FxHashMap<Name, (Name, Imported)>>,
    exports: Vec<FxHashMap<Name, Offer>>,
    all: Vec<Vec<Name>>,
    files: Files,
    /// What each module offers, as far as it was asked for.
    known: RefCell<Vec<FxHashMap<Name, Option<Meant>>>>,
}

/// Where globals were led to.
#[derive(Debug, Default)]
pub(super) struct Led {
    /// What the globals of one module mean, if they are imported ones. A file names most of them more than once, and its names are
    /// shared, so they are found by where they stand in memory; each is kept, so that no other can come to stand there.
    module: FxHashMap<usize, (Name, Option<Target>)>,
    /// What libraries export, as globals, by library and export: one name for all files.
    libraries: Libraries,
}

type Libraries = FxHashMap<Name, FxHashMap<Name, Name>>;

#[derive(Debug)]
struct Target {
    meant: Meant,
    /// What it is as a global, where that was asked before.
    whole: Option<Name>,
}

impl Led {
    /// Forgets what belongs to one module only.
    pub(super) fn next_module(&mut self) {
        self.module.clear();
    }
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
        let known = RefCell::new(std::iter::repeat_with(FxHashMap::default).take(all.len()).collect());
        Self { paths, imports, exports, all, files, known }
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
    pub(super) fn lead(&self, module: usize, path: &mut AccessPath, led: &mut Led) {
        let Root::Global(global) = &path.root else { return };
        let Led { module: known, libraries } = led;
        let (_, target) = known.entry(global.as_ptr().addr()).or_insert_with(|| {
            let meant = self.of_module(module, global);
            (global.clone(), meant.map(|meant| Target { meant, whole: None }))
        });
        if let Some(target) = target {
            self.lead_to(target, path, libraries);
        }
    }

    /// What a global of a module means, if it is an imported one.
    fn of_module(&self, module: usize, global: &str) -> Option<Meant> {
        let imports = self.imports.get(module).filter(|imports| !imports.is_empty())?;
        let (file, name) = split_global(global)?;
        self.paths.get(module).filter(|own| &***own == file)?;
        let (from, what) = imports.get(name)?;
        Some(self.imported(module, from, what, FOLLOWED))
    }

    fn lead_to(&self, target: &mut Target, path: &mut AccessPath, libraries: &mut Libraries) {
        let mut meant = match &target.meant {
            Meant::Library(library, export) => {
                let fields = &mut path.fields;
                path.root = Root::Global(of_library(library, export, fields, &mut target.whole, libraries));
                return;
            }
            meant => meant.clone(),
        };
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
        path.fields.skip_first(used);
        path.root = Root::Global(match meant {
            Meant::Global(name) => name,
            Meant::File(target) => match (path.fields.is_empty(), self.export(target, "default", FOLLOWED)) {
                // `const make = require("./make")` is what that file exports as a whole.
                (true, Some(Meant::Global(name))) => name,
                _ => global_name(self.paths.get(target), "*"),
            },
            Meant::Library(library, export) => {
                of_library(&library, &export, &mut path.fields, &mut None, libraries)
            }
        });
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

    /// Everything that a file offers, re-exports included: the name outside, and the global that it means.
    pub(crate) fn offered(&self, file: &str) -> Vec<(Name, Name)> {
        let mut found: BTreeMap<&Name, Name> = BTreeMap::new();
        let (mut pending, mut seen): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
        pending.extend(self.files.file(file));
        while let Some(module) = pending.pop() {
            if seen.contains(&module) {
                continue;
            }
            seen.push(module);
            // The default export of another file is not among those that `export *` passes on.
            let passed_on = |name: &&Name| seen.len() == 1 || &***name != "default";
            for name in self.exports.get(module).into_iter().flat_map(FxHashMap::keys).filter(passed_on) {
                if let Some(Meant::Global(global)) = self.export(module, name, FOLLOWED) {
                    found.entry(name).or_insert(global);
                }
            }
            let (Some(path), Some(all)) = (self.paths.get(module), self.all.get(module)) else { continue };
            pending.extend(all.iter().rev().filter_map(|from| match self.files.place(path, from) {
                Place::File(target) => Some(target),
                Place::Library(_) => None,
            }));
        }
        found.into_iter().map(|(name, global)| (name.clone(), global)).collect()
    }

    fn offers(&self, module: usize, name: &str) -> bool {
        self.exports.get(module).is_some_and(|exports| exports.contains_key(name))
    }

    /// What a module offers under a name.
    pub(super) fn export(&self, module: usize, name: &str, depth: usize) -> Option<Meant> {
        if let Some(known) = self.known.borrow().get(module)?.get(name) {
            return known.clone();
        }
        let remember = |found: Option<Meant>| {
            if let Some(known) = self.known.borrow_mut().get_mut(module) {
                known.insert(name.into(), found);
            }
        };
        // A circle of re-exports finds this entry, and nothing.
        remember(None);
        let found = depth.checked_sub(1).and_then(|depth| self.search(module, name, depth));
        remember(found.clone());
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

/// The global that an export of a library is. A member of the whole library is an export as well, and no field any more.
fn of_library(
    library: &Name,
    export: &Name,
    fields: &mut Fields,
    whole: &mut Option<Name>,
    libraries: &mut Libraries,
) -> Name {
    let mut global = |export: &str| {
        if !libraries.contains_key(library) {
            libraries.insert(library.clone(), FxHashMap::default());
        }
        let Some(exports) = libraries.get_mut(library) else { return Name::from(export) };
        match exports.get(export) {
            Some(known) => known.clone(),
            None => {
                let global = Name::from(format!("{library}::{export}"));
                exports.insert(export.into(), global.clone());
                global
            }
        }
    };
    if !export.is_empty() && &**export != "default" {
        return whole.get_or_insert_with(|| global(export)).clone();
    }
    while matches!(fields.first(), Some(Field::Name(name)) if &**name == "default") {
        fields.skip_first(1);
    }
    let Some(Field::Name(name)) = fields.first() else {
        return whole.get_or_insert_with(|| global("default")).clone();
    };
    let member = global(name);
    fields.skip_first(1);
    member
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
