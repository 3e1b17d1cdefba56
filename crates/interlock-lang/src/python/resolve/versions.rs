//! How tools run that are no coroutines: inline up to `mcp` 1 and `fastmcp` 2, in threads from `mcp` 2 and `fastmcp` 3 on. Which of them a
//! tree gets is said by its lock file, or else by what it asks for; where that allows both, it may be either.

use interlock_model::ir::Interleaving;

use crate::{Handlers, Module};

/// An SDK, and the first version of it that runs plain functions in threads.
const SDKS: [(&str, u64); 2] = [("fastmcp", 3), ("mcp", 2)];

/// The module of `mcp` that there is up to version 1, and the one that is in its place from version 2 on.
const ONLY_BEFORE: &str = "mcp.server.fastmcp";
const ONLY_BEHIND: &str = "mcp.server.mcpserver";

/// What a setting allows: versions before the threads, and versions with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Allows {
    before: bool,
    behind: bool,
}

/// What is said of a tree: how its plain functions run, folder by folder, and which settings could not be read.
pub(super) fn handlers(
    modules: &[Module],
    settings: &[(String, String)],
) -> (Vec<Handlers>, Vec<(String, String)>) {
    let (mut found, mut broken): (Vec<Handlers>, Vec<(String, String)>) = (vec![], vec![]);
    let (sdk, first) = SDKS.into_iter().find(|(sdk, _)| imports(modules, sdk)).unwrap_or(("mcp", 2));
    // What later versions do not have any more says which one it is, unless the tree can do with those as well.
    let earlier = sdk == "mcp" && imports(modules, ONLY_BEFORE) && !imports(modules, ONLY_BEHIND);
    let narrowed = |allows: Allows| Allows { behind: allows.behind && !(earlier && allows.before), ..allows };
    let mut folders: Vec<&str> =
        settings.iter().filter(|(path, _)| !path.ends_with(".sql")).map(folder).collect();
    folders.sort_unstable();
    folders.dedup();
    for folder in folders {
        let mut allowed = None;
        for (path, text) in settings.iter().filter(|setting| self::folder(setting) == folder) {
            let name = path.rsplit('/').next().unwrap_or(path);
            match said(name, text, sdk, first) {
                // What is locked is what there is.
                Ok(Some(allows)) if name.ends_with(".lock") => {
                    allowed = Some(allows);
                    break;
                }
                Ok(Some(allows)) => allowed = allowed.or(Some(allows)),
                Ok(None) => {}
                Err(why) => broken.push((path.clone(), why)),
            }
        }
        found.extend(allowed.map(|allows| described(folder.to_owned(), narrowed(allows), sdk, first)));
    }
    if !found.iter().any(|known| known.folder.is_empty()) {
        let either = Allows { before: true, behind: true };
        found.push(described(String::new(), narrowed(either), sdk, first));
    }
    (found, broken)
}

