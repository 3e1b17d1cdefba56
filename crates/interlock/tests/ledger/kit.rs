//! The program under test, and a client that speaks to it.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use rmcp::{
    RoleClient, ServiceExt,
    model::CallToolRequestParams,
    service::RunningService,
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// A provider that is not there, for tests that pay for nothing and need no second process.
const NO_PROVIDER: &str = "http://127.0.0.1:9";

/// A process of ours that serves, and says where in its first line.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
    /// Its temporary files: it is killed in the end, and cannot clean up after itself.
    _scratch: TempDir,
}

/// What a tool said.
pub(crate) type Said = Result<Value, String>;

/// A connected client. Clones share the connection.
#[derive(Clone)]
pub(crate) struct Client(Arc<RunningService<RoleClient, ()>>);

/// The program, with nothing in its environment but what a test puts there.
pub(crate) fn interlock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
    command.env_clear().args(arguments);
    command
}

impl Server {
    /// Starts a verb that serves.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = interlock(arguments);
        let scratch = tempfile::tempdir().expect("there is room for a folder");
        command.env("TMPDIR", scratch.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("its output is ours");
        BufReader::new(stdout).read_line(&mut url).expect("it writes");
        Self { child, url: url.trim_end().to_owned(), _scratch: scratch }
    }

    /// Starts a seeded ledger on loopback, with no provider to pay.
    pub(crate) fn ledger(more: &[&str]) -> Self {
        let usual = ["ledger", "--seed", "--listen", "127.0.0.1:0", "--payments", NO_PROVIDER];
        Self::start(&[&usual[..], more].concat())
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("it can be killed");
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("there is a kill").success());
    }

    pub(crate) async fn client(&self) -> Client {
        self.client_with(None).await
    }

    pub(crate) async fn client_with(&self, token: Option<&str>) -> Client {
        self.try_client(token).await.expect("the server lets us in")
    }

    pub(crate) async fn try_client(&self, token: Option<&str>) -> Result<Client, String> {
        let mut config =
            StreamableHttpClientTransportConfig::with_uri(self.url.as_str()).max_concurrent_requests(256);
        if let Some(token) = token {
            config = config.auth_header(token);
        }
        let http = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
        let client = ().serve(StreamableHttpClientTransport::with_client(http, config)).await;
        client.map(|client| Client(Arc::new(client))).map_err(|error| format!("{error:?}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    /// Over a transport that is connected already.
    pub(crate) fn over(running: RunningService<RoleClient, ()>) -> Self {
        Self(Arc::new(running))
    }

    pub(crate) fn peer(&self) -> &RunningService<RoleClient, ()> {
        &self.0
    }

    /// Calls a tool: its structured answer, or the words of its refusal.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Said {
        self.try_call(tool, arguments).await.expect("the server answers")
    }

    /// The same, where the server may be gone.
    pub(crate) async fn try_call(&self, tool: &str, arguments: Value) -> Result<Said, rmcp::ServiceError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let called =
            self.0.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)).await?;
        if called.is_error == Some(true) {
            let words =
                called.content.first().and_then(|content| content.as_text()).expect("a refusal has words");
            return Ok(Err(words.text.clone()));
        }
        Ok(Ok(called.structured_content.expect("an answer is structured")))
    }

    /// Makes calls all at once.
    pub(crate) async fn burst(
        &self,
        calls: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Vec<(&'static str, Said)> {
        let mut running = JoinSet::new();
        for (tool, arguments) in calls {
            let client = self.clone();
            running.spawn(async move { (tool, client.call(tool, arguments).await) });
        }
        running.join_all().await
    }

    pub(crate) async fn balance(&self, user: &str) -> i64 {
        let account = self.call("get_account", serde_json::json!({ "userId": user })).await;
        account.expect("there is such an account")["balance"].as_i64().expect("a balance is a number")
    }
}

/// How many of the calls were answered and not refused.
pub(crate) fn successes(said: &[(&str, Said)]) -> usize {
    said.iter().filter(|(_, said)| said.is_ok()).count()
}
