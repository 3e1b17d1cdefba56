//! Packages of npm: what `npx`, `npm exec`, `pnpm dlx`, `yarn dlx` and `bunx` start.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

use super::{Wanted, installed_by, stage, unclear};
use crate::{
    isolate::resolve::{Given, text},
    request::Progress,
    trouble::Trouble,
};

/// Options that say nothing about what is started.
const IDLE: &[&str] =
    &["-y", "--yes", "-q", "--quiet", "--silent", "-s", "--no", "--no-install", "--bun", "--prefer-offline"];

/// Installs what is wanted, unless the project has it, and puts its program in place.
pub(super) async fn fetch(
    given: &mut Given<'_>,
    words: &[String],
    progress: &dyn Progress,
) -> Result<Option<TempDir>, Trouble> {
    let wanted = wanted(words).map_err(|why| unclear(given, &why))?;
    if let Some(program) = of_project(given.directory, &wanted) {
        given.command = [vec![text(&program)], wanted.arguments].concat();
        return Ok(None);
    }
    progress.doing(&format!("fetching {}", wanted.packages.join(", ")));
    if let Some(folder) = kept_by_npx(given, &wanted).await
        && let Some(program) = program_in(&folder, &wanted)
    {
        start_installed(given, &folder, &program, wanted.arguments);
        return Ok(None);
    }
    let stage = stage()?;
    let folder = stage.path().canonicalize()?;
    fs::write(folder.join("package.json"), r#"{"private": true}"#)?;
    // The registry that the project has its packages from.
    let settings = given.directory.join(".npmrc");
    if settings.is_file() {
        fs::copy(settings, folder.join(".npmrc"))?;
    }
    let mut install: Vec<String> =
        ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", "--prefix"]
            .map(str::to_owned)
            .into();
    install.push(text(&folder));
    install.extend(wanted.options.iter().cloned());
    // A folder or an archive is named as seen from the user's folder.
    let local =
        |spec: &String| if spec.starts_with('.') { text(&given.directory.join(spec)) } else { spec.clone() };
    install.extend(wanted.packages.iter().map(local));
    installed_by("npm", &install, &[], &folder).await?;
    let Some(program) = program_in(&folder, &wanted) else {
        return Err(unclear(given, "the package has no program of its name"));
    };
    start_installed(given, &folder, &program, wanted.arguments);
    Ok(Some(stage))
}

/// Puts an installed program in place of its launcher, with the programs of its packages on the path as the launcher has them.
fn start_installed(given: &mut Given<'_>, folder: &Path, program: &Path, arguments: Vec<String>) {
    let path = given.variable("PATH").and_then(|path| path.into_string().ok()).unwrap_or_default();
    given.environment.insert("PATH".into(), format!("{}:{path}", text(&folder.join("node_modules/.bin"))));
    given.command = [vec![text(program)], arguments].concat();
}

/// The program that is wanted, in a folder where its packages are installed.
fn program_in(folder: &Path, wanted: &Wanted) -> Option<PathBuf> {
    let program = match &wanted.program {
        Some(name) => Some(folder.join("node_modules/.bin").join(name)),
        None => first_dependency(folder).and_then(|package| program_of(folder, &package)),
    };
    program.filter(|program| program.exists())
}

/// More folders of its own npx is not asked for.
const MOST_KEPT: usize = 500;

/// Where npx has the packages, if each is named with the one version that there is of it: then the registry has nothing to add. What npx does not have yet
/// it fetches as it would to start it, so that neither the next proof nor the user waits for it again.
async fn kept_by_npx(given: &Given<'_>, wanted: &Wanted) -> Option<PathBuf> {
    if !wanted.packages.iter().all(|package| is_pinned(package)) {
        return None;
    }
    let cache = given.variable("npm_config_cache").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(given.variable("HOME")?).join(".npm")))?;
    let kept = cache.join("_npx");
    if let Some(folder) = find_kept(&kept, &wanted.packages) {
        return Some(folder);
    }
    if !cache.is_dir() {
        return None;
    }
    let mut words: Vec<String> = ["exec", "--yes", "--loglevel=error"].map(str::to_owned).into();
    words.extend(wanted.options.iter().cloned());
    words.extend(wanted.packages.iter().map(|package| format!("--package={package}")));
    words.extend(["--", "node", "--eval", "0"].map(str::to_owned));
    installed_by("npm", &words, &[], given.directory).await.ok()?;
    find_kept(&kept, &wanted.packages)
}

