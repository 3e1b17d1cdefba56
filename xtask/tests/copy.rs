//! A copy of the workspace in a folder that goes away with the test: the files git tracks and those it would.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

/// The copy.
pub(crate) struct Copy(TempDir);

impl Copy {
    /// Copies the workspace under test.
    pub(crate) fn new() -> Self {
        let origin = origin();
        let copy = Self(tempfile::tempdir().expect("a temporary folder"));
        let listed = git(&origin, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        for file in listed.split('\0').filter(|file| origin.join(file).is_file()) {
            // Others may be at work in the origin; a file that went away in between is simply not copied.
            if let Ok(bytes) = fs::read(origin.join(file)) {
                copy.write(file, &bytes);
            }
        }
        git(copy.0.path(), &["init", "--quiet"]);
        copy
    }

    /// Where a file of the copy lies.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    /// The text of a file.
    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("failed to read {file}: {error}"))
    }

    /// Writes a file and its folders.
    pub(crate) fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.path(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder");
        }
        fs::write(path, bytes).unwrap_or_else(|error| panic!("failed to write {file}: {error}"));
    }

    /// Runs `xtask` on the copy.
    pub(crate) fn xtask(&self, args: &[&str]) -> Ended {
        let mut command = self.command(env!("CARGO_BIN_EXE_xtask"));
        Ended::of(command.arg("--root").arg(self.0.path()).args(args))
    }

    /// Runs cargo in the copy, with a target folder that goes away with it and without the network.
    pub(crate) fn cargo(&self, args: &[&str]) -> Ended {
        Ended::of(self.command("cargo").args(args))
    }

    /// A file is as rustfmt would leave it. It is compared as text, because rustfmt given a path would judge its modules too,
    /// and `--check` on standard input ends well whatever it finds.
    pub(crate) fn is_formatted(&self, file: &str) {
        let text = self.read(file);
        let mut command = self.command("rustfmt");
        command.args(["--config-path", "."]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut rustfmt = command.spawn().expect("rustfmt");
        let mut stdin = rustfmt.stdin.take().expect("its input");
        stdin.write_all(text.as_bytes()).expect("its input");
        drop(stdin);
        let output = rustfmt.wait_with_output().expect("its output");
        assert_eq!(String::from_utf8_lossy(&output.stdout), text, "{file} is not formatted");
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .env("CARGO_TARGET_DIR", self.path("target"))
            .env("CARGO_NET_OFFLINE", "true");
        command
    }
}

/// How a program ended, and all it said.
pub(crate) struct Ended {
    ok: bool,
    said: String,
}

impl Ended {
    fn of(command: &mut Command) -> Self {
        Self::from(
            command.output().unwrap_or_else(|error| panic!("{command:?} could not be started: {error}")),
        )
    }

    /// It succeeded.
    pub(crate) fn good(&self) {
        assert!(self.ok, "{}", self.said);
    }

    /// It failed and said each of these.
    pub(crate) fn bad(&self, expected: &[&str]) {
        assert!(!self.ok, "it should have failed, but said:\n{}", self.said);
        for text in expected {
            assert!(self.said.contains(text), "it did not say {text:?}, but:\n{}", self.said);
        }
    }

    /// It succeeded and said each of these.
    pub(crate) fn good_and_said(&self, expected: &[&str]) {
        self.good();
        for text in expected {
            assert!(self.said.contains(text), "it did not say {text:?}, but:\n{}", self.said);
        }
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let said =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Self { ok: output.status.success(), said }
    }
}

/// The workspace under test, as cargo names it to what it runs: the path from build time would be another checkout's, if the
/// two share a target folder.
#[expect(clippy::disallowed_methods, reason = "a test is told by cargo where it is")]
fn origin() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs this test")).join("..")
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    // A hook would otherwise have its own repository listed.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    let ended = Ended::of(command.current_dir(folder).args(args));
    ended.good();
    ended.said
}
