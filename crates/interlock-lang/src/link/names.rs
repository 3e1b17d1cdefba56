//! Which declaration a global name means, once imports and re-exports have been followed.
//!
//! Afterwards a global is called by the file that declares it (`src/store.ts::load`) or by the library that exports it
//! (`fs/promises::writeFile`); what the language itself offers has no `::` in its name (`Map`). A library's default export is
//! called `default`; behind it, as behind a whole library, the first field is the export.

use std::{cell::RefCell, collections::BTreeMap};

use interlock_model::ir::{AccessPath, Field, Fields, Name, Root};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Resolve, Resolved,
    module::{Export, Imported, Module, split_global},
};

/// How many re-exports are followed in a row.
const FOLLOWED: usize = 32;

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meant {
    /// A global, by its full name.
    Global(Name),
    /// All exports of a namespace.
    Whole(usize),
    /// An export of a library; empty for all of them or the default one.
    Library(Name, Name),
}

/// The names of all modules. A namespace is what offers names: a file, or the files of a package that share theirs.
#[derive(Debug)]
pub(crate) struct Names {
    /// The paths of the modules.
    paths: Vec<Name>,
    /// The namespace of each module.
    spaces: Vec<usize>,
    /// What each module imports.
    imports: Vec<FxHashMap<Name, (Name, Imported)>>,
    /// What the namespaces are called, and which one is called so.
    titles: Vec<Name>,
    by_title: FxHashMap<Name, usize>,
    /// What each namespace offers.
    exports: Vec<FxHashMap<Name, Offer>>,
    /// What each namespace passes on as a whole, and the module that says so.
    all: Vec<Vec<(usize, Name)>>,
    resolve: Box<dyn Resolve>,
    /// The export that stands for a whole module; empty where there is no such thing.
    default: &'static str,
    /// What each namespace offers, as far as it was asked for.
    known: RefCell<Vec<FxHashMap<Name, Option<Meant>>>>,
    /// What stands for files that are not in the tree, as far as names led there.
    unresolved: RefCell<FxHashSet<Name>>,
    /// The namespaces that are handed on as a whole somewhere: `return require("./store")`.
    handed_on: RefCell<FxHashSet<usize>>,
}

/// Which names are those of files, once all names were led to their declarations.
#[derive(Debug)]
pub(crate) struct Namespaces {
    titles: FxHashMap<Name, usize>,
    default: &'static str,
    /// What stands for files that are not in the tree.
    lost: FxHashSet<Name>,
    /// What the files offer that are handed on as a whole: the name outside, and the global that it means.
    handed_on: FxHashMap<Name, FxHashMap<Name, Name>>,
}

impl Namespaces {
    /// Whether a namespace is one of the tree.
    pub(crate) fn contains(&self, namespace: &str) -> bool {
        self.titles.contains_key(namespace)
    }

    /// The file whose exports a global stands for, all of them together.
    pub(crate) fn whole<'n>(&self, global: &'n str) -> Option<&'n str> {
        let (file, name) = split_global(global)?;
        (name == "*" && self.contains(file)).then_some(file)
    }

    /// The global that a file offers under a name, where the file is handed on as a whole.
    pub(crate) fn offered(&self, file: &str, name: &str) -> Option<&Name> {
        self.handed_on.get(file)?.get(name)
    }

    /// Whether what is taken for a library's name stands for a file that is not in the tree.
    pub(crate) fn is_lost(&self, library: &str) -> bool {
        self.lost.contains(library)
    }

    /// The library and the name that a global stands for, if it is no file's. The language's own have the empty library.
    pub(crate) fn exported<'n>(&self, global: &'n str) -> Option<(&'n str, &'n str)> {
        match split_global(global) {
            None => Some(("", global)),
            Some((path, _)) if self.titles.contains_key(path) => None,
            Some((library, name)) => {
                let is_default = name == self.default && !name.is_empty();
                Some((library, if name == "*" || is_default { "" } else { name }))
            }
        }
    }
}

/// Where globals were led to.
#[derive(Debug, Default)]
pub(super) struct Led {
    /// What the globals of one module mean, if they are imported ones. A file names most of them more than once.
    module: FxHashMap<Name, Option<Target>>,
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
    /// A name of a module.
    Local(usize, Name),
    /// What a module takes from elsewhere.
    From(usize, Name, Imported),
}

/// Of so many files that a module imports one must be there.
const STRANDED: usize = 2;

