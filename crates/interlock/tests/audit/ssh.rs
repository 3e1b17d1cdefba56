//! A repository behind ssh: the ordinary `ssh`, and a real `sshd` on loopback.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{Desk, git::repository};

/// Ended when it is dropped.
struct Sshd {
    child: Child,
    port: u16,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(program: &str, words: &[&str]) {
    let output =
        Command::new(program).args(words).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn text(path: &Path) -> String {
    path.to_str().expect("a name").to_owned()
}

impl Sshd {
    /// A server that lets in whoever has the key of this desk.
    fn start(desk: &Desk) -> Self {
        for name in ["host", "key"] {
            run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &text(&desk.path(name))]);
        }
        // A server that root starts wants this folder, which Debian makes when the service begins.
        let _ = fs::create_dir("/run/sshd");
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n",
            desk.path("host").display(),
            desk.path("key.pub").display()
        );
        let settings = desk.write("sshd_config", &settings);
        // It insists on being started by its whole name.
        let child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f", &text(&settings)])
            .stdin(Stdio::null())
            .stderr(fs::File::create(desk.path("sshd.log")).expect("a file"))
            .spawn()
            .expect("there is an sshd");
        let sshd = Self { child, port };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || fs::read_to_string(desk.path("sshd.log")).unwrap_or_default();
            assert!(begin.elapsed() < Duration::from_secs(60), "{}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        sshd
    }
}

/// A search path on which `ssh` has the settings of this desk in place of the user's own, and writes down what it was told.
fn search_path(desk: &Desk, port: u16, knows_host: bool) -> String {
    let host = fs::read_to_string(desk.path("host.pub")).expect("a key");
    let known = if knows_host { format!("[127.0.0.1]:{port} {host}") } else { String::new() };
    let known = desk.write("known_hosts", &known);
    let settings = format!(
        "IdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n",
        desk.path("key").display(),
        known.display()
    );
    let settings = desk.write("ssh_config", &settings);
    #[expect(clippy::disallowed_methods, reason = "the other programs are where they are for this test")]
    let rest = std::env::var("PATH").expect("a path");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {}\nPATH='{rest}' exec ssh -F {} \"$@\"\n",
        desk.path("told").display(),
        settings.display()
    );
    let script = desk.write("bin/ssh", &script);
    run("chmod", &["+x", &text(&script)]);
    format!("{}:{rest}", desk.path("bin").display())
}

#[test]
fn a_repository_behind_ssh_is_fetched_without_a_question() {
    let desk = Desk::new();
    let folder = repository(&desk);
    let sshd = Sshd::start(&desk);
    let user = String::from_utf8(Command::new("id").arg("-un").output().expect("id is there").stdout)
        .expect("a name");
    let address =
        format!("ssh://{}@127.0.0.1:{}{}#server:packages/credits", user.trim(), sshd.port, folder.display());
    let path = search_path(&desk, sshd.port, true);
    let ended = desk.audit_in(&[("PATH", &path)], &[&address]);
    let log = fs::read_to_string(desk.path("sshd.log")).unwrap_or_default();
    assert_eq!(ended.code, 1, "{} {} {log}", ended.stdout, ended.stderr);
    assert!(
        ended.entries(0).iter().any(|entry| entry.starts_with("found-only lost-update")),
        "{:#?}",
        ended.entries(0)
    );
    let told = fs::read_to_string(desk.path("told")).expect("it was called");
    for word in ["BatchMode=yes", "ForwardAgent=no", "ClearAllForwardings=yes", "PermitLocalCommand=no"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(desk.left_behind(), [] as [&str; 0]);
}

#[test]
fn a_host_that_nobody_knows_is_refused_and_nobody_is_asked() {
    let desk = Desk::new();
    let folder = repository(&desk);
    let sshd = Sshd::start(&desk);
    let path = search_path(&desk, sshd.port, false);
    let ended =
        desk.audit_in(&[("PATH", &path)], &[&format!("ssh://127.0.0.1:{}{}", sshd.port, folder.display())]);
    assert_eq!(ended.code, 2, "{} {}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("Host key verification failed"), "{}", ended.stderr);
}
