//! A bounded line of messages to one reader who may be slow, or gone and back again.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::Notify;

/// Messages on their way to a client.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    line: Mutex<Line>,
    filled: Notify,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Bytes>,
    bytes: usize,
    /// The number of the first that waits.
    first: u64,
    /// What was read, newest last, in case the reader did not get it after all.
    read: VecDeque<Bytes>,
    read_bytes: usize,
    remembers: bool,
    is_closed: bool,
    /// Who reads now: earlier readers get nothing more.
    reader: u64,
}

/// Whoever reads from an outbox, until another does.
#[derive(Debug)]
pub(crate) struct Reader {
    outbox: Arc<Outbox>,
    number: u64,
}

/// There is no room, or nobody who reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused;

/// How many messages wait at most.
const MOST_MESSAGES: usize = 1024;
/// How many bytes, unless a single message is longer.
const MOST_BYTES: usize = 8 << 20;
/// How many messages that were read are remembered.
const MOST_READ: usize = 256;
/// And how many bytes of them.
const MOST_READ_BYTES: usize = 1 << 20;

impl Outbox {
    /// From now on, what was read is remembered for a while.
    pub(crate) fn remember(&self) {
        self.line().remembers = true;
    }

    /// Puts a message in line, or says that it cannot be done now. For what may be lost: notifications.
    pub(crate) fn offer(&self, message: Bytes) -> Result<(), Refused> {
        let mut line = self.line();
        if line.is_closed || !line.has_room(message.len()) {
            return Err(Refused);
        }
        line.bytes += message.len();
        line.waiting.push_back(message);
        drop(line);
        self.filled.notify_waiters();
        Ok(())
    }

    /// Puts a message in line and waits for room if there is none. For what must not be lost: answers.
    pub(crate) async fn put(&self, message: Bytes) -> Result<(), Refused> {
        loop {
            let emptied = self.emptied.notified();
            tokio::pin!(emptied);
            // Registered before the look, so that room made in between is not missed.
            emptied.as_mut().enable();
            match self.offer(message.clone()) {
                Ok(()) => return Ok(()),
                Err(refused) if self.line().is_closed => return Err(refused),
                Err(_) => emptied.await,
            }
        }
    }

    /// Reads from now on, in place of whoever read before; from behind the message with that number, as far as it is remembered.
    pub(crate) fn reader(self: &Arc<Self>, behind: Option<u64>) -> Reader {
        let mut line = self.line();
        line.reader += 1;
        let number = line.reader;
        if let Some(behind) = behind {
            while line.first > behind.saturating_add(1)
                && let Some(message) = line.read.pop_back()
            {
                line.read_bytes -= message.len();
                line.bytes += message.len();
                line.first -= 1;
                line.waiting.push_front(message);
            }
        }
        drop(line);
        self.filled.notify_waiters();
        Reader { outbox: Arc::clone(self), number }
    }

    /// Takes nothing more; what is in line can still be read.
    pub(crate) fn close(&self) {
        self.line().is_closed = true;
        self.filled.notify_waiters();
        self.emptied.notify_waiters();
    }

    /// Whether it is closed and everything was read.
    pub(crate) fn is_over(&self) -> bool {
        let line = self.line();
        line.is_closed && line.waiting.is_empty()
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// The next message and its number; `None` once it is closed and empty, or somebody else reads.
    pub(crate) async fn next(&self) -> Option<(u64, Bytes)> {
        loop {
            let filled = self.outbox.filled.notified();
            tokio::pin!(filled);
            filled.as_mut().enable();
            if let Some(message) = self.take() {
                return Some(message);
            }
            {
                let line = self.outbox.line();
                if line.is_closed || line.reader != self.number {
                    return None;
                }
            }
            filled.await;
        }
    }

    /// Waits until there is a message. Never comes back if there will be none.
    pub(crate) async fn filled(&self) {
        loop {
            let filled = self.outbox.filled.notified();
            tokio::pin!(filled);
            filled.as_mut().enable();
            if self.has_some() {
                return;
            }
            filled.await;
        }
    }

    /// Whether there is a message.
    pub(crate) fn has_some(&self) -> bool {
        !self.outbox.line().waiting.is_empty()
    }

    /// The next message if there is one.
    pub(crate) fn take(&self) -> Option<(u64, Bytes)> {
        let mut line = self.outbox.line();
        if line.reader != self.number {
            return None;
        }
        let message = line.waiting.pop_front()?;
        let number = line.first;
        line.first += 1;
        line.bytes -= message.len();
        if line.remembers {
            line.read_bytes += message.len();
            line.read.push_back(message.clone());
            while (line.read.len() > MOST_READ || line.read_bytes > MOST_READ_BYTES)
                && let Some(oldest) = line.read.pop_front()
            {
                line.read_bytes -= oldest.len();
            }
        }
        drop(line);
        self.outbox.emptied.notify_waiters();
        Some((number, message))
    }
}

impl Line {
    fn has_room(&self, bytes: usize) -> bool {
        self.waiting.is_empty() || (self.waiting.len() < MOST_MESSAGES && self.bytes + bytes <= MOST_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reader_who_comes_back_gets_what_it_missed_and_the_one_before_nothing_more() {
        let outbox = Arc::<Outbox>::default();
        outbox.remember();
        for text in ["a", "b", "c"] {
            outbox.offer(text.into()).unwrap();
        }
        let first = outbox.reader(None);
        assert_eq!(first.next().await, Some((0, "a".into())));
        assert_eq!(first.next().await, Some((1, "b".into())));
        let second = outbox.reader(Some(0));
        assert_eq!(first.next().await, None);
        outbox.close();
        assert_eq!(second.next().await, Some((1, "b".into())));
        assert_eq!(second.next().await, Some((2, "c".into())));
        assert_eq!(second.next().await, None);
    }

    #[tokio::test]
    async fn nothing_grows_without_a_reader_and_an_answer_waits_for_room() {
        let outbox = Arc::<Outbox>::default();
        let taken = (0..5000).filter(|_| outbox.offer("x".into()).is_ok()).count();
        assert_eq!(taken, MOST_MESSAGES);
        let waiting = tokio::spawn({
            let outbox = Arc::clone(&outbox);
            async move { outbox.put("answer".into()).await }
        });
        let reader = outbox.reader(None);
        for _ in 0..MOST_MESSAGES {
            assert_eq!(reader.next().await.unwrap().1, "x");
        }
        assert_eq!(reader.next().await.unwrap().1, "answer");
        assert_eq!(waiting.await.unwrap(), Ok(()));
    }
}
