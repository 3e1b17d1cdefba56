//! Answers that come as a stream, which a client may come back to after its connection broke.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use super::outbox::{Outbox, Reader};

/// The streams of one session.
#[derive(Debug, Default)]
pub(crate) struct Streams(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    last: u64,
    streams: VecDeque<(u64, Arc<Outbox>)>,
}

/// How many streams are remembered after their end.
const MOST_OVER: usize = 16;

impl Streams {
    /// Takes a stream in and gives it a number. Zero is the stream that belongs to no request.
    pub(crate) fn keep(&self, out: &Arc<Outbox>) -> u64 {
        out.remember();
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut over = table.streams.iter().filter(|(_, out)| out.is_over()).count();
        table.streams.retain(|(_, out)| {
            let goes = out.is_over() && over > MOST_OVER;
            over -= usize::from(goes);
            !goes
        });
        table.last += 1;
        let number = table.last;
        table.streams.push_back((number, Arc::clone(out)));
        number
    }

    /// Goes on with a stream behind an event.
    pub(crate) fn resume(&self, stream: u64, behind: u64) -> Option<Reader> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, out) = table.streams.iter().find(|(number, _)| *number == stream)?;
        Some(out.reader(Some(behind)))
    }
}
