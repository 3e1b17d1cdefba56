//! Other programs, run in the root of the workspace. Each is shown before it starts, so that a person can repeat by hand what
//! failed, and an error names the whole command and how it ended.

use std::{
    ffi::OsString,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::root::Root;

/// Variables by which git tells its hooks where they are. A command about another folder must not inherit them, or it would
/// speak about the repository of the hook.
const GIT_HOOK_VARIABLES: &[&str] = &["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// How the variables begin by which cargo tells a program whose it is. A build script may ask cargo to run it again whenever they change
/// (that of `ring` does), so that what was built by hand would be built once more from here, and once more by hand.
const PACKAGE_VARIABLES: &[&str] = &["CARGO_PKG_", "CARGO_MANIFEST_"];

/// A command that is about to run.
pub(crate) struct Run {
    command: Command,
    shown: String,
    echo: bool,
}

impl Run {
    /// A program to run in the root.
    pub(crate) fn new(root: &Root, program: &str) -> Self {
        let mut command = Command::new(program);
        command.current_dir(root.path());
        for variable in GIT_HOOK_VARIABLES {
            command.env_remove(variable);
        }
        let ours = |name: &OsString| {
            PACKAGE_VARIABLES.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()))
        };
        for (variable, _) in std::env::vars_os().filter(|(name, _)| ours(name)) {
            command.env_remove(variable);
        }
        Self { command, shown: quoted(program), echo: true }
    }

    /// Adds arguments.
    pub(crate) fn args<S: AsRef<str>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        for arg in args {
            self.command.arg(arg.as_ref());
            self.shown = format!("{} {}", self.shown, quoted(arg.as_ref()));
        }
        self
    }

    /// Sets a variable for this command only.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self.shown = format!("{name}={} {}", quoted(value), self.shown);
        self
    }

    /// Does not show the command: for questions, whose answer is what matters.
    pub(crate) fn quiet(mut self) -> Self {
        self.echo = false;
        self
    }

    /// Runs it to its end; anything but success is an error.
    pub(crate) fn go(mut self) -> Result<()> {
        self.show();
        let status = self.command.status().with_context(|| self.not_started())?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.shown);
        }
        Ok(())
    }

    /// Runs it and returns what it wrote to standard output; its complaints go where ours go.
    pub(crate) fn text(mut self) -> Result<String> {
        self.show();
        let output = self
            .command
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| self.not_started())?;
        if !output.status.success() {
            bail!("`{}` failed ({})", self.shown, output.status);
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("`{}` wrote something that is no UTF-8", self.shown))
    }

    /// Whether it can be run at all and succeeds, without a sound.
    pub(crate) fn succeeds(mut self) -> bool {
        self.command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    fn show(&self) {
        if self.echo {
            eprintln!("$ {}", self.shown);
        }
    }

    fn not_started(&self) -> String {
        format!("`{}` could not be started; is the program installed and on PATH?", self.shown)
    }
}

/// Cargo, in the root.
pub(crate) fn cargo(root: &Root, args: &[&str]) -> Result<()> {
    Run::new(root, "cargo").args(args).go()
}

/// A word as a shell would want it.
fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(|c: char| c.is_whitespace() || "'\"$`*?;&|<>()".contains(c)) {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> Root {
        Root::find(None, None).unwrap()
    }

    #[test]
    fn an_error_names_the_command_and_its_exit_status() {
        let error = Run::new(&root(), "sh").args(["-c", "exit 3"]).env("A", "b c").go().unwrap_err();
        assert_eq!(error.to_string(), "`A='b c' sh -c 'exit 3'` failed (exit status: 3)");
    }

    #[test]
    fn a_program_that_is_not_there_is_named_too() {
        let run = || Run::new(&root(), "no-such-program-here").quiet();
        assert!(run().go().unwrap_err().to_string().contains("`no-such-program-here` could not be started"));
        assert!(!run().succeeds());
    }

    #[test]
    fn the_answer_of_a_question_is_its_output() {
        assert_eq!(Run::new(&root(), "sh").args(["-c", "echo yes"]).quiet().text().unwrap(), "yes\n");
    }

    #[test]
    fn a_command_is_not_told_whose_package_this_is() {
        assert!(std::env::vars_os().any(|(name, _)| name == "CARGO_PKG_NAME"), "cargo tells its tests");
        let asked = ["-c", "echo \"<$CARGO_PKG_NAME$CARGO_MANIFEST_DIR>\""];
        assert_eq!(Run::new(&root(), "sh").args(asked).quiet().text().unwrap(), "<>\n");
    }

    #[test]
    fn a_quote_in_a_word_is_shown_as_a_shell_would_take_it() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("--plain=word"), "--plain=word");
    }
}
