//! A server under proof does no harm: not to the folder that one stands in, not to the home folder, not to anybody who listens. Where the
//! kernel can refuse it, and where it cannot.

use std::{
    fs,
    net::TcpListener,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::{PermissionsExt, symlink},
            net::{SocketAddr, UnixListener},
        },
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::processes;

/// The file server.
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/prove/files.py");
/// Do as if the kernel had nothing.
const BARE: &[&str] = &["--kernel-without", "landlock,mounts,network,connections"];
/// The user's own.
const OWN: &[(&str, &str)] = &[(".hidden", "secret"), ("alpha.txt", "first"), ("beta.md", "second")];

/// A user with a folder and a home, and files in both.
struct User {
    all: TempDir,
}

/// What the program said and how it ended.
struct Said {
    code: Option<i32>,
    report: Value,
    stdout: String,
    stderr: String,
}

impl User {
    fn new() -> Self {
        let user = Self { all: tempfile::tempdir().expect("a folder") };
        for place in [user.folder(), user.home()] {
            fs::create_dir_all(place.join("empty")).expect("a folder");
            for (name, text) in OWN {
                fs::write(place.join(name), text).expect("a file");
                fs::set_permissions(place.join(name), fs::Permissions::from_mode(0o644)).expect("a mode");
            }
        }
        fs::create_dir(user.temporary()).expect("a folder");
        user
    }

    fn real(&self) -> PathBuf {
        self.all.path().canonicalize().expect("a path")
    }

    fn folder(&self) -> PathBuf {
        self.real().join("work")
    }

    fn home(&self) -> PathBuf {
        self.real().join("home")
    }

    fn temporary(&self) -> PathBuf {
        self.real().join("tmp")
    }

    fn command(&self, options: &[&str], command: &[&str]) -> Command {
        let mut prove = Command::new(env!("CARGO_BIN_EXE_interlock"));
        prove
            .args(["prove", "--no-save", "--budget", "600s", "--trials", "2"])
            .args(options)
            .arg("--")
            .args(command)
            .current_dir(self.folder())
            .env("HOME", self.home())
            .env("TMPDIR", self.temporary())
            .stdin(Stdio::null());
        prove
    }

    fn prove(&self, options: &[&str], command: &[&str]) -> Said {
        let output = self.command(&[&["--format", "json"], options].concat(), command).output();
        Said::of(output.expect("the program starts"))
    }

    /// The file server in a folder.
    fn files(&self, options: &[&str], folder: &str) -> Said {
        self.prove(options, &["python3", "-B", FILES, folder])
    }

    /// What the user had is there as it was.
    #[track_caller]
    fn assert_whole(&self) {
        for place in [self.folder(), self.home()] {
            for (name, text) in OWN {
                let path = place.join(name);
                assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some(*text), "{}", path.display());
                let mode = fs::metadata(&path).expect("it is there").permissions().mode() & 0o777;
                assert_eq!(mode, 0o644, "{}", path.display());
            }
            assert!(place.join("empty").is_dir());
        }
    }

    /// And nothing else is.
    #[track_caller]
    fn assert_untouched(&self) {
        self.assert_whole();
        for place in [self.folder(), self.home()] {
            let names: Vec<_> = fs::read_dir(&place)
                .expect("it is there")
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            assert_eq!(names.len(), OWN.len() + 1, "{names:?}");
        }
        let left: Vec<_> = fs::read_dir(self.temporary()).expect("it is there").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

impl Said {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        let report = serde_json::from_str(&stdout).unwrap_or_default();
        Self { code: output.status.code(), report, stdout, stderr }
    }

    fn at(&self, place: &str) -> &str {
        self.report.pointer(place).and_then(Value::as_str).unwrap_or_default()
    }

    /// Why a tool was not called.
    fn why_not(&self, tool: &str) -> Option<&str> {
        let notes = self
            .report
            .get("notes")
            .and_then(Value::as_array)
            .unwrap_or_else(|| panic!("{} {}", self.stdout, self.stderr));
        notes
            .iter()
            .filter_map(Value::as_str)
            .find(|note| note.starts_with(&format!("`{tool}` is not called:")))
    }

    #[track_caller]
    fn assert_held(&self) {
        assert_eq!((self.code, self.at("/verdict")), (Some(0), "held"), "{:#} {}", self.report, self.stderr);
    }
}