/// Whether any file takes something from a library.
fn imports(modules: &[Module], library: &str) -> bool {
    let mut imports = modules.iter().flat_map(|module| &module.imports);
    imports.any(|import| {
        import.from.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn folder((path, _): &(String, String)) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn described(folder: String, allows: Allows, sdk: &str, first: u64) -> Handlers {
    let (interleaving, remark) = match allows {
        Allows { before: true, behind: true } => (
            Interleaving::Perhaps,
            Some(format!(
                "tools that are no coroutines run in threads from {sdk} {first} on, and one after the other before; the settings allow \
                 both versions, so what only meets in threads is reported with medium confidence"
            )),
        ),
        Allows { behind: true, .. } => (Interleaving::Anywhere, None),
        Allows { .. } => (Interleaving::AtSuspension, None),
    };
    Handlers { folder, interleaving, remark }
}

/// What one setting says about a library.
fn said(name: &str, text: &str, sdk: &str, first: u64) -> Result<Option<Allows>, String> {
    if name.ends_with(".txt") || name.ends_with(".in") {
        let mut lines = text.lines().filter_map(|line| line.split('#').next());
        return Ok(lines.find_map(|line| required(line, sdk)).map(|asked| allows(&asked, first)));
    }
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    if name.ends_with(".lock") {
        let packages = table.get("package").and_then(toml::Value::as_array).into_iter().flatten();
        let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
        let mut named = packages.filter(|package| text(package, "name").is_some_and(|name| name == sdk));
        let version = named.next().and_then(|package| text(package, "version"));
        return Ok(version.map(|version| allows(&format!("=={version}"), first)));
    }
    Ok(asked(&table, sdk).map(|asked| allows(&asked, first)))
}

/// What a project file asks for of a library.
fn asked(table: &toml::Table, sdk: &str) -> Option<String> {
    let at = |path: &[&str]| {
        let mut value = table.get(*path.first()?)?;
        for step in path.iter().skip(1) {
            value = value.get(step)?;
        }
        Some(value)
    };
    let lists = [at(&["project", "dependencies"])].into_iter().flatten();
    let groups =
        [at(&["project", "optional-dependencies"]), at(&["dependency-groups"])].into_iter().flatten();
    let groups = groups.filter_map(toml::Value::as_table).flat_map(toml::Table::values);
    let texts =
        lists.chain(groups).filter_map(toml::Value::as_array).flatten().filter_map(toml::Value::as_str);
    let mut texts = texts.filter_map(|text| required(text, sdk));
    texts.next().or_else(|| {
        let version = at(&["tool", "poetry", "dependencies", sdk])?;
        let version = version.as_str().or_else(|| version.get("version")?.as_str())?;
        Some(version.to_owned())
    })
}

/// The versions that a requirement asks for, if it is about a library: `mcp[cli]>=1.2,<2 ; python_version > "3.9"`.
fn required(requirement: &str, sdk: &str) -> Option<String> {
    let text = requirement.split(';').next()?.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    if !name.eq_ignore_ascii_case(sdk) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = if rest.starts_with('[') { rest.split_once(']')?.1 } else { rest };
    Some(rest.trim().trim_matches(['(', ')']).to_owned())
}

/// On which side of a version the versions are that something asks for.
fn allows(asked: &str, first: u64) -> Allows {
    let mut allows = Allows { before: true, behind: true };
    for part in asked.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let digits = part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len());
        let Some((how, version)) = part.split_at_checked(digits) else { continue };
        let mut numbers = version.split(|c: char| !c.is_ascii_digit());
        let Some(major) = numbers.next().and_then(|major| major.parse::<u64>().ok()) else { continue };
        let whole = numbers.all(|part| part.parse::<u64>().unwrap_or(0) == 0);
        match how.trim() {
            "==" | "===" | "~=" | "^" | "~" | "" | "=" => {
                allows.before &= major < first;
                allows.behind &= major >= first;
            }
            ">=" | ">" => allows.before &= major < first,
            "<" => allows.behind &= major > first || major == first && !whole,
            "<=" => allows.behind &= major >= first,
            _ => {}
        }
    }
    allows
}

#[cfg(test)]
mod tests {
    use super::*;

    const INLINE: Allows = Allows { before: true, behind: false };
    const THREADS: Allows = Allows { before: false, behind: true };
    const EITHER: Allows = Allows { before: true, behind: true };

    #[test]
    fn a_bound_says_on_which_side_the_versions_are() {
        let rows = [
            ("", EITHER),
            (">=1.2", EITHER),
            (">=1.2,<2", INLINE),
            (">=1.2,<2.0.0", INLINE),
            ("<2.1", EITHER),
            ("==1.9.4", INLINE),
            ("~=1.2", INLINE),
            ("^1.2", INLINE),
            (">=2", THREADS),
            ("==2.*", THREADS),
            ("*", EITHER),
        ];
        for (asked, expected) in rows {
            assert_eq!(allows(asked, 2), expected, "{asked}");
        }
    }

    #[test]
    fn requirements_are_read_wherever_they_are_written() {
        let rows = [
            (
                "requirements.txt",
                "# none\nmcp-server-x==9\nmcp[cli]>=1.2,<2 ; python_version > '3.9'\n",
                Some(INLINE),
            ),
            ("pyproject.toml", "[project]\ndependencies = [\"httpx\", \"mcp>=1.0\"]\n", Some(EITHER)),
            (
                "pyproject.toml",
                "[tool.poetry.dependencies]\nmcp = { version = \"^1.3\", extras = [\"cli\"] }\n",
                Some(INLINE),
            ),
            ("uv.lock", "[[package]]\nname = \"mcp\"\nversion = \"2.0.1\"\n", Some(THREADS)),
            ("pyproject.toml", "[project]\nname = \"mcp\"\n", None),
        ];
        for (name, text, expected) in rows {
            assert_eq!(said(name, text, "mcp", 2), Ok(expected), "{name}: {text}");
        }
        assert!(said("pyproject.toml", "[project", "mcp", 2).is_err());
    }

    #[test]
    fn what_is_locked_wins_over_what_is_asked_for() {
        let settings = [
            ("a/pyproject.toml".to_owned(), "[project]\ndependencies = [\"mcp>=1\"]".to_owned()),
            ("a/uv.lock".to_owned(), "[[package]]\nname = \"mcp\"\nversion = \"1.9.0\"\n".to_owned()),
        ];
        let (found, broken) = handlers(&[], &settings);
        let known: Vec<_> = found.iter().map(|it| (it.folder.as_str(), it.interleaving)).collect();
        assert_eq!(known, [("a", Interleaving::AtSuspension), ("", Interleaving::Perhaps)]);
        assert_eq!(broken, []);
    }
}
