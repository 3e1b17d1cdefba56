//! A server on pipes: one message a line.

use std::{collections::BTreeSet, path::Path, time::Duration};

use interlock_model::Moment;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
    time::timeout_at,
};

use super::{
    Exchange, LONGEST,
    message::{self, Incoming, Reply, Request},
    silence,
};
use crate::{clock::Instant, trouble::Trouble};

/// Both pipes of a child.
pub(crate) struct Stdio {
    input: Option<ChildStdin>,
    /// Read by a task, so that the time of an answer is when it came and not when somebody looked.
    lines: mpsc::Receiver<Line>,
    answered: BTreeSet<i64>,
    /// The first line that was no message, and how much of that kind there was.
    junk: Option<String>,
    junk_lines: usize,
    junk_bytes: usize,
    oddities: Vec<String>,
    /// The folder that the client has open, as a URL.
    root: String,
}

enum Line {
    Message(Instant, Incoming),
    TooLong,
}

/// Lines that wait to be looked at; a server that says more than that at once has to wait.
const WAITING: usize = 1024;
/// More junk than this is not written down.
const MOST_ODDITIES: usize = 8;
/// Who prints more than this that is no message has nothing else to say. Clients pass it over line by line.
const MOST_JUNK_LINES: usize = 100_000;
const MOST_JUNK_BYTES: usize = 64 << 20;

impl Stdio {
    pub(crate) fn new(input: ChildStdin, output: ChildStdout, root: &Path) -> Self {
        let (sender, lines) = mpsc::channel(WAITING);
        tokio::spawn(read_lines(output, sender));
        let root = message::url_of(root);
        Self {
            input: Some(input),
            lines,
            answered: BTreeSet::new(),
            junk: None,
            junk_lines: 0,
            junk_bytes: 0,
            oddities: Vec::new(),
            root,
        }
    }

    pub(super) fn oddities(&self) -> &[String] {
        &self.oddities
    }

    /// The first line on its output that is no message.
    pub(super) fn junk(&self) -> Option<&str> {
        self.junk.as_deref()
    }

    pub(super) fn leave(&mut self) {
        self.input = None;
    }