#[test]
fn a_file_server_that_is_told_nothing_harms_nobody_and_all_of_its_tools_are_called() {
    for folder in [".", "~"] {
        let user = User::new();
        let said = user.files(&[], folder);
        assert_eq!(
            (said.at("/isolation/files"), said.at("/isolation/network")),
            ("refused", "refused"),
            "{:#}",
            said.report
        );
        assert_eq!(said.why_not("delete_file"), None, "there is nothing to destroy");
        assert!(said.report["explored"]["calls"].as_u64() > Some(50), "{:#}", said.report);
        user.assert_untouched();
    }
}

#[test]
fn nor_does_it_where_the_kernel_refuses_nothing() {
    for folder in [".", "~"] {
        for leave in [&[][..], &["--allow-destructive"]] {
            let user = User::new();
            let said = user.files(&[BARE, leave].concat(), folder);
            assert_eq!(
                (said.at("/isolation/folders"), said.at("/isolation/files")),
                ("moved", "open"),
                "{:#}",
                said.report
            );
            assert_eq!(said.why_not("delete_file").is_some(), leave.is_empty(), "{:#}", said.report);
            user.assert_untouched();
        }
    }
}

#[test]
fn a_server_with_a_folder_of_the_user_is_never_told_the_names_that_are_there() {
    for options in
        [&[][..], BARE, &["--allow-destructive"], &["--kernel-without", "mounts", "--allow-destructive"]]
    {
        let user = User::new();
        let folder = user.folder().display().to_string();
        user.files(options, &folder);
        user.assert_whole();
    }
    let user = User::new();
    let folder = user.folder().display().to_string();
    user.files(&[BARE, &["--allow-destructive"]].concat(), &folder);
    user.assert_whole();
}

#[test]
fn in_place_needs_a_yes_and_even_then_what_is_there_is_not_touched() {
    let user = User::new();
    let refused = user.files(&["--in-place"], ".");
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("--yes") && refused.stderr.contains("delete"), "{}", refused.stderr);
    user.assert_untouched();
    // It makes files of its own in the folder that it was given, and that is said.
    let said = user.files(&["--in-place", "--yes", "--allow-destructive"], ".");
    assert_eq!(said.code, Some(2), "{} {}", said.stdout, said.stderr);
    assert!(said.stderr.contains("in place: ") && said.stderr.contains("is new"), "{}", said.stderr);
    user.assert_whole();
}

#[test]
fn what_changes_outside_where_nobody_refuses_it_is_said_first_and_loudly() {
    let user = User::new();
    let folder = user.folder().display().to_string();
    let calls =
        ["--call", r#"write_file {"name": "made.txt", "content": "alpha beta"}"#, "--read", "list_files"];
    let command = ["python3", "-B", FILES, &folder];
    let said = Said::of(user.command(&[BARE, &calls].concat(), &command).output().expect("it starts"));
    assert_eq!(said.code, Some(2), "{} {}", said.stdout, said.stderr);
    let first: Vec<&str> = said.stdout.lines().take(8).collect();
    let first = first.join(" ");
    assert!(first.contains("CHANGED OUTSIDE") && first.contains("not protected"), "{}", said.stdout);
    assert!(said.stderr.contains("made.txt is new"), "{}", said.stderr);
    user.assert_whole();
    let page = Said::of(
        user.command(&[BARE, &calls, &["--format", "html"]].concat(), &command).output().expect("it starts"),
    );
    let head = page.stdout.split("</header>").next().unwrap_or_default();
    assert!(head.contains("made.txt was written") && head.contains("not protected"), "{head}");
    // Where the kernel refuses it, each instance has a copy of that folder, and the folder itself stays as it is.
    let user = User::new();
    let folder = user.folder().display().to_string();
    let said =
        Said::of(user.command(&calls, &["python3", "-B", FILES, &folder]).output().expect("it starts"));
    assert_eq!(said.code, Some(0), "{} {}", said.stdout, said.stderr);
    let words = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("every instance had a copy of that folder"), "{words}");
    user.assert_untouched();
}

