//! The program in front of real servers, and real clients in front of the program.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use interlock_testkit::packages;
use rmcp::{
    RoleClient, ServiceExt,
    model::CallToolRequestParams,
    service::RunningService,
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// The program.
pub(crate) const INTERLOCK: &str = env!("CARGO_BIN_EXE_interlock");

/// A command that serves: itself a server, or a guard in front of one.
#[derive(Clone, Default)]
pub(crate) struct Line {
    arguments: Vec<String>,
    env: Vec<(String, String)>,
    /// Where its error output goes, if not to that of the test.
    log: Option<PathBuf>,
}

/// A process that serves over HTTP and says where in its first line. Killed when this is dropped.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) url: String,
}

/// A connected client. Clones share the connection.
#[derive(Clone)]
pub(crate) struct Client {
    running: Arc<RunningService<RoleClient, ()>>,
    /// On stdio, the process behind it, which ends with the client.
    _child: Option<Arc<tokio::process::Child>>,
}

/// What a call came to.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) is_error: bool,
    pub(crate) result: Value,
}

impl Line {
    /// A command without a guard.
    pub(crate) fn bare<T: AsRef<str>>(arguments: &[T]) -> Self {
        let arguments = arguments.iter().map(|part| part.as_ref().to_owned()).collect();
        Self { arguments, ..Self::default() }
    }

    /// With a variable in its environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().display().to_string()));
        self
    }

    /// With more options.
    pub(crate) fn with<T: AsRef<str>>(mut self, options: &[T]) -> Self {
        self.arguments.extend(options.iter().map(|part| part.as_ref().to_owned()));
        self
    }

    /// With its error output in a file.
    pub(crate) fn logging_to(mut self, file: &Path) -> Self {
        self.log = Some(file.to_owned());
        self
    }

    /// The same behind a guard with these options.
    pub(crate) fn guarded(&self, options: &[&str]) -> Self {
        let front = [INTERLOCK, "guard"].iter().chain(options).chain(&["--"]).map(|part| (*part).to_owned());
        Self { arguments: front.chain(self.arguments.iter().cloned()).collect(), ..self.clone() }
    }

    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    fn command(&self) -> Command {
        let (program, arguments) = self.arguments.split_first().expect("a command is not empty");
        let mut command = Command::new(program);
        command.args(arguments).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Started, with a client on its standard input and output.
    pub(crate) async fn stdio(&self) -> Client {
        let mut command = tokio::process::Command::from(self.command());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let pipes = (child.stdout.take().expect("its output"), child.stdin.take().expect("its input"));
        let running = ().serve(pipes).await.expect("it answers");
        Client { running: Arc::new(running), _child: Some(Arc::new(child)) }
    }

    /// Started, on loopback; the options must say so.
    pub(crate) fn serve(&self) -> Serving {
        let mut child = self
            .command()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(self.log.as_ref().map_or_else(Stdio::inherit, |path| {
                std::fs::File::create(path).expect("the log can be written").into()
            }))
            .spawn()
            .expect("the program starts");
        let mut url = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut url).expect("a line");
        assert!(url.starts_with("http"), "{url:?} is no address: {:?}", self.arguments);
        Serving { child, url: url.trim().to_owned() }
    }
}

impl Serving {
    pub(crate) async fn client(&self) -> Client {
        let config =
            StreamableHttpClientTransportConfig::with_uri(self.url.as_str()).max_concurrent_requests(512);
        let http = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
        let running = ().serve(StreamableHttpClientTransport::with_client(http, config)).await;
        Client { running: Arc::new(running.expect("it lets us in")), _child: None }
    }

    /// Waits for its end, and says with which code.
    pub(crate) async fn ended(mut self) -> Option<i32> {
        let status = tokio::task::spawn_blocking(move || self.child.wait()).await.expect("it is waited for");
        status.expect("it ended").code()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("there is a kill").success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// Calls a tool; the server must answer.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Said {
        self.try_call(tool, arguments).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// The same, where it may be gone or answer with an error of the protocol.
    pub(crate) async fn try_call(&self, tool: &str, arguments: Value) -> Result<Said, rmcp::ServiceError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let called = self.running.call_tool(request).await?;
        let is_error = called.is_error == Some(true);
        Ok(Said { is_error, result: serde_json::to_value(called).expect("it is JSON") })
    }

    /// Makes calls all at once.
    pub(crate) async fn burst(&self, calls: impl IntoIterator<Item = (&'static str, Value)>) -> Vec<Said> {
        let mut running = JoinSet::new();
        for (tool, arguments) in calls {
            let client = self.clone();
            running.spawn(async move { client.call(tool, arguments).await });
        }
        running.join_all().await
    }
}

impl Said {
    /// The text of its first part.
    pub(crate) fn text(&self) -> &str {
        self.result["content"][0]["text"].as_str().unwrap_or_default()
    }

    /// Its structured answer, or its text read as JSON.
    pub(crate) fn value(&self) -> Value {
        match &self.result["structuredContent"] {
            Value::Null => serde_json::from_str(self.text()).unwrap_or(Value::Null),
            structured => structured.clone(),
        }
    }
}

/// The main file of one of the official servers.
pub(crate) fn official(name: &str) -> String {
    let folder = packages::installed(env!("CARGO_TARGET_TMPDIR"), "node");
    folder.join("node_modules/@modelcontextprotocol").join(name).join("dist/index.js").display().to_string()
}

/// A folder that goes with the test.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

/// How much memory a process occupies, in KiB.
pub(crate) fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a process has memory");
    line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

/// So many times, or as many as the environment asks for: the long form of a test is the same test.
pub(crate) fn times(variable: &str, usual: usize) -> usize {
    #[expect(clippy::disallowed_methods, reason = "`cargo xtask soak guard` tells the test to go on")]
    let asked = std::env::var(variable).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(usual)
}

/// An address on loopback that nobody listens at just now.
pub(crate) fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    listener.local_addr().expect("it has an address").to_string()
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(300);
    while !is_so() {
        assert!(std::time::Instant::now() < patience, "it never came about: {what}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
