//! Packages of PyPI: what `uvx` and `pipx run` start. Both can also install for good, in folders that variables name.

use std::path::Path;

use tempfile::TempDir;

use super::{Wanted, installed_by, stage, unclear};
use crate::{
    isolate::resolve::{Given, text},
    request::Progress,
    trouble::Trouble,
};

/// Options that say nothing about what is started.
const IDLE: &[&str] = &["-q", "--quiet", "--isolated", "--refresh", "--no-progress", "--"];
/// Options of `uvx` that `uv tool install` knows too, with a value behind them.
const OF_UV: &[&str] = &[
    "--with",
    "-w",
    "--python",
    "-p",
    "--index",
    "--index-url",
    "--default-index",
    "--extra-index-url",
    "--constraints",
];
/// The same for `pipx`.
const OF_PIPX: &[&str] = &["--python", "--index-url", "-i", "--pip-args"];

pub(super) async fn fetch_by_uv(
    given: &mut Given<'_>,
    words: &[String],
    progress: &dyn Progress,
) -> Result<Option<TempDir>, Trouble> {
    let wanted = wanted(words, "--from", OF_UV).map_err(|why| unclear(given, &why))?;
    // `uvx` stands beside `uv`.
    let launcher = given.command.first().cloned().unwrap_or_default();
    let uv = match Path::new(&launcher).parent() {
        Some(folder) if launcher.contains('/') => text(&given.directory.join(folder).join("uv")),
        _ => "uv".to_owned(),
    };
    let variables = [("UV_TOOL_DIR", "tools"), ("UV_TOOL_BIN_DIR", "bin")];
    // Unlike pip, uv leaves bytecode to the first start; here every instance would be the first, because none may write beside the code.
    let verb = ["tool", "install", "--quiet", "--compile-bytecode"];
    install(given, &uv, &verb, wanted, &variables, progress).await
}

pub(super) async fn fetch_by_pipx(
    given: &mut Given<'_>,
    words: &[String],
    progress: &dyn Progress,
) -> Result<Option<TempDir>, Trouble> {
    let wanted = wanted(words, "--spec", OF_PIPX).map_err(|why| unclear(given, &why))?;
    let pipx = given.command.first().cloned().unwrap_or_default();
    let variables = [("PIPX_HOME", "tools"), ("PIPX_BIN_DIR", "bin"), ("PIPX_MAN_DIR", "man")];
    install(given, &pipx, &["install"], wanted, &variables, progress).await
}

async fn install(
    given: &mut Given<'_>,
    installer: &str,
    verb: &[&str],
    wanted: Wanted,
    variables: &[(&str, &str)],
    progress: &dyn Progress,
) -> Result<Option<TempDir>, Trouble> {
    progress.doing(&format!("fetching {}", wanted.packages.join(", ")));
    let stage = stage()?;
    let folder = stage.path().canonicalize()?;
    let mut words: Vec<String> = verb.iter().map(|word| (*word).to_owned()).collect();
    words.extend(wanted.options);
    words.extend(wanted.packages);
    let variables: Vec<(&str, String)> =
        variables.iter().map(|(name, below)| (*name, text(&folder.join(below)))).collect();
    installed_by(installer, &words, &variables, given.directory).await?;
    let program = folder.join("bin").join(wanted.program.unwrap_or_default());
    if !program.exists() {
        return Err(unclear(given, "the package has no program of its name"));
    }
    given.command = [vec![text(&program)], wanted.arguments].concat();
    Ok(Some(stage))
}

/// Reads the words behind the launcher. `from` is the option that names a package apart from its program.
fn wanted(words: &[String], from: &str, known: &[&str]) -> Result<Wanted, String> {
    let mut package = None;
    let mut options = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            idle if IDLE.contains(&idle) => {}
            option if option == from => package = words.next().cloned(),
            option if known.contains(&option) => {
                options.push(word.clone());
                options.extend(words.next().cloned());
            }
            option if option.starts_with("--") && option.contains('=') => options.push(word.clone()),
            option if option.starts_with('-') => {
                return Err(format!("its option `{option}` is not known here"));
            }
            name => {
                // `server@1.2` is a version, `server@latest` none.
                let (name, version) = match name.split_once('@') {
                    Some((name, version)) => (name, Some(version)),
                    None => (name.split(['=', '<', '>', '~', '[']).next().unwrap_or(name), None),
                };
                let spec = match version {
                    Some("latest") => name.to_owned(),
                    Some(version) => format!("{name}=={version}"),
                    None => word.clone(),
                };
                return Ok(Wanted {
                    packages: vec![package.unwrap_or(spec)],
                    program: Some(name.to_owned()),
                    options,
                    arguments: words.cloned().collect(),
                });
            }
        }
    }
    Err("it names no package".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_behind_uvx_is_the_package_the_program_and_its_arguments() {
        let read = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            wanted(&words, "--from", OF_UV).map(|wanted| {
                (
                    wanted.packages.join(" "),
                    wanted.program.unwrap_or_default(),
                    wanted.options.join(" "),
                    wanted.arguments.join(" "),
                )
            })
        };
        let told = |package: &str, program: &str, options: &str, arguments: &str| {
            Ok((package.to_owned(), program.to_owned(), options.to_owned(), arguments.to_owned()))
        };
        assert_eq!(read("server --root x"), told("server", "server", "", "--root x"));
        assert_eq!(read("server@1.2"), told("server==1.2", "server", "", ""));
        assert_eq!(read("server@latest"), told("server", "server", "", ""));
        assert_eq!(read("server==3"), told("server==3", "server", "", ""));
        assert_eq!(read("--from a[b] --with c serve"), told("a[b]", "serve", "--with c", ""));
        assert!(read("").is_err());
        assert!(read("--frob x").is_err());
    }
}
