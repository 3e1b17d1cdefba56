//! Where imports lead: to a module of the tree, from a root of packages or from beside the file, or to a library.

mod versions;

use std::collections::HashMap;

use interlock_model::ir::Name;

use super::tables;
use crate::{Layout, Module, Resolve, Resolved, Schema};

/// What a tree of Python says about itself.
pub(super) fn layout(modules: &[Module], settings: &[(String, String)]) -> Layout {
    let mut by_path: HashMap<String, usize> = HashMap::with_capacity(modules.len());
    for (number, module) in modules.iter().enumerate() {
        let path = module.path.strip_suffix(".py").unwrap_or(&module.path);
        // A package is what its `__init__` says.
        let path = path.strip_suffix("/__init__").unwrap_or(path);
        by_path.insert(path.to_owned(), number);
    }
    let packages = settings
        .iter()
        .filter_map(|(path, _)| path.strip_suffix("pyproject.toml"))
        .map(|folder| folder.trim_end_matches('/').to_owned())
        .collect();
    let schemas = settings
        .iter()
        .filter(|(path, _)| path.ends_with("schema.sql"))
        .map(|(_, text)| Schema::Sql(text.clone()))
        .collect();
    let (handlers, broken) = versions::handlers(modules, settings);
    Layout { imports: Box::new(Imports { by_path }), packages, schemas, broken, handlers }
}

/// The modules of the tree by their path without the ending; a package by its folder.
#[derive(Debug)]
struct Imports {
    by_path: HashMap<String, usize>,
}

impl Resolve for Imports {
    fn resolve(&self, from: &Name, specifier: &Name) -> Resolved {
        let dots = specifier.len() - specifier.trim_start_matches('.').len();
        let path = specifier.trim_start_matches('.').replace('.', "/");
        if dots > 0 {
            let mut folder = folder_of(from);
            for _ in 1..dots {
                folder = folder_of(folder);
            }
            let whole =
                [folder, &path].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/");
            return match self.by_path.get(&whole) {
                Some(file) => Resolved::File(*file),
                None if path.is_empty() => Resolved::Library(whole.into()),
                None => Resolved::Unresolved(specifier.clone()),
            };
        }
        // From the folder of the file outwards: a script finds what lies beside it, a package what lies beside its root.
        let mut folder = folder_of(from);
        let top = path.split('/').next().unwrap_or(&path);
        loop {
            // What lies in a package goes by the name of the package, so it does not hide what the language offers.
            if self.by_path.contains_key(folder) && tables().builtin().is_pure_library(top) {
                folder = folder_of(folder);
                continue;
            }
            for inner in ["", "src"] {
                let parts = [folder, inner, &path];
                let whole =
                    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/");
                // A file that is called like the library it wraps means the library: `sqlite_vec.py` has `import sqlite_vec`.
                let is_itself = from.strip_suffix(".py") == Some(&*whole);
                if let Some(file) = self.by_path.get(&whole).filter(|_| !is_itself) {
                    return Resolved::File(*file);
                }
            }
            if folder.is_empty() {
                return Resolved::Library(specifier.clone());
            }
            folder = folder_of(folder);
        }
    }

    /// A folder without `__init__` is a package all the same (PEP 420).
    fn inside(&self, from: &Name, specifier: &Name, name: &str) -> Option<usize> {
        let dot = if specifier.ends_with('.') { "" } else { "." };
        match self.resolve(from, &format!("{specifier}{dot}{name}").into()) {
            Resolved::File(file) => Some(file),
            Resolved::Library(_) | Resolved::Unresolved(_) => None,
        }
    }

    fn submodule(&self, namespace: &Name, name: &str) -> Option<usize> {
        let folder = namespace.strip_suffix("/__init__.py")?;
        self.by_path.get(&format!("{folder}/{name}")).copied()
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
