//! Where an `import … from "…"` leads: to a file of the tree, or out of it to a library.

use std::{cell::RefCell, sync::Arc};

use interlock_model::ir::Name;
use rustc_hash::FxHashMap;

use super::settings::{Package, Project, Settings, folder, is_inside, join};
use crate::{Resolve, Resolved};

/// The endings that a specifier may leave out, in order of preference.
const ENDINGS: [&str; 8] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"];

/// The files of a tree, to be found by specifiers.
#[derive(Debug)]
pub(super) struct Files {
    by_path: FxHashMap<Name, usize>,
    settings: Settings,
    /// Package names to their place in `settings.packages`.
    packages: FxHashMap<String, usize>,
    /// Where specifiers lead, by the folder of who asks.
    found: RefCell<FxHashMap<Name, FxHashMap<Name, Resolved>>>,
    /// What leads to the same place from every file.
    anywhere: RefCell<FxHashMap<Name, Resolved>>,
    /// The folders of the projects that say where specifiers lead.
    telling: Vec<String>,
    /// Whether they do for the file that asked last: a file asks several times in a row.
    told: RefCell<Option<(Name, bool)>>,
}

impl Files {
    pub(super) fn new(paths: &[Name], settings: Settings) -> Self {
        let by_path = paths.iter().enumerate().map(|(index, path)| (path.clone(), index)).collect();
        let mut packages = FxHashMap::default();
        for (index, package) in settings.packages.iter().enumerate() {
            if let Some(name) = &package.name {
                packages.entry(name.clone()).or_insert(index);
            }
        }
        let telling = settings.projects.iter().filter(|project| tells(project));
        let telling = telling.map(|project| project.folder.clone()).collect();
        let (found, anywhere, told) = (RefCell::default(), RefCell::default(), RefCell::default());
        Self { by_path, settings, packages, found, anywhere, telling, told }
    }

    /// Whether the settings say where the libraries lead that a file names.
    fn is_told(&self, from: &Name) -> bool {
        if let Some((last, is_told)) = &*self.told.borrow()
            && Arc::ptr_eq(last, from)
        {
            return *is_told;
        }
        let is_told = self.telling.iter().any(|folder| is_inside(from, folder));
        self.told.replace(Some((from.clone(), is_told)));
        is_told
    }

