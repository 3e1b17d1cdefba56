//! A server as a child process: its own process group, a line for each message.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
    process::ChildStdin,
    sync::{mpsc, watch},
    time::timeout,
};

use super::link::Link;
use crate::{
    manage::{
        Phases,
        process::{self, Launch, Pipes},
    },
    policy::Reach,
};

/// Somebody who is told what a child writes to its standard error, line by line.
pub type Complaints = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// A child process.
#[derive(Debug, Clone)]
pub struct Process {
    /// The process itself, and its group.
    pub body: Arc<process::Process>,
    ended: watch::Receiver<Option<String>>,
    leave: watch::Sender<bool>,
    has_spoken: Arc<AtomicBool>,
}

/// Both ends of a child that was started.
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) lines: mpsc::Sender<Bytes>,
    pub(super) running: Running,
}

/// What the tasks of a child need.
pub(super) struct Running {
    body: Arc<process::Process>,
    pipes: Pipes,
    queue: mpsc::Receiver<Bytes>,
    ended: watch::Sender<Option<String>>,
    leaving: watch::Receiver<bool>,
    has_spoken: Arc<AtomicBool>,
}

/// The longest message that a child may send.
const LONGEST_LINE: usize = 64 << 20;
/// Messages on their way to its input; whoever sends more has to wait.
const QUEUED: usize = 256;
/// How many bytes go in one write, unless a message is longer.
const ONE_WRITE: usize = 64 << 10;
/// After it was asked to leave, how long it may take.
const LEAVES_WITHIN: Duration = Duration::from_secs(10);
/// What calls are told that were under way when the guard ended a process, because it closes or their session is over.
const ENDED_BY_US: &str =
    "the guard has ended the server's process, and did not wait for this call any longer";
/// After its end, how long what it wrote before may take to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);

impl Process {
    /// Why it ended, once it has.
    pub async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        loop {
            if let Some(reason) = ended.borrow_and_update().clone() {
                return reason;
            }
            if ended.changed().await.is_err() {
                return "nobody watches it any more".to_owned();
            }
        }
    }

    /// Whether it has ever sent a line.
    #[must_use]
    pub fn has_spoken(&self) -> bool {
        self.has_spoken.load(Ordering::Relaxed)
    }

    /// Closes its input, which asks it to end by itself.
    pub fn leave(&self) {
        self.leave.send_replace(true);
    }

    /// Ends it and whatever it started, at once.
    pub fn kill(&self) {
        let body = Arc::clone(&self.body);
        // Outside of a runtime nothing is left to wait for: the child ends with its watcher.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { body.kill().await });
        }
    }

    /// Asks it to end; its watcher ends it if it does not.
    pub(crate) fn end(&self) {
        self.leave();
    }
}

/// Starts a child. Nothing is read or written before [`run`].
pub(super) fn start(reach: &Reach, name: &Arc<str>, complain: Option<Complaints>) -> io::Result<Started> {
    let Reach::Command { command, env, folder } = reach else {
        return Err(io::Error::other("not a command"));
    };
    let launch = Launch { command: command.clone(), env: env.clone(), folder: folder.clone() };
    let name = Arc::clone(name);
    let heard = move |line: &str| {
        if let Some(complain) = &complain {
            complain(&name, line);
        }
    };
    let (body, pipes) = process::Process::start(&launch, Arc::new(heard)).map_err(io::Error::other)?;
    let body = Arc::new(body);
    let (lines, queue) = mpsc::channel(QUEUED);
    let (end, ended) = watch::channel(None);
    let (leave, leaving) = watch::channel(false);
    let has_spoken = Arc::<AtomicBool>::default();
    Ok(Started {
        process: Process { body: Arc::clone(&body), ended, leave, has_spoken: Arc::clone(&has_spoken) },
        lines,
        running: Running { body, pipes, queue, ended: end, leaving, has_spoken },
    })
}

/// Starts the tasks that read, write and wait.
pub(super) fn run(running: Running, link: &Arc<Link>) {
    let Running { body, pipes, queue, ended, mut leaving, has_spoken } = running;
    tokio::spawn(write(pipes.stdin, queue, leaving.clone()));
    let mut reader = tokio::spawn(read(pipes.stdout, Arc::clone(link), has_spoken));
    let told_to = leaving.clone();
    let link = Arc::clone(link);
    tokio::spawn(async move {
        let leaves = async {
            // The sender is in the handle of the process, which may be gone long before the process is.
            if leaving.wait_for(|leaving| *leaving).await.is_err() {
                std::future::pending::<()>().await;
            }
            body.end(LEAVES_WITHIN, &Phases::default()).await;
        };
        tokio::select! {
            () = body.ended() => {
                // A grandchild may keep the pipe open, so its end is not waited for without a limit.
                let _ = timeout(LAST_WORDS, &mut reader).await;
            }
            () = leaves => {
                let _ = timeout(LAST_WORDS, &mut reader).await;
            }
            read = &mut reader => {
                // It is usually about to end, and then how it ended says more. What does not speak any more is of no use.
                if timeout(LAST_WORDS, body.ended()).await.is_err() {
                    link.end(match read {
                        Ok(Err(_)) => "what the server sends cannot be read",
                        _ => "the server closed its output",
                    });
                }
            }
        }
        reader.abort();
        // Callers are told how it ended; what it said last is for whoever keeps the guard.
        let (reason, words) = body.obituary().await;
        let is_told_to = *told_to.borrow();
        link.end(if is_told_to { ENDED_BY_US } else { &reason });
        ended.send_replace(Some(words));
    });
}

async fn write(mut input: ChildStdin, mut queue: mpsc::Receiver<Bytes>, mut leaving: watch::Receiver<bool>) {
    let mut buffer = BytesMut::new();
    loop {
        let first = tokio::select! {
            biased;
            message = queue.recv() => message,
            _ = leaving.wait_for(|leaving| *leaving) => None,
        };
        let Some(first) = first else { return };
        buffer.extend_from_slice(&first);
        buffer.extend_from_slice(b"\n");
        while buffer.len() < ONE_WRITE
            && let Ok(more) = queue.try_recv()
        {
            buffer.extend_from_slice(&more);
            buffer.extend_from_slice(b"\n");
        }
        if input.write_all(&buffer).await.is_err() || input.flush().await.is_err() {
            return;
        }
        buffer.clear();
        if buffer.capacity() > 1 << 20 {
            buffer = BytesMut::new();
        }
    }
}

async fn read(
    output: impl AsyncRead + Unpin,
    link: Arc<Link>,
    has_spoken: Arc<AtomicBool>,
) -> io::Result<()> {
    let mut lines = Lines::new(output, LONGEST_LINE);
    while let Some(line) = lines.next().await? {
        has_spoken.store(true, Ordering::Relaxed);
        link.heard(line);
    }
    Ok(())
}

/// Lines of a bounded length.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    longest: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self { reader: BufReader::with_capacity(64 << 10, reader), longest }
    }

    /// The next line that is not blank, without its end.
    ///
    /// # Cancel safety
    ///
    /// None: what was read of a line is lost.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            let mut line = Vec::new();
            let limit = u64::try_from(self.longest).unwrap_or(u64::MAX).saturating_add(1);
            let read = (&mut self.reader).take(limit).read_until(b'\n', &mut line).await?;
            if read == 0 {
                return Ok(None);
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if line.len() > self.longest {
                return Err(io::Error::other(format!("a line is longer than {} bytes", self.longest)));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line.into()));
            }
        }
    }
}