/// The folder in which npx has exactly these packages.
fn find_kept(kept: &Path, packages: &[String]) -> Option<PathBuf> {
    let folders = fs::read_dir(kept).ok()?.filter_map(Result::ok).take(MOST_KEPT).map(|entry| entry.path());
    let mut folders = folders.filter(|folder| {
        let about = read(&folder.join("package.json")).unwrap_or_default();
        let named = about.pointer("/_npx/packages").and_then(Value::as_array);
        let is_for_them = named.is_some_and(|named| named.iter().filter_map(Value::as_str).eq(packages));
        is_for_them && packages.iter().all(|package| is_installed(folder, package))
    });
    folders.next()
}

/// A package's name and version, where exactly one is named.
fn pinned(package: &str) -> Option<(&str, &str)> {
    let (name, version) = package.rsplit_once('@').filter(|(name, _)| !name.is_empty())?;
    let is_exact = version.starts_with(|c: char| c.is_ascii_digit())
        && version.split(['-', '+']).next().is_some_and(|numbers| {
            numbers.split('.').count() == 3 && numbers.split('.').all(|part| part.parse::<u64>().is_ok())
        });
    (is_exact && !name.contains([':', ' ']) && !name.starts_with(['.', '/'])).then_some((name, version))
}

fn is_pinned(package: &str) -> bool {
    pinned(package).is_some()
}

fn is_installed(folder: &Path, package: &str) -> bool {
    let Some((name, version)) = pinned(package) else { return false };
    let about = read(&folder.join("node_modules").join(name).join("package.json")).unwrap_or_default();
    about.get("version").and_then(Value::as_str) == Some(version)
}

/// Reads the words behind the launcher.
fn wanted(words: &[String]) -> Result<Wanted, String> {
    let mut wanted =
        Wanted { packages: Vec::new(), program: None, options: Vec::new(), arguments: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            idle if IDLE.contains(&idle) => {}
            "--" => {}
            "-p" | "--package" => wanted.packages.extend(words.next().cloned()),
            "-c" | "--call" => return Err("`-c` is a line of shell".into()),
            option if option.starts_with("--package=") => {
                wanted.packages.extend(option.strip_prefix("--package=").map(str::to_owned));
            }
            option if option.starts_with("--") && option.contains('=') => wanted.options.push(word.clone()),
            option if option.starts_with('-') => {
                return Err(format!("its option `{option}` is not known here"));
            }
            _ => {
                if wanted.packages.is_empty() {
                    wanted.packages.push(word.clone());
                } else {
                    wanted.program = Some(word.clone());
                }
                wanted.arguments.extend(words.cloned());
                break;
            }
        }
    }
    match wanted.packages.as_slice() {
        [] => Err("it names no package".into()),
        [_, _, ..] if wanted.program.is_none() => Err("it names no program of its packages".into()),
        _ => Ok(wanted),
    }
}

/// The program of a package that the project around a folder has installed, if no version is asked for.
fn of_project(folder: &Path, wanted: &Wanted) -> Option<PathBuf> {
    let [package] = wanted.packages.as_slice() else { return None };
    let has_version = package.strip_prefix('@').unwrap_or(package).contains('@');
    if has_version || package.starts_with(['.', '/']) {
        return None;
    }
    folder.ancestors().find_map(|folder| match &wanted.program {
        Some(name) => Some(folder.join("node_modules/.bin").join(name)).filter(|program| program.exists()),
        None => program_of(folder, package).filter(|program| program.exists()).or_else(|| {
            // A program may be asked for by its own name, whatever its package is called.
            Some(folder.join("node_modules/.bin").join(package)).filter(|program| program.is_file())
        }),
    })
}

