//! One Node process at the other end of the socket: a JSON message per line. What it says is not trusted.

use std::io;

use interlock_model::{RaceWindow, TickKind};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
};

use crate::{
    clock::Instant,
    perturb::{Choice, Observed, Tick},
};

/// The longest line that is read: more than any run that the preload's own bounds allow.
const LONGEST: u64 = 32 << 20;

/// A connected process.
#[derive(Debug)]
pub(super) struct Peer {
    stream: BufReader<UnixStream>,
    line: Vec<u8>,
    /// Whether it has said that its preload is in place.
    pub(super) greeted: bool,
    /// Why it cannot be armed, if it said so.
    pub(super) trouble: Option<String>,
}

/// What one process saw of a run.
#[derive(Debug)]
pub(super) struct Seen {
    /// How many of the calls it parsed.
    pub(super) arrived: u64,
    pub(super) observed: Observed,
}

impl Peer {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream: BufReader::new(stream), line: Vec::new(), greeted: false, trouble: None }
    }

    /// Waits for the first message.
    pub(super) async fn greet(&mut self) -> io::Result<()> {
        while !self.greeted && self.trouble.is_none() {
            let message = self.hear().await?;
            self.trouble =
                message.get("trouble").and_then(Value::as_str).map(|text| text.chars().take(500).collect());
            self.greeted = self.trouble.is_none() && message.get("hello").is_some();
        }
        Ok(())
    }

    /// Arms the process and waits until it says so. Without choices it only looks on, and holds what it is told to hold.
    pub(super) async fn arm(
        &mut self,
        run: u64,
        ids: &[i64],
        choices: Option<&[usize]>,
        windows: &[RaceWindow],
    ) -> io::Result<()> {
        let (observe, choices) = (choices.is_none(), choices.unwrap_or_default());
        let windows = super::super::windows::told(windows);
        let order =
            json!({ "run": run, "ids": ids, "choices": choices, "observe": observe, "windows": windows });
        self.say(&json!({ "arm": order })).await?;
        while self.hear().await?.get("armed").and_then(Value::as_u64) != Some(run) {}
        Ok(())
    }

    /// Disarms the process and takes what it saw.
    pub(super) async fn disarm(&mut self, run: u64) -> io::Result<Seen> {
        self.say(&json!({ "disarm": run })).await?;
        loop {
            let message = self.hear().await?;
            if message.get("disarmed").and_then(Value::as_u64) == Some(run) {
                let seen = message.get("seen").unwrap_or(&Value::Null);
                return Ok(Seen {
                    arrived: seen.get("arrived").and_then(Value::as_u64).unwrap_or_default(),
                    observed: observed(seen),
                });
            }
        }
    }

    async fn say(&mut self, message: &Value) -> io::Result<()> {
        self.stream.write_all(format!("{message}\n").as_bytes()).await
    }

    /// The next message. What was read of a line stays if the caller loses patience.
    async fn hear(&mut self) -> io::Result<Value> {
        let room = LONGEST.saturating_sub(u64::try_from(self.line.len()).unwrap_or(u64::MAX));
        (&mut self.stream).take(room).read_until(b'\n', &mut self.line).await?;
        if self.line.last() != Some(&b'\n') {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the process is gone"));
        }
        let message = serde_json::from_slice(&self.line);
        self.line.clear();
        message.map_err(io::Error::from)
    }
}

fn observed(seen: &Value) -> Observed {
    let list = |name: &str| seen.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut ticks: Vec<Tick> = list("ticks").iter().filter_map(tick).collect();
    ticks.sort_by_key(|tick| tick.at);
    Observed {
        ticks,
        choices: list("choices").iter().filter_map(choice).collect(),
        unnatural: seen.get("unnatural").and_then(Value::as_bool).unwrap_or_default(),
        diverged: seen.get("diverged").and_then(Value::as_str).map(str::to_owned),
    }
}

fn tick(value: &Value) -> Option<Tick> {
    let kind = match value.get(2)?.as_str()? {
        "read" => TickKind::Read,
        "write" => TickKind::Write,
        _ => TickKind::Wait,
    };
    Some(Tick {
        request: value.get(0)?.as_i64(),
        at: Instant(value.get(1)?.as_str()?.parse().ok()?),
        kind,
        on: value.get(3)?.as_str()?.to_owned(),
    })
}

fn choice(value: &Value) -> Option<Choice> {
    let waiting = value.get("waiting")?.as_array()?.iter();
    let waiting =
        waiting.map(|operation| Some((operation.get(0)?.as_i64()?, operation.get(1)?.as_str()?.to_owned())));
    Some(Choice {
        waiting: waiting.collect::<Option<_>>()?,
        taken: usize::try_from(value.get("taken")?.as_u64()?).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_says_is_taken_as_far_as_it_makes_sense() {
        let seen = json!({
            "ticks": [[2, "20", "write", "rename a -> b"], [1, "10", "read", "readFile a"], [1, 5, "read", "x"], "junk"],
            "choices": [{ "waiting": [[1, "readFile"], [2, "readFile"]], "taken": 1 }, { "waiting": 7 }, null],
            "unnatural": true,
        });
        let observed = observed(&seen);
        assert_eq!(
            observed.ticks.iter().map(|tick| tick.on.as_str()).collect::<Vec<_>>(),
            ["readFile a", "rename a -> b"]
        );
        assert_eq!(observed.choices.len(), 1);
        assert!(observed.unnatural);
        assert_eq!(observed.diverged, None);
    }

    #[tokio::test]
    async fn a_line_that_comes_in_pieces_is_heard_whole() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(ours);
        theirs.write_all(b"{\"hel").await.unwrap();
        let short = std::time::Duration::from_millis(5);
        assert!(tokio::time::timeout(short, peer.greet()).await.is_err());
        theirs.write_all(b"lo\":1}\n").await.unwrap();
        peer.greet().await.unwrap();
        drop(theirs);
        assert!(peer.arm(1, &[], Some(&[]), &[]).await.is_err());
    }
}
