//! Python's threads, switched at other places than usual: a tracer in the server pauses them where the interpreter may switch anyway.
//!
//! Python loads `sitecustomize` when it starts; ours is found first (`PYTHONPATH`), starts a thread that sleeps on a named pipe, and
//! gives way to the server's own. When armed, worker threads that run the server's code (not Python's library, nor installed packages
//! other than the server itself) pause after a function began, a built-in function came back, or a loop went round. Those are the points
//! where the interpreter hands its lock on by itself, so every order that shows is one that it could have come to: an illegal
//! outcome is a broken server.
//!
//! | seed | what pauses |
//! |---|---|
//! | 0 | every thread, everywhere: they go forward in small steps, by turns |
//! | 1, 2 | the same, with much longer pauses of the first, the second thread: the others overtake it |
//! | 3… | half of the places, differently for each thread |
//!
//! A pause is 10 ms at most, and shorter each time that the thread comes by the same place.
//!
//! A server whose tools are coroutines has no worker threads and is not disturbed.

mod leash;

use std::{ffi::OsString, fs, io, path::Path};

use self::leash::Hold;
use super::{
    Leash, Perturb,
    program::{Inherited, Program, variable},
};
use crate::launch::Launch;

const SITE: &str = include_str!("sitecustomize.py");
const SWITCHES: &str = include_str!("_interlock_switches.py");
const WINDOWS: &str = include_str!("_interlock_windows.py");

const SEARCHED: &str = "PYTHONPATH";

/// Start Python without being written in it.
const STARTERS: &[&str] = &["uv", "uvx"];

/// Makes the threads of a Python server take turns at other places.
#[derive(Debug, Clone, Default)]
pub struct PythonSwitches {
    inherited: Inherited,
}

impl PythonSwitches {
    /// For servers that are started in this environment.
    #[must_use]
    pub fn new(inherited: Inherited) -> Self {
        Self { inherited }
    }
}

impl Perturb for PythonSwitches {
    fn name(&self) -> &'static str {
        "python-switches"
    }

    fn applies(&self, launch: &Launch) -> Result<(), String> {
        let program = Program::behind(launch, &self.inherited)?;
        if !program.names().any(|name| is_python(name) || STARTERS.contains(&name)) {
            let name = program.names().last().unwrap_or_default();
            return Err(format!("{name} is not Python: it has no threads of Python's to switch"));
        }
        if program.names().next().is_some_and(is_python) && ignores_the_environment(&launch.arguments) {
            return Err(format!("Python is told to ignore {SEARCHED}, so nothing can be put into it"));
        }
        Ok(())
    }

    fn attach(&self, launch: &mut Launch, folder: &Path) -> io::Result<Box<dyn Leash>> {
        let orders = folder.join("python");
        let modules = orders.join("modules");
        fs::create_dir_all(&modules)?;
        fs::write(modules.join("sitecustomize.py"), SITE)?;
        fs::write(modules.join("_interlock_switches.py"), SWITCHES)?;
        fs::write(modules.join("_interlock_windows.py"), WINDOWS)?;
        let mut searched = OsString::from(&modules);
        if let Some(existing) = variable(launch, &self.inherited, SEARCHED).filter(|it| !it.is_empty()) {
            searched.push(":");
            searched.push(existing);
        }
        launch.environment.insert(SEARCHED.into(), searched);
        Ok(Box::new(Hold::new(orders)))
    }
}

/// `python`, `python3`, `python3.12`, `python3.13t`.
fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python");
    version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 't'))
}

/// `-E`, `-I` and `-S`, alone or among others, before the script or what stands for it.
fn ignores_the_environment(arguments: &[OsString]) -> bool {
    let mut arguments = arguments.iter().map(|argument| argument.to_string_lossy());
    while let Some(argument) = arguments.next() {
        let Some(letters) = argument.strip_prefix('-') else { return false };
        if letters.starts_with('-') {
            continue;
        }
        for letter in letters.chars() {
            match letter {
                'E' | 'I' | 'S' => return true,
                'c' | 'm' => return false,
                // What follows belongs to it: the rest of the word, or the next one.
                'W' | 'X' => {
                    if letters.ends_with(letter) {
                        arguments.next();
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_goes_by_many_names() {
        for name in ["python", "python3", "python3.12", "python3.13t"] {
            assert!(is_python(name), "{name}");
        }
        for name in ["pythonista", "ipython", "node", ""] {
            assert!(!is_python(name), "{name}");
        }
    }

    #[test]
    fn flags_that_shut_us_out_are_seen_before_the_script_only() {
        let ignores =
            |words: &[&str]| ignores_the_environment(&words.iter().map(OsString::from).collect::<Vec<_>>());
        for words in [&["-I", "x.py"][..], &["-u", "-sE", "x.py"], &["-X", "dev", "-S"], &["-Wd", "-I"]] {
            assert!(ignores(words), "{words:?}");
        }
        for words in [
            &["x.py", "-I"][..],
            &["-m", "server", "-E"],
            &["-c", "pass", "-S"],
            &["-XE"],
            &["-W", "-I"],
            &["--check-hash-based-pycs", "always"],
            &[],
        ] {
            assert!(!ignores(words), "{words:?}");
        }
    }
}
