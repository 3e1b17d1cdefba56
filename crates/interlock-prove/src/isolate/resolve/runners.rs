//! Runners that start a server in the folder of its project: `npm start`, `uv run`. They would take it back to the user's folder, so what
//! they would run is run without them, where that can be told; else the command is refused with what to write instead.

use std::{fs, path::Path};

use serde_json::Value;

use super::{Given, text};
use crate::{isolate::launchers::installed_by, trouble::Trouble};

/// Runners that build or choose an environment first.
const OTHERS: &[(&str, &[&str])] = &[
    ("cargo", &["run", "r"]),
    ("go", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("pdm", &["run"]),
    ("hatch", &["run"]),
    ("rye", &["run"]),
    ("deno", &["task"]),
    ("make", &[]),
    ("just", &[]),
];

/// What a shell would do more than start a program with words.
const SHELL: &[char] =
    &['&', '|', ';', '<', '>', '$', '`', '(', ')', '*', '?', '~', '"', '\'', '\\', '{', '}', '='];

/// Puts what a runner would run in its place.
pub(super) async fn unfold(given: &mut Given<'_>) -> Result<(), Trouble> {
    let program = given.program().to_owned();
    let words: Vec<String> = given.command.iter().skip(1).cloned().collect();
    let word = |at: usize| words.get(at).map(String::as_str);
    match (program.as_str(), word(0)) {
        ("npm" | "pnpm" | "yarn" | "bun", Some("run" | "run-script")) => {
            // `bun run FILE` is no script of the package.
            if program == "bun" && word(1).is_some_and(|name| given.directory.join(name).is_file()) {
                return Ok(());
            }
            script(given, word(1).unwrap_or_default(), words.get(2..).unwrap_or_default())
        }
        ("npm" | "pnpm" | "yarn", Some("start")) => {
            script(given, "start", words.get(1..).unwrap_or_default())
        }
        ("uv", Some("run")) => project_of_uv(given, words.get(1..).unwrap_or_default()).await,
        (name, first) => {
            let known = OTHERS.iter().find(|(runner, _)| *runner == name);
            match known {
                Some((_, verbs)) if verbs.is_empty() || first.is_some_and(|verb| verbs.contains(&verb)) => {
                    Err(unclear(
                        &given.command,
                        "it works in the current folder, and the server gets one of its own",
                    ))
                }
                _ => Ok(()),
            }
        }
    }
}

/// A script of `package.json`, if it is a program with words.
fn script(given: &mut Given<'_>, name: &str, more: &[String]) -> Result<(), Trouble> {
    let folder = given.directory;
    let package = fs::read_to_string(folder.join("package.json")).ok();
    let package: Option<Value> = package.and_then(|text| serde_json::from_str(&text).ok());
    let line = package.as_ref().and_then(|package| package.get("scripts")?.get(name)?.as_str());
    let Some(line) = line else {
        return Err(unclear(&given.command, "package.json here has no such script"));
    };
    if line.contains(SHELL) {
        return Err(unclear(&given.command, "its script needs a shell in that folder"));
    }
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let more =
        if more.first().is_some_and(|word| word == "--") { more.get(1..).unwrap_or_default() } else { more };
    words.extend(more.iter().cloned());
    // A package runner finds the programs of its packages first.
    let own = words.first().map(|program| folder.join("node_modules/.bin").join(program));
    if let (Some(own), Some(program)) = (own.filter(|own| own.is_file()), words.first_mut()) {
        *program = text(&own);
    }
    given.command = words;
    Ok(())
}

/// `uv run PROGRAM` and `uv run FILE.py` in a project: its environment is brought up to date, and then used as it is.
async fn project_of_uv(given: &mut Given<'_>, words: &[String]) -> Result<(), Trouble> {
    let mut folder = given.directory.to_owned();
    let mut words = words.iter();
    let first = loop {
        match words.next().map(String::as_str) {
            Some("--directory" | "--project") => {
                folder = folder.join(words.next().map(String::as_str).unwrap_or_default());
            }
            Some("-q" | "--quiet" | "--frozen" | "--locked" | "--no-sync" | "--") => {}
            Some(word) if word.starts_with('-') && word != "-m" => {
                return Err(unclear(&given.command, &format!("its option `{word}` is not known here")));
            }
            Some(word) => break word.to_owned(),
            None => return Err(unclear(&given.command, "it names no program")),
        }
    };
    if !folder.join("pyproject.toml").is_file() {
        return Err(unclear(&given.command, "there is no project in that folder"));
    }
    let uv = given.command.first().cloned().unwrap_or_default();
    let sync = ["sync", "--inexact", "--project", &text(&folder)].map(str::to_owned);
    installed_by(&uv, &sync, &[], &folder).await?;
    let programs = folder.join(".venv/bin");
    let mut command = match first.as_str() {
        "-m" => vec![text(&programs.join("python")), first],
        file if is_script(&folder, file) => vec![text(&programs.join("python")), text(&folder.join(file))],
        name if programs.join(name).is_file() => vec![text(&programs.join(name))],
        name => vec![name.to_owned()],
    };
    command.extend(words.cloned());
    given.command = command;
    Ok(())
}

fn is_script(folder: &Path, name: &str) -> bool {
    name.ends_with(".py") && folder.join(name).is_file()
}

fn unclear(command: &[String], why: &str) -> Trouble {
    let command = command.join(" ");
    Trouble::Unclear(format!(
        "what `{command}` starts cannot be told: {why}. Name the built program or the interpreter and its script behind `--`, or give \
         --in-place"
    ))
}
