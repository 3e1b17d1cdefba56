//! The one client on standard input and output.

use std::{future::Future, io, sync::Arc};

use bytes::BytesMut;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
};

use super::Steps;
use crate::{
    call::Caller,
    message::{Code, Incoming, Kind, Message, failure, one_line},
    session::{Engine, Outbox, Session, Style, Who, revision},
    upstream::Lines,
};

/// The longest message that a client may send.
const LONGEST_LINE: usize = 16 << 20;
/// Requests that are worked on at once; more are not read before some are answered.
const AT_ONCE: u32 = 16_384;
/// And how many bytes of them, in units of 1024.
const BYTES_AT_ONCE: u32 = 64 << 10;
/// How many bytes go in one write, unless a message is longer.
const ONE_WRITE: usize = 64 << 10;

/// Serves one client until its input ends or `shutdown` does, and answers what it had asked before.
///
/// # Errors
///
/// If the input cannot be read or the output cannot be written.
pub async fn stdio<R, W, S>(engine: Arc<Engine>, input: R, output: W, shutdown: S) -> io::Result<()>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
    S: Future<Output = ()>,
{
    let session = Session::new(&engine, Caller::stdio(), Style::Alone);
    let out = Arc::clone(&session.out);
    let mut writer = tokio::spawn(write(output, Arc::clone(&out)));
    let (sender, mut lines) = mpsc::channel(16);
    let reader = tokio::spawn(async move {
        let mut lines = Lines::new(input, LONGEST_LINE);
        loop {
            let line = lines.next().await.transpose();
            let Some(line) = line else { return };
            let is_last = line.is_err();
            if sender.send(line).await.is_err() || is_last {
                return;
            }
        }
    });
    let room = Room {
        places: Arc::new(Semaphore::new(usize::try_from(AT_ONCE).unwrap_or(usize::MAX))),
        bytes: Arc::new(Semaphore::new(usize::try_from(BYTES_AT_ONCE).unwrap_or(usize::MAX))),
    };
    tokio::pin!(shutdown);
    let mut outcome = Ok(());
    loop {
        let line = tokio::select! {
            biased;
            () = &mut shutdown => break,
            // Nobody reads the answers any more.
            _ = &mut writer => break,
            line = lines.recv() => line,
        };
        match line {
            None => break,
            Some(Err(error)) => {
                outcome = Err(error);
                break;
            }
            Some(Ok(line)) => match Message::incoming(line) {
                Ok(Incoming::One(message)) => one(&session, message, &out, &room).await,
                Ok(Incoming::Batch(messages)) => {
                    let has_batches =
                        session.version.get().is_some_and(|version| version == revision::BATCHES);
                    if has_batches {
                        batch(&session, messages, &out, &room).await;
                    } else {
                        let why = "batches exist in the revision 2025-03-26 only";
                        let _ = out.put(failure(None, Code::INVALID_REQUEST, why)).await;
                    }
                }
                Err(fault) => {
                    let _ = out.put(failure(None, fault.code(), &fault.to_string())).await;
                }
            },
        }
    }
    reader.abort();
    engine.close();
    let answered = room.places.acquire_many(AT_ONCE);
    tokio::select! {
        _ = answered => {}
        _ = &mut writer => return outcome,
    }
    out.close();
    match writer.await {
        Ok(written) => outcome.and(written),
        Err(_) => outcome,
    }
}

/// How much is worked on at once. What is beyond it is not read.
struct Room {
    places: Arc<Semaphore>,
    /// In units of 1024.
    bytes: Arc<Semaphore>,
}

impl Room {
    /// Waits for room for a message of this length.
    async fn enter(&self, length: usize) -> Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)> {
        let units = u32::try_from(length >> 10).unwrap_or(u32::MAX).clamp(1, BYTES_AT_ONCE);
        let bytes = Arc::clone(&self.bytes).acquire_many_owned(units).await.ok()?;
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        Some((place, bytes))
    }
}

fn who() -> Who {
    Who { caller: Caller::stdio(), reader: Some("stdio".into()), headers: Arc::new([]) }
}

async fn one(session: &Arc<Session>, message: Message, out: &Arc<Outbox>, room: &Room) {
    if message.kind() != Kind::Request {
        if let Err(unheard) = session.tell(&session.caller, &message).await
            && !unheard.is_notification
        {
            let _ = out.put(failure(None, Code::INVALID_REQUEST, unheard.why)).await;
        }
        return;
    }
    let Some(place) = room.enter(message.bytes().len()).await else { return };
    let step = session.take(who(), message, Arc::clone(out)).await;
    let out = Arc::clone(out);
    tokio::spawn(async move {
        if let Some(answer) = step.finish().await.bytes() {
            let _ = out.put(answer).await;
        }
        drop(place);
    });
}

/// All answers of a batch go back together.
async fn batch(session: &Arc<Session>, messages: Vec<Message>, out: &Arc<Outbox>, room: &Room) {
    let length = messages.iter().map(|message| message.bytes().len()).sum();
    let Some(place) = room.enter(length).await else { return };
    let mut steps = Steps::default();
    for message in messages {
        if message.kind() == Kind::Request {
            steps.taken.push(session.take(who(), message, Arc::clone(out)).await);
        } else if let Err(unheard) = session.tell(&session.caller, &message).await {
            steps.refuse(unheard);
        }
    }
    let out = Arc::clone(out);
    tokio::spawn(async move {
        if let Some(bytes) = steps.finish().await {
            let _ = out.put(bytes).await;
        }
        drop(place);
    });
}

async fn write(mut output: impl AsyncWrite + Unpin, out: Arc<Outbox>) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    let reader = out.reader(None);
    while let Some((_, first)) = reader.next().await {
        let mut message = Some(first);
        while let Some(next) = message.take() {
            // An empty one is only for clients that may come back.
            if !next.is_empty() {
                buffer.extend_from_slice(&one_line(next));
                buffer.extend_from_slice(b"\n");
            }
            if buffer.len() < ONE_WRITE {
                message = reader.take().map(|(_, message)| message);
            }
        }
        let written = async {
            output.write_all(&buffer).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            out.close();
            return Err(error);
        }
        buffer.clear();
    }
    output.shutdown().await
}
