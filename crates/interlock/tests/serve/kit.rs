//! A server of the test's own, with repositories that it may fetch.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

const INTERLOCK: &str = env!("CARGO_BIN_EXE_interlock");

/// The longest that anything here is waited for.
const PATIENCE: Duration = Duration::from_secs(180);

/// A tool that reads a file, changes what it read and writes it back.
pub(crate) const RACY: &str = r#"import { readFile, writeFile } from "node:fs/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "notes", version: "1.0.0" });
server.registerTool("add_note", { inputSchema: { text: z.string() } }, async ({ text }) => {
  const notes = JSON.parse(await readFile("notes.json", "utf8"));
  notes.push(text);
  await writeFile("notes.json", JSON.stringify(notes));
  return { content: [{ type: "text", text: "added" }] };
});
"#;

/// Folders for repositories, state and temporary files.
pub(crate) struct Desk {
    folder: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["home", "tmp", "repositories"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a repository of these files; its address.
    pub(crate) fn repository(&self, name: &str, files: &[(&str, &str)]) -> String {
        let folder = self.path("repositories").join(name);
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        git(&folder, &["init", "--quiet", "--initial-branch=main"]);
        commit(&folder);
        format!("file://{}", folder.display())
    }

    /// Starts a process that is told these arguments besides where its state and the repositories are.
    pub(crate) fn start(&self, arguments: &[&str]) -> Served {
        let state = format!("sqlite:{}", self.path("serve.db").display());
        self.start_on(&state, arguments, &[])
    }

    pub(crate) fn start_on(&self, state: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Served {
        let mut command = Command::new(INTERLOCK);
        command
            .args(["serve", "--state", state, "--listen", "127.0.0.1:0", "--allow-files"])
            .arg(self.path("repositories"))
            .args(arguments)
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let log = Arc::new(Mutex::new(Vec::new()));
        let (lines, kept) = (BufReader::new(child.stderr.take().expect("its errors")), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                kept.lock().expect("no one panics with it").push(line);
            }
        });
        let mut url = String::new();
        if !arguments.contains(&"--worker") {
            let mut out = BufReader::new(child.stdout.take().expect("its output"));
            out.read_line(&mut url).expect("it says where it listens");
            assert!(url.starts_with("http://"), "{url:?}");
        }
        let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build();
        Served {
            child,
            url: url.trim().trim_end_matches('/').to_owned(),
            log,
            client: client.expect("a client"),
        }
    }
}

/// A process; killed when it is dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) url: String,
    log: Arc<Mutex<Vec<String>>>,
    client: Client,
}

impl Served {
    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url))
    }

    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.url))
    }

    pub(crate) async fn text(&self, path: &str) -> String {
        self.get(path).send().await.expect("an answer").text().await.expect("text")
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        self.get(path).send().await.expect("an answer").json().await.expect("JSON")
    }

    /// Asks for an audit; how that is answered.
    pub(crate) async fn ask(&self, target: &str) -> (StatusCode, Value) {
        answered(self.post("/api/audits").json(&json!({ "target": target }))).await
    }

    /// Sends an archive.
    pub(crate) async fn send(&self, name: &str, archive: Vec<u8>) -> (StatusCode, Value) {
        let request = self.post(&format!("/api/audits?name={name}"));
        answered(request.header("content-type", "application/gzip").body(archive)).await
    }

    /// An audit from the asking to its end.
    pub(crate) async fn audit(&self, target: &str) -> Value {
        let (status, asked) = self.ask(target).await;
        assert_eq!(status, 201, "{target}: {asked}");
        self.end_of(&asked).await
    }

    pub(crate) async fn end_of(&self, asked: &Value) -> Value {
        let path = asked["url"].as_str().expect("an address").to_owned();
        let begin = Instant::now();
        loop {
            let about = self.json(&path).await;
            if matches!(about["state"].as_str(), Some("done" | "failed")) {
                return about;
            }
            assert!(begin.elapsed() < PATIENCE, "{about}\n{:#?}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().expect("no one panics with it").clone()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn answered(request: RequestBuilder) -> (StatusCode, Value) {
    let answer = request.send().await.expect("an answer");
    (answer.status(), answer.json().await.unwrap_or_default())
}

pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < PATIENCE, "it never came to: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) fn git(folder: &Path, words: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git is there");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A folder with a program of this name that is found before all others; the search path that finds it.
pub(crate) fn stand_in(desk: &Desk, name: &str, script: &str) -> String {
    let folder = desk.path("bin");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), script).expect("a file");
    let made = Command::new("chmod").arg("+x").arg(folder.join(name)).status();
    assert!(made.expect("chmod is there").success());
    #[expect(clippy::disallowed_methods, reason = "the other programs are where they are for this test")]
    let rest = std::env::var("PATH").expect("a path");
    format!("{}:{rest}", folder.display())
}

pub(crate) fn commit(folder: &Path) {
    git(folder, &["add", "--all", "."]);
    git(folder, &["commit", "--quiet", "-m", "a commit"]);
}