    /// A file by its path.
    fn file(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    fn search(&self, from: &str, specifier: &str) -> Option<usize> {
        // Bundlers write `./a.svg?raw`; what is asked for behind the mark does not change which file it is.
        let specifier = specifier.split_once('?').map_or(specifier, |(path, _)| path);
        if specifier == "."
            || specifier == ".."
            || specifier.starts_with("./")
            || specifier.starts_with("../")
        {
            return self.at(&join(folder(from), specifier));
        }
        if specifier.starts_with('#')
            && let Some(package) = self.settings.package_of(from)
        {
            let places = matching(&package.imports, specifier);
            if let Some(file) = places.iter().find_map(|place| self.target(package, place)) {
                return Some(file);
            }
        }
        self.by_project(from, specifier).or_else(|| self.in_workspace(specifier))
    }

    fn by_project(&self, from: &str, specifier: &str) -> Option<usize> {
        for project in self.settings.projects_of(from) {
            let by_pattern = matching(&project.paths, specifier);
            let by_base = project.base.iter().map(|base| join(base, specifier));
            if let Some(file) = by_pattern.iter().cloned().chain(by_base).find_map(|path| self.at(&path)) {
                return Some(file);
            }
            if tells(project) {
                // The nearest project that says anything is the one that counts.
                return by_pattern.iter().find_map(|path| self.source_of("", path));
            }
        }
        None
    }

    fn in_workspace(&self, specifier: &str) -> Option<usize> {
        let (name, rest) = split_package(specifier);
        // Some trees carry a copy of the SDK; what it does is known better than its source says.
        if matches!(name, "@modelcontextprotocol/sdk" | "@modelcontextprotocol/server") {
            return None;
        }
        let package = self.settings.packages.get(*self.packages.get(name)?)?;
        let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
        let exported = matching(&package.exports, &subpath);
        let exported = exported.iter().find_map(|target| self.target(package, target));
        if rest.is_empty() {
            return exported.or_else(|| self.entry(package));
        }
        let folder = &package.folder;
        exported
            .or_else(|| self.at(&join(folder, rest)))
            .or_else(|| self.at(&join(folder, &format!("src/{rest}"))))
    }

    /// The file that stands for a package.
    fn entry(&self, package: &Package) -> Option<usize> {
        let usual = ["src/index", "index", "src/main", "lib/index", "src"];
        let named = package.entries.iter().find_map(|target| self.target(package, target));
        named.or_else(|| usual.iter().find_map(|path| self.at_file(&join(&package.folder, path))))
    }

    /// What a `package.json` points to: the source that was compiled to it, or itself.
    fn target(&self, package: &Package, target: &str) -> Option<usize> {
        if !target.starts_with('.') && self.packages.contains_key(split_package(target).0) {
            return self.in_workspace_once(target);
        }
        self.source_of(&package.folder, target).or_else(|| self.at_file(&join(&package.folder, target)))
    }

    /// A package that another one's alias names, without following aliases any further.
    fn in_workspace_once(&self, specifier: &str) -> Option<usize> {
        let (name, rest) = split_package(specifier);
        let package = self.settings.packages.get(*self.packages.get(name)?)?;
        self.at_file(&join(&package.folder, &format!("src/{rest}")))
            .or_else(|| self.at_file(&join(&package.folder, rest)))
    }

    /// The source of a compiled file: `dist/esm/a.js` was `src/a.ts`, or `src/esm/a.ts`, or lay without a `src`.
    fn source_of(&self, folder: &str, target: &str) -> Option<usize> {
        let target = join("", target);
        let target = target.strip_suffix(".d.ts").unwrap_or(&target);
        let mut rest = target;
        if target.split('/').any(|part| part == "src") {
            return self.at_file(&join(folder, target));
        }
        for _ in 0..4 {
            rest = rest.split_once('/')?.1;
            let found = self.at_file(&join(folder, &format!("src/{rest}")));
            if let Some(file) = found.or_else(|| self.at_file(&join(folder, rest))) {
                return Some(file);
            }
        }
        None
    }

    /// A file, a file without its ending, a folder with an index, or a package's folder.
    fn at(&self, path: &str) -> Option<usize> {
        self.at_file(path).or_else(|| {
            let package = self.settings.packages.iter().find(|package| package.folder == path)?;
            self.entry(package)
        })
    }

    fn at_file(&self, path: &str) -> Option<usize> {
        if let Some(file) = self.file(path) {
            return Some(file);
        }
        // TypeScript's sources are imported by the name that they are compiled to.
        if let Some((stem, ending)) = path.rsplit_once('.') {
            let written: &[&str] = match ending {
                "js" => &["ts", "tsx", "jsx", "mts"],
                "jsx" => &["tsx"],
                "mjs" => &["mts"],
                "cjs" => &["cts"],
                _ => &[],
            };
            let found = written.iter().find_map(|ending| self.file(&format!("{stem}.{ending}")));
            if found.is_some() {
                return found;
            }
        }
        let with_ending =
            |stem: &str| ENDINGS.iter().find_map(|ending| self.file(&format!("{stem}.{ending}")));
        if path.is_empty() {
            return with_ending("index");
        }
        with_ending(path).or_else(|| with_ending(&format!("{path}/index")))
    }
}

impl Resolve for Files {
    fn resolve(&self, from: &Name, specifier: &Name) -> Resolved {
        let search = || match self.search(from, specifier) {
            Some(file) => Resolved::File(file),
            None if specifier.starts_with('.') && may_be_source(specifier) => {
                Resolved::Unresolved(specifier.clone())
            }
            None => Resolved::Library(library_name(specifier).into()),
        };
        // Without such settings the name of a library does not depend on who asks for it.
        if !specifier.starts_with(['.', '#']) && !self.is_told(from) {
            if let Some(known) = self.anywhere.borrow().get(specifier) {
                return known.clone();
            }
            let resolved = search();
            self.anywhere.borrow_mut().insert(specifier.clone(), resolved.clone());
            return resolved;
        }
        let folder = folder(from);
        if let Some(known) = self.found.borrow().get(folder).and_then(|found| found.get(specifier)) {
            return known.clone();
        }
        let resolved = search();
        self.found.borrow_mut().entry(folder.into()).or_default().insert(specifier.clone(), resolved.clone());
        resolved
    }
}

/// Whether a project says where specifiers lead.
fn tells(project: &Project) -> bool {
    !project.paths.is_empty() || project.base.is_some()
}

/// The targets of the pattern that fits a name best, the `*` put in.
fn matching(patterns: &[(String, Vec<String>)], name: &str) -> Vec<String> {
    let fits = |pattern: &str| match pattern.split_once('*') {
        None => (pattern == name).then(|| (usize::MAX, String::new())),
        Some((before, after)) => {
            let middle = name.strip_prefix(before)?.strip_suffix(after)?;
            Some((before.len(), middle.to_owned()))
        }
    };
    let best = patterns
        .iter()
        .filter_map(|(pattern, targets)| fits(pattern).map(|(length, middle)| (length, middle, targets)))
        .max_by_key(|(length, _, _)| *length);
    match best {
        Some((_, middle, targets)) => targets.iter().map(|target| target.replace('*', &middle)).collect(),
        None => vec![],
    }
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

/// The package's name and the rest of a specifier: `@a/b/c/d` is `@a/b` and `c/d`.
fn split_package(specifier: &str) -> (&str, &str) {
    let slashes = if specifier.starts_with('@') { 1 } else { 0 };
    match specifier.match_indices('/').nth(slashes) {
        Some((at, _)) => {
            let (name, rest) = specifier.split_at_checked(at).unwrap_or((specifier, ""));
            (name, rest.trim_start_matches('/'))
        }
        None => (specifier, ""),
    }
}

/// A library as the knowledge names it.
fn library_name(specifier: &str) -> &str {
    specifier.strip_prefix("node:").unwrap_or(specifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], settings: &[(&str, &str)], from: &str, specifier: &str, expected: &str) {
        let paths: Vec<Name> = files.iter().map(|path| Name::from(*path)).collect();
        let settings: Vec<_> =
            settings.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let found = Files::new(&paths, Settings::read(&settings));
        let place = match found.resolve(&from.into(), &specifier.into()) {
            Resolved::File(file) => files[file].to_owned(),
            Resolved::Library(name) => format!("library {name}"),
            Resolved::Unresolved(name) => format!("unresolved {name}"),
        };
        assert_eq!(place, expected, "{specifier} in {from}");
    }

    #[test]
    fn relative_specifiers_find_files_endings_and_indices() {
        let files =
            ["src/a.ts", "src/b.tsx", "src/c/index.ts", "src/d.js", "src/e.mts", "index.ts", "src/f.g.ts"];
        for (specifier, expected) in [
            ("./a", "src/a.ts"),
            ("./a.js", "src/a.ts"),
            ("./a.ts", "src/a.ts"),
            ("./b.js", "src/b.tsx"),
            ("./c", "src/c/index.ts"),
            ("./c/index.js", "src/c/index.ts"),
            ("./d", "src/d.js"),
            ("./e.mjs", "src/e.mts"),
            ("./f.g", "src/f.g.ts"),
            ("..", "index.ts"),
            ("../../../../index", "index.ts"),
            ("./nothing", "unresolved ./nothing"),
            ("./style.css", "library ./style.css"),
            ("node:fs/promises", "library fs/promises"),
        ] {
            check(&files, &[], "src/x.ts", specifier, expected);
        }
    }

    #[test]
    fn aliases_come_from_the_nearest_project_and_what_it_extends() {
        let files = ["app/src/lib/a.ts", "app/src/b.ts", "shared/c.ts", "src/b.ts"];
        let settings = [
            ("tsconfig.base.json", r#"{"compilerOptions": {"paths": {"@shared/*": ["./shared/*"]}}}"#),
            (
                "app/tsconfig.json",
                "{ // ours\n\"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"@/*\": [\"src/*\"], \"@/lib/*\": [\"src/lib/*\"],}, }}",
            ),
            ("tsconfig.json", r#"{"extends": "./tsconfig.base"}"#),
        ];
        check(&files, &settings, "app/src/x.ts", "@/lib/a", "app/src/lib/a.ts");
        check(&files, &settings, "app/src/x.ts", "@/b.js", "app/src/b.ts");
        check(&files, &settings, "app/src/x.ts", "src/b", "app/src/b.ts");
        check(&files, &settings, "src/x.ts", "@shared/c", "shared/c.ts");
        check(&files, &settings, "src/x.ts", "@/b", "library @/b");
    }

    #[test]
    fn packages_of_a_workspace_lead_back_to_their_sources() {
        let files = [
            "packages/core/src/index.ts",
            "packages/core/src/tasks/store.ts",
            "packages/util/lib/main.js",
            "packages/old/index.js",
            "sdk/src/server/mcp.ts",
        ];
        let settings = [
            (
                "packages/core/package.json",
                r##"{"name": "@tm/core", "main": "./dist/index.js", "exports": {".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"}, "./tasks/*": "./dist/tasks/*.js"}, "imports": {"#s/*": "./src/tasks/*.ts"}}"##,
            ),
            ("packages/util/package.json", r#"{"name": "util-x", "exports": "./lib/main.js"}"#),
            ("packages/old/package.json", r#"{"name": "old"}"#),
            ("sdk/package.json", r#"{"name": "@modelcontextprotocol/sdk"}"#),
        ];
        for (specifier, expected) in [
            ("@tm/core", "packages/core/src/index.ts"),
            ("@tm/core/tasks/store", "packages/core/src/tasks/store.ts"),
            ("@tm/core/tasks/store.js", "packages/core/src/tasks/store.ts"),
            ("util-x", "packages/util/lib/main.js"),
            ("old", "packages/old/index.js"),
            ("@tm/other", "library @tm/other"),
            ("@modelcontextprotocol/sdk/server/mcp.js", "library @modelcontextprotocol/sdk/server/mcp.js"),
        ] {
            check(&files, &settings, "apps/x.ts", specifier, expected);
        }
        check(&files, &settings, "packages/core/src/x.ts", "#s/store", "packages/core/src/tasks/store.ts");
        check(&files, &settings, "apps/x.ts", "#s/store", "library #s/store");
    }

    #[test]
    fn a_broken_setting_is_named_and_the_others_count() {
        let settings = Settings::read(&[
            ("a/package.json".into(), "{".into()),
            ("package.json".into(), "{\"name\": \"x\"}".into()),
        ]);
        assert_eq!(settings.broken.len(), 1);
        assert_eq!(settings.broken[0].0, "a/package.json");
        assert_eq!(settings.packages.len(), 1);
    }
}