impl Names {
    /// Takes the imports and exports out of the modules.
    pub(super) fn new(modules: &mut [Module], resolve: Box<dyn Resolve>, default: &'static str) -> Self {
        let paths = modules.iter().map(|module| module.path.clone()).collect();
        let (mut spaces, mut imports) = (vec![], vec![]);
        let (mut titles, mut exports, mut all) = (vec![], vec![], vec![]);
        let mut by_title = FxHashMap::default();
        for (number, module) in modules.iter_mut().enumerate() {
            imports.push(
                std::mem::take(&mut module.imports)
                    .into_iter()
                    .map(|import| (import.local, (import.from, import.what)))
                    .collect(),
            );
            let title = module.namespace.clone().unwrap_or_else(|| module.path.clone());
            let space = *by_title.entry(title.clone()).or_insert(titles.len());
            if space == titles.len() {
                titles.push(title);
                exports.push(FxHashMap::default());
                all.push(vec![]);
            }
            spaces.push(space);
            let (Some(named), Some(whole)) = (exports.get_mut(space), all.get_mut(space)) else { continue };
            for export in std::mem::take(&mut module.exports) {
                match export {
                    Export::Local { exported, local } => {
                        named.insert(exported, Offer::Local(number, local));
                    }
                    Export::From { exported, from, what } => {
                        named.insert(exported, Offer::From(number, from, what));
                    }
                    Export::All { from } => whole.push((number, from)),
                }
            }
        }
        let known = RefCell::new(std::iter::repeat_with(FxHashMap::default).take(all.len()).collect());
        Self {
            paths,
            spaces,
            imports,
            titles,
            by_title,
            exports,
            all,
            resolve,
            default,
            known,
            unresolved: RefCell::default(),
            handed_on: RefCell::default(),
        }
    }

    /// What is left to ask of names once all of them were led to their declarations.
    pub(super) fn namespaces(&self) -> Namespaces {
        let (titles, lost) = (self.by_title.clone(), self.unresolved.borrow().clone());
        let handed_on = self.handed_on.borrow();
        let titles_of = handed_on.iter().filter_map(|space| self.titles.get(*space));
        let handed_on =
            titles_of.map(|title| (title.clone(), self.offered(title).into_iter().collect())).collect();
        Namespaces { titles, default: self.default, lost, handed_on }
    }

    /// The libraries that any module imports.
    pub(super) fn libraries(&self) -> FxHashSet<Name> {
        let all = self.imports.iter().zip(&self.paths);
        let wanted =
            all.flat_map(|(imports, path)| imports.values().map(move |(from, what)| (path, from, what)));
        wanted
            .filter_map(|(path, from, what)| match self.resolve.resolve(path, from) {
                Resolved::Library(name) if self.inside(path, from, what).is_none() => Some(name),
                Resolved::Library(_) | Resolved::File(_) | Resolved::Unresolved(_) => None,
            })
            .collect()
    }

    /// The imports of files that are not in the tree: module and specifier.
    pub(super) fn lost(&self) -> Vec<(usize, Name)> {
        let mut lost = vec![];
        for (module, (imports, path)) in self.imports.iter().zip(&self.paths).enumerate() {
            let named = imports.values().filter(|(from, what)| self.inside(path, from, what).is_none());
            let mut wanted: Vec<&Name> = named.map(|(from, _)| from).collect();
            wanted.sort_unstable();
            wanted.dedup();
            for from in wanted {
                if matches!(self.resolve.resolve(path, from), Resolved::Unresolved(_)) {
                    lost.push((module, from.clone()));
                }
            }
        }
        lost
    }

    /// The modules that import several files, none of which is in the tree.
    pub(super) fn stranded(&self) -> Vec<usize> {
        let mut lost: FxHashMap<usize, usize> = FxHashMap::default();
        for (module, _) in self.lost() {
            *lost.entry(module).or_default() += 1;
        }
        let finds_none = |module: usize| {
            let (Some(imports), Some(path)) = (self.imports.get(module), self.paths.get(module)) else {
                return false;
            };
            let leads = |from: &Name| matches!(self.resolve.resolve(path, from), Resolved::File(_));
            !imports.values().any(|(from, what)| leads(from) || self.inside(path, from, what).is_some())
        };
        let several = lost.into_iter().filter(|(module, lost)| *lost >= STRANDED && finds_none(*module));
        let mut stranded: Vec<usize> = several.map(|(module, _)| module).collect();
        stranded.sort_unstable();
        stranded
    }