fn first_dependency(folder: &Path) -> Option<String> {
    let package = read(&folder.join("package.json"))?;
    package.get("dependencies")?.as_object()?.keys().next().cloned()
}

/// The program that stands for a package: the only one, or the one with its name.
fn program_of(folder: &Path, package: &str) -> Option<PathBuf> {
    let about = read(&folder.join("node_modules").join(package).join("package.json"))?;
    let short = package.rsplit('/').next().unwrap_or(package);
    let name = match about.get("bin")? {
        Value::String(_) => short,
        Value::Object(programs) if programs.len() == 1 => programs.keys().next()?,
        Value::Object(programs) => programs.keys().find(|name| *name == short)?,
        _ => return None,
    };
    Some(folder.join("node_modules/.bin").join(name))
}

fn read(file: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(line: &str) -> Result<Wanted, String> {
        wanted(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn told(packages: &[&str], program: Option<&str>, arguments: &[&str]) -> Wanted {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Wanted {
            packages: owned(packages),
            program: program.map(str::to_owned),
            options: Vec::new(),
            arguments: owned(arguments),
        }
    }

    #[test]
    fn what_behind_npx_is_the_package_and_what_its_arguments() {
        assert_eq!(
            read_words("-y @a/b@1.2 --x {scratch}"),
            Ok(told(&["@a/b@1.2"], None, &["--x", "{scratch}"]))
        );
        assert_eq!(read_words("--package=@a/b -- run -y"), Ok(told(&["@a/b"], Some("run"), &["-y"])));
        assert_eq!(read_words("-p a -p b serve"), Ok(told(&["a", "b"], Some("serve"), &[])));
        for unclear in ["", "-y", "-c x", "--frob a", "-p a -p b"] {
            assert!(read_words(unclear).is_err(), "{unclear}");
        }
    }

    #[test]
    fn what_npx_has_is_found_by_packages_that_are_pinned() {
        for (package, expected) in [
            ("@a/b@1.2.3", true),
            ("b@2026.8.31-rc.1", true),
            ("b@latest", false),
            ("b@^1.2.3", false),
            ("b@1", false),
            ("@a/b", false),
            ("github:a/b@1.2.3", false),
        ] {
            assert_eq!(is_pinned(package), expected, "{package}");
        }
        let kept = tempfile::tempdir().unwrap();
        let at = kept.path().join("7f3a");
        fs::create_dir_all(at.join("node_modules/@a/b")).unwrap();
        let write = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
        write(
            "package.json",
            r#"{"dependencies": {"@a/b": "^1.2.3"}, "_npx": {"packages": ["@a/b@1.2.3"]}}"#,
        );
        write("node_modules/@a/b/package.json", r#"{"version": "1.2.3"}"#);
        assert_eq!(find_kept(kept.path(), &["@a/b@1.2.3".to_owned()]), Some(at.clone()));
        assert_eq!(find_kept(kept.path(), &["@a/b@1.2.4".to_owned()]), None);
        write("node_modules/@a/b/package.json", r#"{"version": "1.2.0"}"#);
        assert_eq!(find_kept(kept.path(), &["@a/b@1.2.3".to_owned()]), None, "it was changed since");
    }

    #[test]
    fn the_program_of_a_package_is_its_only_one_or_the_one_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let package = |name: &str, bin: &str| {
            let at = folder.path().join("node_modules").join(name);
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("package.json"), format!(r#"{{"bin": {bin}}}"#)).unwrap();
            program_of(folder.path(), name).map(|path| text(path.file_name().unwrap().as_ref()))
        };
        assert_eq!(package("@a/b", "\"x.js\"").as_deref(), Some("b"));
        assert_eq!(package("c", r#"{"other": "x.js"}"#).as_deref(), Some("other"));
        assert_eq!(package("d", r#"{"e": "x.js", "d": "y.js"}"#).as_deref(), Some("d"));
        assert_eq!(package("f", r#"{"g": "x.js", "h": "y.js"}"#), None);
        assert_eq!(package("i", "7"), None);
    }
}
