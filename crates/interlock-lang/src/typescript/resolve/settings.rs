//! The files that say how sources belong together: `package.json` and `tsconfig.json`; and schemas, which say what tables there are.

use serde_json::Value;

use super::jsonc;
use crate::Schema;

/// How far `extends` of a `tsconfig.json` is followed.
const EXTENDS: usize = 8;

/// What the settings of a tree say.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// The packages.
    pub(super) packages: Vec<Package>,
    /// The projects, those deepest in the tree first.
    pub(super) projects: Vec<Project>,
    /// The texts of the schemas.
    pub(super) schemas: Vec<Schema>,
    /// The settings that could not be read: path and why.
    pub(super) broken: Vec<(String, String)>,
}

/// A `package.json`.
#[derive(Debug)]
pub(super) struct Package {
    /// The folder that it lies in; empty for the root.
    pub(super) folder: String,
    /// Its name, if it has one.
    pub(super) name: Option<String>,
    /// What it says where its code is, in order of preference.
    pub(super) entries: Vec<String>,
    /// Its `exports`: subpath (`.`, `./x`, `./x/*`) and where that may be.
    pub(super) exports: Vec<(String, Vec<String>)>,
    /// Its `imports`: `#x` and where that may be.
    pub(super) imports: Vec<(String, Vec<String>)>,
}

/// A `tsconfig.json`.
#[derive(Debug, Clone, Default)]
pub(super) struct Project {
    /// The folder whose files it speaks of.
    pub(super) folder: String,
    /// The folder from which names that are no paths are looked up.
    pub(super) base: Option<String>,
    /// Patterns with at most one `*`, and where they lead, relative to the scanned root.
    pub(super) paths: Vec<(String, Vec<String>)>,
}

impl Settings {
    /// Reads all of them; `files` are path and text.
    pub(super) fn read(files: &[(String, String)]) -> Self {
        let mut settings = Self::default();
        let mut configs: Vec<(&str, Value)> = Vec::new();
        for (path, text) in files {
            if path.ends_with(".prisma") {
                settings.schemas.push(Schema::Prisma(text.clone()));
                continue;
            }
            if path.ends_with(".sql") {
                settings.schemas.push(Schema::Sql(text.clone()));
                continue;
            }
            match jsonc::parse(text) {
                Ok(value) if file_name(path) == "package.json" => {
                    settings.packages.push(package(folder(path), &value));
                }
                Ok(value) => configs.push((path, value)),
                Err(error) => settings.broken.push((path.clone(), error.to_string())),
            }
        }
        for (path, _) in &configs {
            if matches!(file_name(path), "tsconfig.json" | "jsconfig.json") {
                let mut project = project(&configs, path, EXTENDS).unwrap_or_default();
                folder(path).clone_into(&mut project.folder);
                settings.projects.push(project);
            }
        }
        settings.projects.sort_by_key(|project| std::cmp::Reverse(project.folder.len()));
        settings.packages.sort_by_key(|package| std::cmp::Reverse(package.folder.len()));
        settings
    }

    /// The project that a file belongs to.
    pub(super) fn projects_of<'s>(&'s self, path: &'s str) -> impl Iterator<Item = &'s Project> {
        self.projects.iter().filter(move |project| is_inside(path, &project.folder))
    }

    /// The package that a file belongs to.
    pub(super) fn package_of(&self, path: &str) -> Option<&Package> {
        self.packages.iter().find(|package| is_inside(path, &package.folder))
    }
}

fn package(folder: &str, value: &Value) -> Package {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let listed = |key: &str| match value.get(key) {
        Some(Value::Object(members)) => {
            members.iter().map(|(name, target)| (name.clone(), targets(target))).collect()
        }
        _ => Vec::new(),
    };
    let mut exports: Vec<(String, Vec<String>)> = listed("exports");
    if !exports.iter().any(|(name, _)| name.starts_with('.')) {
        // The short forms: one target, or one set of conditions, for the package itself.
        exports = value.get("exports").map(|target| (".".to_owned(), targets(target))).into_iter().collect();
    }
    Package {
        folder: folder.to_owned(),
        name: text("name"),
        entries: ["source", "module", "main", "types"].into_iter().filter_map(text).collect(),
        exports,
        imports: listed("imports"),
    }
}

/// All places that a target names, in their order, whatever the condition; bounded, for the text is not trusted.
fn targets(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) if found.len() < 16 => found.push(text.clone()),
            Value::Array(items) => pending.extend(items.iter().rev()),
            Value::Object(members) => pending.extend(members.values().rev()),
            _ => {}
        }
    }
    found
}

fn project(configs: &[(&str, Value)], path: &str, depth: usize) -> Option<Project> {
    let (path, value) = configs.iter().find(|(other, _)| *other == path)?;
    let extends = match value.get("extends") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).take(EXTENDS).collect(),
        _ => vec![],
    };
    let mut project = Project::default();
    for parent in extends {
        let parent = join(folder(path), parent);
        let spellings = [parent.clone(), format!("{parent}.json"), format!("{parent}/tsconfig.json")];
        let read = |path: &String| if depth == 0 { None } else { self::project(configs, path, depth - 1) };
        if let Some(parent) = spellings.iter().find_map(read) {
            project = parent;
        }
    }
    let options = value.get("compilerOptions");
    let option = |key: &str| options.and_then(|options| options.get(key));
    if let Some(base) = option("baseUrl").and_then(Value::as_str) {
        project.base = Some(join(folder(path), base));
    }
    if let Some(Value::Object(paths)) = option("paths") {
        let base = project.base.clone().unwrap_or_else(|| folder(path).to_owned());
        let lead =
            |target: &Value| targets(target).iter().map(|target| join(&base, target)).collect::<Vec<_>>();
        project.paths = paths.iter().map(|(pattern, target)| (pattern.clone(), lead(target))).collect();
    }
    Some(project)
}

/// The folder of a file; empty for the root.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

pub(super) fn is_inside(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// A path that is written relative to a folder, relative to the scanned root. What would lead out of the root stays at it: such a
/// path is found nowhere, or by chance under the same name, which does no harm.
pub(super) fn join(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = if relative.starts_with('/') {
        vec![]
    } else {
        folder.split('/').filter(|part| !part.is_empty()).collect()
    };
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