    /// Where a specifier in a module leads: to a namespace, or out of the tree.
    fn resolved(&self, module: usize, specifier: &Name) -> Result<usize, Name> {
        let Some(path) = self.paths.get(module) else { return Err(specifier.clone()) };
        match self.resolve.resolve(path, specifier) {
            Resolved::File(file) => self.spaces.get(file).copied().ok_or_else(|| specifier.clone()),
            Resolved::Library(name) => Err(name),
            Resolved::Unresolved(name) => {
                self.unresolved.borrow_mut().insert(name.clone());
                Err(name)
            }
        }
    }

    fn is_default(&self, name: &str) -> bool {
        name == self.default && !name.is_empty()
    }

    /// Leads a path to where it is declared. Only globals of `module` can be imported ones, so all others stay.
    pub(super) fn lead(&self, module: usize, path: &mut AccessPath, led: &mut Led) {
        let Root::Global(global) = &path.root else { return };
        let Led { module: known, libraries } = led;
        if !known.contains_key(global) {
            let meant = self.of_module(module, global);
            known.insert(global.clone(), meant.map(|meant| Target { meant, whole: None }));
        }
        if let Some(Some(target)) = known.get_mut(global) {
            self.lead_to(target, path, libraries);
        }
    }

    /// What a global of a module means, if it is an imported one.
    fn of_module(&self, module: usize, global: &str) -> Option<Meant> {
        let imports = self.imports.get(module).filter(|imports| !imports.is_empty())?;
        let (title, name) = split_global(global)?;
        self.titles.get(*self.spaces.get(module)?).filter(|own| &***own == title)?;
        let (from, what) = imports.get(name)?;
        Some(self.imported(module, from, what, FOLLOWED))
    }

    fn lead_to(&self, target: &mut Target, path: &mut AccessPath, libraries: &mut Libraries) {
        let mut meant = match &target.meant {
            Meant::Library(library, export) => {
                let fields = &mut path.fields;
                let whole = &mut target.whole;
                path.root = Root::Global(self.of_library(library, export, fields, whole, libraries));
                return;
            }
            meant => meant.clone(),
        };
        // The first field behind a whole module is one of its exports.
        let mut used = 0;
        for field in &path.fields {
            let (Meant::Whole(target), Field::Name(name)) = (&meant, field) else { break };
            let target = *target;
            if self.is_default(name) && !self.offers(target, self.default) {
                // Compiled code asks a module without a default export for `.default`, and means all of it.
                used += 1;
                continue;
            }
            match self.export(target, name, FOLLOWED) {
                Some(next) => meant = next,
                None => match self.export(target, self.default, FOLLOWED) {
                    // Asked for by its own name, though it is exported as the default.
                    Some(Meant::Global(own)) if split_global(&own).is_some_and(|(_, own)| own == &**name) => {
                        meant = Meant::Global(own);
                    }
                    // `module.exports = object` offers the object's members as its own.
                    Some(next) => {
                        meant = next;
                        break;
                    }
                    None => meant = Meant::Global(global_name(self.titles.get(target), name)),
                },
            }
            used += 1;
        }
        path.fields.skip_first(used);
        path.root = Root::Global(match meant {
            Meant::Global(name) => name,
            Meant::Whole(target) => {
                match (path.fields.is_empty(), self.export(target, self.default, FOLLOWED)) {
                    // `const make = require("./make")` is what that file exports as a whole.
                    (true, Some(Meant::Global(name))) => name,
                    _ => {
                        self.handed_on.borrow_mut().insert(target);
                        global_name(self.titles.get(target), "*")
                    }
                }
            }
            Meant::Library(library, export) => {
                self.of_library(&library, &export, &mut path.fields, &mut None, libraries)
            }
        });
    }

    /// The namespace that an import names in a folder that is none itself.
    fn inside(&self, path: &Name, from: &Name, what: &Imported) -> Option<usize> {
        let Imported::Name(name) = what else { return None };
        self.spaces.get(self.resolve.inside(path, from, name)?).copied()
    }