/// Calls one tool of the file server by name, and demands that an expression is true of its answer.
fn demanded(user: &User, options: &[&str], call: &str, truth: &str) -> Said {
    let named = ["--call", call, "--read", "list_files", "--invariant", truth];
    user.prove(&[options, &named].concat(), &["python3", "-B", FILES, ".", "--all"])
}

#[test]
fn nothing_that_a_server_can_try_changes_a_folder_that_is_not_its_own() {
    let user = User::new();
    let call = format!("escape {}", serde_json::json!({ "outside": user.folder() }));
    let nothing = "size(answers[0].value.possible) == 0 && size(answers[0].value.failed) == 0";
    demanded(&user, &[], &call, nothing).assert_held();
    user.assert_untouched();
    // Each half by itself says what it does not cover.
    let contents = "answers[0].value.possible == ['chmod', 'chown', 'utime', 'xattr']";
    let said = demanded(&user, &["--kernel-without", "mounts"], &call, contents);
    assert_eq!((said.at("/isolation/files"), said.at("/verdict")), ("partly", "held"), "{:#}", said.report);
    assert_eq!(said.code, Some(2), "times were changed: {:#}", said.report);
    let user = User::new();
    let call = format!("escape {}", serde_json::json!({ "outside": user.folder() }));
    let said = demanded(&user, &["--kernel-without", "landlock"], &call, nothing);
    assert_eq!((said.at("/isolation/files"), said.at("/verdict")), ("partly", "held"), "{:#}", said.report);
    user.assert_untouched();
    // And the attempts are real: without the kernel they succeed.
    let said = demanded(&user, BARE, &call, "size(answers[0].value.possible) > 10");
    assert!(
        !said.report["isolation"]["changed_outside"].as_array().expect("a list").is_empty(),
        "{:#}",
        said.report
    );
}

#[test]
fn nobody_is_reached_but_oneself_unless_the_network_is_given() {
    let user = User::new();
    let wire = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let path = user.real().join("agent");
    let _socket = UnixListener::bind(&path).expect("a socket");
    let name = format!("interlock-{}", std::process::id());
    let abstract_name = SocketAddr::from_abstract_name(&name).expect("a name");
    let _hidden = UnixListener::bind_addr(&abstract_name).expect("a socket");
    let arguments = serde_json::json!({
        "port": wire.local_addr().expect("an address").port(),
        "socket": path,
        "abstract": name,
        "process": std::process::id(),
    });
    let call = format!("reach {arguments}");
    demanded(&user, &[], &call, "answers[0].value.possible == ['own']").assert_held();
    let said = demanded(&user, &["--network"], &call, "answers[0].value.possible == ['own', 'tcp', 'unix']");
    said.assert_held();
    assert_eq!(said.at("/isolation/network"), "open", "{:#}", said.report);
    assert!(said.at("/isolation/said/0").contains("--network"), "{:#}", said.report);
    let said =
        demanded(&user, &["--kernel-without", "network"], &call, "answers[0].value.possible == ['unix']");
    assert_eq!((said.at("/isolation/network"), said.at("/verdict")), ("partly", "held"), "{:#}", said.report);
}

