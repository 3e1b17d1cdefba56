//! A Node server on the leash, spoken to over its standard streams or over HTTP.

use std::{path::Path, process::Stdio, time::Duration};

use interlock_model::Perturbation;
use interlock_prove::{
    launch::Launch,
    perturb::{
        Leash, Observed, Perturb,
        node::{Node, Walk},
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// Far more than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(300);

/// A running instance with a folder of its own.
pub(crate) struct Server {
    pub(crate) leash: Box<dyn Leash>,
    _scratch: tempfile::TempDir,
    _files: tempfile::TempDir,
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last: i64,
}

/// What came of one run: the answers in the order of the calls, and what was seen.
pub(crate) struct Ran {
    pub(crate) answers: Vec<Value>,
    pub(crate) observed: Observed,
}

impl Ran {
    /// The operations in time order, in words.
    pub(crate) fn told(&self) -> Vec<String> {
        self.observed.ticks.iter().map(|tick| format!("{} {}", tick.kind, tick.on)).collect()
    }

    /// The operations in time order, a letter for the call of each.
    pub(crate) fn order(&self) -> String {
        let mut calls: Vec<i64> = self.observed.ticks.iter().filter_map(|tick| tick.request).collect();
        let order = calls.clone();
        calls.sort_unstable();
        calls.dedup();
        let letter = |call: &i64| "ABCD".chars().nth(calls.binary_search(call).unwrap()).unwrap();
        order.iter().map(letter).collect()
    }
}

impl Server {
    /// Starts a command; `{scratch}` in it is the instance's folder.
    pub(crate) fn start(command: &[&str], environment: &[(&str, &str)]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let files = tempfile::tempdir().unwrap();
        let fill = |text: &&str| text.replace("{scratch}", scratch.path().to_str().unwrap()).into();
        let mut launch = Launch {
            program: fill(&command[0]),
            arguments: command[1..].iter().map(fill).collect(),
            environment: environment.iter().map(|(name, value)| ((*name).into(), fill(value))).collect(),
            scratch: scratch.path().into(),
            directory: scratch.path().into(),
        };
        let node = Node::default();
        assert_eq!(node.applies(&launch), Ok(()));
        let leash = node.attach(&mut launch, files.path()).unwrap();
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .envs(&launch.environment)
            .current_dir(&launch.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("Node is installed");
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { leash, _scratch: scratch, _files: files, child, input, output, last: 0 }
    }

    /// One of the small servers beside this file.
    pub(crate) fn own(name: &str) -> Self {
        Self::start(&["node", &own(name)], &[])
    }

    /// Sends one request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(&[json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params })]).await;
        self.answers(&[self.last]).await.remove(0)
    }

    /// Calls one tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Says something that has no answer.
    pub(crate) async fn send(&mut self, messages: &[Value]) {
        let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
        self.input.write_all(text.as_bytes()).await.unwrap();
    }

    async fn answers(&mut self, ids: &[i64]) -> Vec<Value> {
        let mut answers = vec![Value::Null; ids.len()];
        while answers.contains(&Value::Null) {
            let line = timeout(PATIENCE, self.output.next_line()).await.expect("an answer").unwrap();
            let message: Value = serde_json::from_str(&line.expect("the server lives")).unwrap();
            let id = message.get("id").and_then(Value::as_i64);
            if let Some(at) = ids.iter().position(|&known| Some(known) == id) {
                answers[at] = message.get("result").or(message.get("error")).cloned().unwrap();
            }
        }
        answers
    }

    /// Waits for the answer to one request.
    pub(crate) async fn hear(&mut self, id: i64) -> Value {
        self.answers(&[id]).await.remove(0)
    }

    /// Calls tools together, in one write, under a schedule.
    pub(crate) async fn together(&mut self, calls: &[(&str, Value)], choices: &[usize]) -> Ran {
        let (ids, requests) = self.arm(calls, choices).await;
        self.send(&requests).await;
        let answers = self.answers(&ids).await;
        self.disarm(answers).await
    }

    /// The same with a connection for each call.
    pub(crate) async fn over_http(&mut self, port: u16, calls: &[(&str, Value)], choices: &[usize]) -> Ran {
        let (_, requests) = self.arm(calls, choices).await;
        let mut answers = Vec::new();
        let mut connections = Vec::new();
        for request in requests {
            let body = request.to_string();
            let mut connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let head = format!(
                "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            connections.push(connection);
        }
        for mut connection in connections {
            let mut answer = String::new();
            timeout(PATIENCE, connection.read_to_string(&mut answer)).await.expect("an answer").unwrap();
            let message: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
            answers.push(message["result"].clone());
        }
        self.disarm(answers).await
    }

    /// Calls tools together, in one write, while something else is done to the server.
    pub(crate) async fn disturbed(&mut self, calls: &[(&str, Value)], perturbation: &Perturbation) -> Ran {
        let (ids, requests) = self.arm_with(calls, perturbation).await;
        self.send(&requests).await;
        let answers = self.answers(&ids).await;
        self.disarm(answers).await
    }

    async fn arm(&mut self, calls: &[(&str, Value)], choices: &[usize]) -> (Vec<i64>, Vec<Value>) {
        self.arm_with(calls, &Perturbation::NodeOrder { choices: choices.to_vec() }).await
    }

    async fn arm_with(
        &mut self,
        calls: &[(&str, Value)],
        perturbation: &Perturbation,
    ) -> (Vec<i64>, Vec<Value>) {
        let ids: Vec<i64> = (1..).map(|step| self.last + step).take(calls.len()).collect();
        self.last += i64::try_from(calls.len()).unwrap();
        self.leash.arm(perturbation, &ids).await.unwrap();
        let request = |(id, (tool, arguments)): (&i64, &(&str, Value))| {
            let params = json!({ "name": tool, "arguments": arguments });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        };
        let requests: Vec<Value> = ids.iter().zip(calls).map(request).collect();
        (ids, requests)
    }

    async fn disarm(&mut self, answers: Vec<Value>) -> Ran {
        let observed = timeout(PATIENCE, self.leash.disarm()).await.unwrap().unwrap();
        Ran { answers, observed }
    }

    /// Ends the server's process.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// Closes the server's input and waits for its end.
    pub(crate) async fn end(mut self) -> bool {
        drop(self.input);
        timeout(PATIENCE, self.child.wait())
            .await
            .expect("it ends when nobody speaks to it")
            .unwrap()
            .success()
    }
}

/// What came of one schedule, and what the server has afterwards.
pub(crate) struct Walked {
    pub(crate) ran: Ran,
    pub(crate) list: String,
}

/// Runs every schedule of the calls, each on a fresh instance.
pub(crate) async fn walk(
    mut start: impl AsyncFnMut() -> Server,
    calls: &[(&str, Value)],
) -> (Walk, Vec<Walked>) {
    let mut walk = Walk::new();
    let mut all = Vec::new();
    while let Some(choices) = walk.next() {
        let mut server = start().await;
        let ran = server.together(calls, &choices).await;
        if ran.observed.diverged.is_some() {
            walk.lost();
            continue;
        }
        walk.ran(&ran.observed.choices);
        let list = text(&server.call("list", json!({})).await);
        all.push(Walked { ran, list });
        assert!(all.len() < 200, "it has to end");
    }
    (walk, all)
}

/// The text of a tool's result.
pub(crate) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

/// The path of one of the small servers beside this file.
pub(crate) fn own(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node/servers");
    folder.join(name).to_str().unwrap().to_owned()
}
