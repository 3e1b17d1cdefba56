//! Where imports lead: to a package of a module of the tree, by the path that its `go.mod` gives it, or to a library.

use std::collections::HashMap;

use interlock_model::ir::Name;

use super::versions;
use crate::{Layout, Module, Resolve, Resolved, Schema};

/// What a tree of Go says about itself.
pub(super) fn layout(modules: &[Module], settings: &[(String, String)]) -> Layout {
    let mut packages: HashMap<String, usize> = HashMap::with_capacity(modules.len());
    for (number, module) in modules.iter().enumerate() {
        packages.entry(folder_of(&module.path).to_owned()).or_insert(number);
    }
    let mut roots = vec![];
    for (path, text) in settings {
        let is_module = path == "go.mod" || path.ends_with("/go.mod");
        if let Some(name) = is_module.then(|| module_name(text)).flatten() {
            roots.push((name.to_owned(), folder_of(path).to_owned()));
        }
    }
    // The innermost module counts.
    roots.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let folders = roots.iter().map(|(_, folder)| folder.clone()).collect();
    let schemas = settings.iter().filter(|(path, _)| path.ends_with("schema.sql"));
    let schemas = schemas.map(|(_, text)| Schema::Sql(text.clone())).collect();
    let imports = Box::new(Imports { packages, roots });
    Layout {
        imports,
        packages: folders,
        schemas,
        broken: vec![],
        handlers: versions::handlers(modules, settings),
    }
}

/// The path that a `go.mod` gives its module.
fn module_name(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let name = line.split("//").next().unwrap_or(line).trim().trim_matches('"');
    (!name.is_empty()).then_some(name)
}

#[derive(Debug)]
struct Imports {
    /// A file of each package, by its folder.
    packages: HashMap<String, usize>,
    /// The modules of the tree: the path that they are imported by, and their folder.
    roots: Vec<(String, String)>,
}

impl Resolve for Imports {
    fn resolve(&self, from: &Name, specifier: &Name) -> Resolved {
        let _ = from;
        for (name, folder) in &self.roots {
            let Some(rest) = specifier.strip_prefix(&**name) else { continue };
            if !rest.is_empty() && !rest.starts_with('/') {
                continue;
            }
            let rest = rest.trim_start_matches('/');
            let whole = match (folder.is_empty(), rest.is_empty()) {
                (true, _) => rest.to_owned(),
                (false, true) => folder.clone(),
                (false, false) => format!("{folder}/{rest}"),
            };
            return match self.packages.get(&whole) {
                Some(file) => Resolved::File(*file),
                None => Resolved::Unresolved(specifier.clone()),
            };
        }
        Resolved::Library(without_version(specifier).into())
    }
}

/// The path of a library whatever its version: `github.com/redis/go-redis/v9` is `github.com/redis/go-redis`, `gopkg.in/yaml.v3` is
/// `gopkg.in/yaml`.
fn without_version(path: &str) -> String {
    let is_version = |part: &&str| {
        !part
            .strip_prefix('v')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let path = path.split('/').filter(is_version).collect::<Vec<_>>().join("/");
    match path.rsplit_once(".v") {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) => {
            name.to_owned()
        }
        _ => path,
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_leads_to_a_package_of_the_innermost_module_or_to_a_library() {
        let module = |path: &str| Module { path: path.into(), ..Module::default() };
        let modules = [module("cmd/main.go"), module("store/a.go"), module("sub/x/b.go")];
        let settings = [
            ("go.mod".to_owned(), "module example.com/app // the app\n\ngo 1.23\n".to_owned()),
            ("sub/go.mod".to_owned(), "module example.com/app/sub\n".to_owned()),
        ];
        let layout = layout(&modules, &settings);
        let resolve = |specifier: &str| layout.imports.resolve(&"cmd/main.go".into(), &specifier.into());
        assert_eq!(resolve("example.com/app/store"), Resolved::File(1));
        assert_eq!(resolve("example.com/app/sub/x"), Resolved::File(2));
        assert_eq!(resolve("example.com/app/gone"), Resolved::Unresolved("example.com/app/gone".into()));
        assert_eq!(resolve("example.com/apple"), Resolved::Library("example.com/apple".into()));
        assert_eq!(
            resolve("github.com/redis/go-redis/v9"),
            Resolved::Library("github.com/redis/go-redis".into())
        );
        assert_eq!(resolve("gopkg.in/yaml.v3"), Resolved::Library("gopkg.in/yaml".into()));
        assert_eq!(layout.packages, ["sub", ""]);
    }
}
