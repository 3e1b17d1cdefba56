//! Finds the command that starts the server in a folder, from its `package.json`, `pyproject.toml` or built binary. Builds and installs nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// The program and its words.
    pub command: Vec<String>,
    /// What is added to its environment.
    pub environment: BTreeMap<String, String>,
    /// How it is known, for people.
    pub why: String,
}

impl Start {
    /// A command and nothing else.
    pub fn of(command: impl IntoIterator<Item = String>) -> Self {
        Self { command: command.into_iter().collect(), ..Self::default() }
    }

    fn because(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }
}

/// Larger files say nothing of how a server is started.
const LARGEST: u64 = 4 << 20;

/// One kind of project: how its server is started, or what is missing; nothing if the folder is of another kind.
type Way = fn(&Path) -> Option<Result<Start, String>>;

/// How the server in a folder is started, or why that is not known.
///
/// # Errors
/// A sentence that says what is missing, for people.
pub fn start(folder: &Path) -> Result<Start, String> {
    let ways: [Way; 4] = [node, python, cargo, go];
    let mut why = None;
    for way in ways {
        match way(folder) {
            Some(Ok(start)) => return Ok(start),
            Some(Err(missing)) => why = why.or(Some(missing)),
            None => {}
        }
    }
    let why = why.unwrap_or_else(|| "nothing in the folder says how it is started".to_owned());
    Err(format!("{why}; put its command behind `--`"))
}

fn read(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    if about.is_file() && about.len() <= LARGEST { fs::read_to_string(path).ok() } else { None }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// `bin` of `package.json`, if it is built and its packages are there.
fn node(folder: &Path) -> Option<Result<Start, String>> {
    let package: Value = serde_json::from_str(&read(&folder.join("package.json"))?).ok()?;
    let bin = match package.get("bin") {
        Some(Value::String(only)) => Some(only.clone()),
        Some(Value::Object(several)) => {
            // The one that is named as the package is, else the first.
            let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
            let name = name.rsplit('/').next().unwrap_or_default();
            let chosen = several.get(name).or_else(|| several.values().next());
            chosen.and_then(Value::as_str).map(str::to_owned)
        }
        _ => None,
    };
    let file = bin.or_else(|| package.get("main").and_then(Value::as_str).map(str::to_owned))?;
    let path = inside(folder, &file)?;
    if !path.is_file() {
        return Some(Err(format!("`{file}` of its package.json is not there: build it first")));
    }
    let needs =
        package.get("dependencies").and_then(Value::as_object).is_some_and(|needed| !needed.is_empty());
    if needs && !folder.ancestors().any(|above| above.join("node_modules").is_dir()) {
        return Some(Err("its packages are not installed: run `npm install` first".to_owned()));
    }
    Some(Ok(Start::of(["node".to_owned(), text(&path)]).because("its package.json names the program")))
}

/// A path of a package's own, that does not lead out of it.
fn inside(folder: &Path, file: &str) -> Option<PathBuf> {
    let path = folder.join(file.trim_start_matches("./"));
    let is_inside = Path::new(file)
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir));
    is_inside.then_some(path)
}

/// A script of `pyproject.toml`, if the project's environment has it.
fn python(folder: &Path) -> Option<Result<Start, String>> {
    let project: toml::Table = read(&folder.join("pyproject.toml"))?.parse().ok()?;
    let scripts = project.get("project")?.get("scripts")?.as_table()?;
    let name = project.get("project")?.get("name").and_then(toml::Value::as_str).unwrap_or_default();
    let script = if scripts.contains_key(name) { name.to_owned() } else { scripts.keys().next()?.clone() };
    let environments = [".venv/bin", "venv/bin", "env/bin"];
    let found = environments.iter().map(|bin| folder.join(bin).join(&script)).find(|path| path.is_file());
    Some(match found {
        Some(path) => Ok(Start::of([text(&path)]).because("its pyproject.toml names the program")),
        None => Err(format!(
            "`{script}` of its pyproject.toml is not installed in `.venv`: run `uv sync` or `pip install .` there first"
        )),
    })
}

/// The program of `Cargo.toml`, if it is built.
fn cargo(folder: &Path) -> Option<Result<Start, String>> {
    let manifest: toml::Table = read(&folder.join("Cargo.toml"))?.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    let bins = manifest.get("bin").and_then(toml::Value::as_array).and_then(|bins| bins.first());
    let bin = bins.and_then(|bin| bin.get("name")).and_then(toml::Value::as_str).unwrap_or(name);
    let built = ["target/release", "target/debug"].map(|place| folder.join(place).join(bin));
    Some(match built.into_iter().find(|path| path.is_file()) {
        Some(path) => Ok(Start::of([text(&path)]).because("its Cargo.toml names the program")),
        None => Err(format!("`{bin}` is not built: run `cargo build --release` first")),
    })
}

/// The program of `go.mod`, if it is built where `go build` puts it.
fn go(folder: &Path) -> Option<Result<Start, String>> {
    let module = read(&folder.join("go.mod"))?;
    let path = module.lines().find_map(|line| line.strip_prefix("module "))?.trim();
    let name = path.rsplit('/').next()?;
    let built = [folder.join(name), folder.join("bin").join(name)];
    Some(match built.into_iter().find(|path| path.is_file()) {
        Some(path) => Ok(Start::of([text(&path)]).because("its go.mod names the program")),
        None => Err(format!("`{name}` is not built: run `go build` first")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn what_a_folder_says_of_itself_is_the_command() {
        let package = (
            "package.json",
            r#"{"name":"@s/mem","bin":{"x":"x.js","mem":"dist/i.js"},"dependencies":{"a":"1"}}"#,
        );
        let built = folder(&[package, ("dist/i.js", ""), ("node_modules/a/package.json", "{}")]);
        let command = start(built.path()).unwrap().command;
        assert_eq!(command, ["node".to_owned(), text(&built.path().join("dist/i.js"))]);
        let python = folder(&[
            ("pyproject.toml", "[project]\nname = \"m\"\n[project.scripts]\nm-server = \"m:main\"\n"),
            (".venv/bin/m-server", ""),
        ]);
        assert_eq!(start(python.path()).unwrap().command, [text(&python.path().join(".venv/bin/m-server"))]);
        let rust = folder(&[("Cargo.toml", "[package]\nname = \"r\"\n"), ("target/debug/r", "")]);
        assert_eq!(start(rust.path()).unwrap().command, [text(&rust.path().join("target/debug/r"))]);
        let go = folder(&[("go.mod", "module h.example/o/g\n"), ("g", "")]);
        assert_eq!(start(go.path()).unwrap().command, [text(&go.path().join("g"))]);
    }

    #[test]
    fn what_is_missing_is_said() {
        for (files, why) in [
            (vec![("package.json", r#"{"bin":"dist/i.js"}"#)], "build it first"),
            (
                vec![("package.json", r#"{"bin":"i.js","dependencies":{"a":"1"}}"#), ("i.js", "")],
                "npm install",
            ),
            (
                vec![("pyproject.toml", "[project]\nname = \"m\"\n[project.scripts]\nm = \"m:main\"\n")],
                "not installed",
            ),
            (vec![("Cargo.toml", "[package]\nname = \"r\"\n")], "cargo build"),
            (vec![("go.mod", "module a/b\n")], "go build"),
            (vec![("package.json", "nonsense")], "nothing in the folder"),
            (vec![("package.json", r#"{"bin":"../../x.js"}"#)], "nothing in the folder"),
        ] {
            let folder = folder(&files);
            let said = start(folder.path()).unwrap_err();
            assert!(said.contains(why), "{files:?}: {said}");
        }
    }
}