#[test]
fn all_folders_that_a_server_may_ask_for_are_its_own() {
    for options in [&[][..], BARE] {
        let user = User::new();
        let own = "answers[0].value == {'elsewhere': [], 'empty': true, 'root is folder': true}";
        demanded(&user, options, "get_surroundings", own).assert_held();
    }
    let user = User::new();
    let said = user.prove(
        &["--call", r#"write_file {"name": "a", "content": "b"}"#, "--read", "list_files"],
        &["python3", "-B", FILES, "--from-roots"],
    );
    assert_eq!(said.at("/verdict"), "held", "{:#} {}", said.report, said.stderr);
    user.assert_untouched();
}

#[test]
fn a_process_that_makes_itself_independent_is_ended_all_the_same() {
    let user = User::new();
    let seconds = std::process::id().to_string();
    let call = format!("start_daemon {}", serde_json::json!({ "seconds": seconds }));
    demanded(&user, &[], &call, "answers[0].ok").assert_held();
    let left: Vec<String> =
        processes().filter(|line| line.starts_with(&format!("sleep {seconds}"))).collect();
    assert!(left.is_empty(), "{left:?}");
    user.assert_untouched();
}

#[test]
fn what_the_command_names_is_found_from_the_folder_that_one_stands_in() {
    let user = User::new();
    let at = |name: &str| user.folder().join(name);
    fs::create_dir_all(at("server")).expect("a folder");
    fs::copy(FILES, at("server/__main__.py")).expect("a copy");
    fs::copy(FILES, at("files.py")).expect("a copy");
    fs::create_dir_all(at(".venv/bin")).expect("a folder");
    let python = which("python3");
    symlink(&python, at(".venv/bin/python")).expect("a link");
    let script = format!("#!{}\n{}", python.display(), fs::read_to_string(FILES).expect("a file"));
    fs::write(at("built"), script).expect("a file");
    fs::set_permissions(at("built"), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::write(at("package.json"), r#"{"scripts": {"start": "python3 -B files.py ."}}"#).expect("a file");
    let commands: &[&[&str]] = &[
        &["python3", "-B", "files.py", "."],
        &["python3", "-B", "./files.py", "."],
        &["python3", "-B", "-m", "server", "."],
        &["python3", "-B", "server", "."],
        &[".venv/bin/python", "-B", "files.py", "."],
        &["./built", "."],
        &["env", "A=b", "./built", "."],
        &["npm", "start"],
        &["npm", "run", "start", "--"],
    ];
    for command in commands {
        let call = ["--call", r#"write_file {"name": "a", "content": "b"}"#, "--read", "list_files"];
        let said = user.prove(&call, command);
        assert_eq!(said.at("/verdict"), "held", "{command:?}: {:#} {}", said.report, said.stderr);
    }
    user.assert_whole();
    let said = user.prove(&[], &["cargo", "run"]);
    assert!(said.code == Some(3) && said.stderr.contains("--in-place"), "{}", said.stderr);
    let said = user.prove(&[], &["./not-there"]);
    assert!(said.code == Some(3) && said.stderr.contains("could not be started"), "{}", said.stderr);
}

/// A package whose program is the file server.
fn package(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    let about = r#"{"name": "@own/files", "version": "1.0.0", "bin": {"own-files": "files.py"}}"#;
    fs::write(folder.join("package.json"), about).expect("a file");
    let script = format!("#!{}\n{}", which("python3").display(), fs::read_to_string(FILES).expect("a file"));
    fs::write(folder.join("files.py"), script).expect("a file");
    fs::set_permissions(folder.join("files.py"), fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn what_a_launcher_would_fetch_is_installed_before_and_into_none_of_the_users_folders() {
    let user = User::new();
    package(&user.folder().join("package"));
    let call = ["--call", r#"write_file {"name": "a", "content": "b"}"#, "--read", "list_files"];
    for launcher in [
        &["npx", "-y", "./package", "."][..],
        &["npm", "exec", "--package=./package", "--", "own-files", "."],
    ] {
        let mut prove = user.command(&[&["--format", "json"], &call[..]].concat(), launcher);
        let said =
            Said::of(prove.env("npm_config_cache", user.real().join("cache")).output().expect("it starts"));
        assert_eq!(said.at("/verdict"), "held", "{launcher:?}: {:#} {}", said.report, said.stderr);
    }
    user.assert_whole();
    assert!(!user.folder().join("node_modules").exists());
    let left: Vec<_> = fs::read_dir(user.temporary()).expect("it is there").collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Where the shell finds a program.
fn which(name: &str) -> PathBuf {
    let found = Command::new("sh").arg("-c").arg(format!("command -v {name}")).output().expect("a shell");
    PathBuf::from(String::from_utf8(found.stdout).expect("a path").trim())
}