    pub(super) async fn ask(
        &mut self,
        request: &Request,
        patience: Duration,
    ) -> Result<(Instant, Reply), Trouble> {
        let exchanges = self.together(std::slice::from_ref(request), &[], patience).await?;
        match exchanges.into_iter().next().map(|exchange| exchange.answer) {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(why)) if why.starts_with(ENDED) => Err(Trouble::Ended(String::new())),
            _ => Err(Trouble::Silent(patience)),
        }
    }

    pub(super) async fn tell(&mut self, method: &str) -> Result<(), Trouble> {
        self.write(&line(&json!({ "jsonrpc": "2.0", "method": method }))).await
    }

    /// Requests that leave at the same offset leave in one write. Answers are collected while later ones are still waiting.
    pub(super) async fn together(
        &mut self,
        requests: &[Request],
        offsets: &[Moment],
        patience: Duration,
    ) -> Result<Vec<Exchange>, Trouble> {
        let offset = |index: usize| offsets.get(index).copied().unwrap_or_default();
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_by_key(|index| offset(*index));
        let mut waves: Vec<(Moment, Vec<usize>)> = Vec::new();
        for index in order {
            match waves.last_mut() {
                Some((at, wave)) if *at == offset(index) => wave.push(index),
                _ => waves.push((offset(index), vec![index])),
            }
        }
        let begin = tokio::time::Instant::now();
        let mut sent = vec![Instant::now(); requests.len()];
        let mut answers: Vec<Option<(Instant, Reply)>> = vec![None; requests.len()];
        let mut ended = false;
        for (at, wave) in waves {
            ended |= self.collect(requests, &mut answers, begin + at).await?;
            let mut bytes = Vec::new();
            for request in wave.iter().filter_map(|index| requests.get(*index)) {
                bytes.extend(line(&request.to_value()));
            }
            // Before the write: the server may have the request, and another's answer may be here, before a write says that it is done.
            let now = Instant::now();
            for index in wave {
                if let Some(sent) = sent.get_mut(index) {
                    *sent = now;
                }
            }
            if !ended && self.write(&bytes).await.is_err() {
                ended = true;
            }
        }
        let last = tokio::time::Instant::now() + patience;
        ended |= self.collect(requests, &mut answers, last).await?;
        let junk = self.junk.as_ref().map(|line| format!("; {JUNK}: `{line}`")).unwrap_or_default();
        let why = || if ended { format!("{ENDED}{junk}") } else { format!("{}{junk}", silence(patience)) };
        let exchanges = sent.into_iter().zip(answers);
        Ok(exchanges.map(|(sent, answer)| Exchange { sent, answer: answer.ok_or_else(why) }).collect())
    }

    /// Fills in answers that come after all.
    pub(super) async fn late(
        &mut self,
        requests: &[Request],
        exchanges: &mut [Exchange],
        patience: Duration,
    ) {
        let mut answers: Vec<Option<(Instant, Reply)>> =
            exchanges.iter().map(|exchange| exchange.answer.clone().ok()).collect();
        let _ = self.collect(requests, &mut answers, tokio::time::Instant::now() + patience).await;
        for (exchange, answer) in exchanges.iter_mut().zip(answers) {
            if let Some(answer) = answer {
                exchange.answer = Ok(answer);
            }
        }
    }

    /// Takes in messages until every request is answered or the time has come. Says whether the server has ended.
    async fn collect(
        &mut self,
        requests: &[Request],
        answers: &mut [Option<(Instant, Reply)>],
        until: tokio::time::Instant,
    ) -> Result<bool, Trouble> {
        loop {
            if answers.iter().all(Option::is_some) {
                return Ok(false);
            }
            let message = match timeout_at(until, self.lines.recv()).await {
                Err(_) => return Ok(false),
                Ok(None) => return Ok(true),
                Ok(Some(Line::TooLong)) => return Err(Trouble::TooLong),
                Ok(Some(Line::Message(at, message))) => (at, message),
            };
            match message {
                (at, Incoming::Reply(id, reply)) => {
                    if !self.answered.insert(id) {
                        self.odd(format!("request {id} was answered twice"));
                    } else if let Some(index) = requests.iter().position(|request| request.id == id)
                        && let Some(answer) = answers.get_mut(index)
                    {
                        *answer = Some((at, reply));
                    }
                }
                (_, Incoming::Question(id, method)) => {
                    // If it cannot be written the end of the output will say so.
                    let response = message::response_to(&id, &method, Some(&self.root));
                    let _ = self.write(&line(&response)).await;
                }
                (_, Incoming::Junk(line, length)) => {
                    self.junk_lines += 1;
                    self.junk_bytes = self.junk_bytes.saturating_add(length);
                    if self.junk_lines > MOST_JUNK_LINES || self.junk_bytes > MOST_JUNK_BYTES {
                        let told = format!("it goes on like that for {} lines", self.junk_lines);
                        return Err(Trouble::Junk(self.junk.take().unwrap_or(line), told));
                    }
                    // Only the first: what a server prints it may print all the time, and each time it is another line.
                    if self.junk.is_none() {
                        self.odd(format!("{JUNK}: `{line}`"));
                        self.junk = Some(line);
                    }
                }
                (_, Incoming::Other) => {}
            }
        }
    }

    fn odd(&mut self, what: String) {
        if self.oddities.len() < MOST_ODDITIES && !self.oddities.contains(&what) {
            self.oddities.push(what);
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let Some(input) = &mut self.input else { return Err(Trouble::Ended(String::new())) };
        input.write_all(bytes).await?;
        Ok(input.flush().await?)
    }
}

const ENDED: &str = "the server ended";
const JUNK: &str = "the server prints on its output what is no message";

fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

async fn read_lines(output: impl AsyncRead + Unpin, lines: mpsc::Sender<Line>) {
    let mut output = BufReader::with_capacity(64 << 10, output);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
        match (&mut output).take(limit).read_until(b'\n', &mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(length) if length >= LONGEST => {
                let _ = lines.send(Line::TooLong).await;
                return;
            }
            Ok(_) if bytes.iter().all(u8::is_ascii_whitespace) => {}
            Ok(_) => {
                let at = Instant::now();
                if lines.send(Line::Message(at, message::read(&bytes))).await.is_err() {
                    return;
                }
            }
        }
    }
}