    /// What an import of a module means.
    fn imported(&self, module: usize, from: &Name, what: &Imported, depth: usize) -> Meant {
        if let Some(path) = self.paths.get(module)
            && !matches!(self.resolve.resolve(path, from), Resolved::File(_))
            && let Some(inner) = self.inside(path, from, what)
        {
            return Meant::Whole(inner);
        }
        match (self.resolved(module, from), what) {
            (Ok(target), Imported::All) => Meant::Whole(target),
            (Ok(target), Imported::Name(name)) => match self.export(target, name, depth) {
                Some(meant) => meant,
                // A default import of a module that has none is all of it.
                None if self.is_default(name) => Meant::Whole(target),
                None => match (self.submodule(target, name), self.export(target, self.default, depth)) {
                    (Some(inner), _) => Meant::Whole(inner),
                    (None, Some(Meant::Global(object))) => Meant::Global(format!("{object}.{name}").into()),
                    _ => Meant::Global(global_name(self.titles.get(target), name)),
                },
            },
            (Err(library), Imported::All) => Meant::Library(library, "".into()),
            (Err(library), Imported::Name(name)) => {
                let name = if self.is_default(name) { "".into() } else { name.clone() };
                Meant::Library(library, name)
            }
        }
    }

    /// Everything that a file offers, re-exports included: the name outside, and the global that it means.
    pub(crate) fn offered(&self, file: &str) -> Vec<(Name, Name)> {
        let mut found: BTreeMap<&Name, Name> = BTreeMap::new();
        let (mut pending, mut seen): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
        pending.extend(self.by_title.get(file));
        while let Some(module) = pending.pop() {
            if seen.contains(&module) {
                continue;
            }
            seen.push(module);
            // The default export of another file is not among those that `export *` passes on.
            let passed_on = |name: &&Name| seen.len() == 1 || !self.is_default(name);
            for name in self.exports.get(module).into_iter().flat_map(FxHashMap::keys).filter(passed_on) {
                if let Some(Meant::Global(global)) = self.export(module, name, FOLLOWED) {
                    found.entry(name).or_insert(global);
                }
            }
            let all = self.all.get(module).into_iter().flatten().rev();
            pending.extend(all.filter_map(|(by, from)| self.resolved(*by, from).ok()));
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

    fn search(&self, space: usize, name: &str, depth: usize) -> Option<Meant> {
        match self.exports.get(space)?.get(name) {
            Some(Offer::Local(module, local)) => {
                return Some(match self.imports.get(*module)?.get(local) {
                    Some((from, what)) => self.imported(*module, from, what, depth),
                    None => Meant::Global(global_name(self.titles.get(space), local)),
                });
            }
            Some(Offer::From(module, from, what)) => return Some(self.imported(*module, from, what, depth)),
            None if self.is_default(name) => return None,
            None => {}
        }
        let all = self.all.get(space)?;
        let offered = |(module, from): &(usize, Name)| -> Option<Meant> {
            self.export(self.resolved(*module, from).ok()?, name, depth)
        };
        let mut passed_on = None;
        for meant in all.iter().filter_map(offered) {
            match meant {
                Meant::Library(..) => _ = passed_on.get_or_insert(meant),
                own => return Some(own),
            }
        }
        let passed_on = passed_on.or_else(|| self.submodule(space, name).map(Meant::Whole));
        passed_on.or_else(|| Some(Meant::Library(self.passed_on_library(space)?, name.into())))
    }

    /// The library all of which a module passes on, if it is one: what the files of the tree do not offer comes from there.
    fn passed_on_library(&self, space: usize) -> Option<Name> {
        let all = self.all.get(space)?.iter();
        let mut libraries = all.filter_map(|(module, from)| self.resolved(*module, from).err());
        let library = libraries.next().filter(|library| !self.unresolved.borrow().contains(library))?;
        libraries.next().is_none().then_some(library)
    }

    /// The namespace that is found by a name inside another one.
    fn submodule(&self, space: usize, name: &str) -> Option<usize> {
        let inner = self.resolve.submodule(self.titles.get(space)?, name)?;
        self.spaces.get(inner).copied()
    }

    /// The global that an export of a library is. A member of the whole library is an export as well, and no field any more.
    fn of_library(
        &self,
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
        if !export.is_empty() && !self.is_default(export) {
            return whole.get_or_insert_with(|| global(export)).clone();
        }
        while matches!(fields.first(), Some(Field::Name(name)) if self.is_default(name)) {
            fields.skip_first(1);
        }
        let Some(Field::Name(name)) = fields.first() else {
            return whole.get_or_insert_with(|| global(self.default)).clone();
        };
        let member = global(name);
        fields.skip_first(1);
        member
    }
}

fn global_name(path: Option<&Name>, name: &str) -> Name {
    format!("{}::{name}", path.map_or("", |path| path)).into()
}
