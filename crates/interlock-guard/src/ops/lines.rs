//! Lines on their way to a file or a terminal. Whoever has a line appends it to a buffer of bounded size and goes on; one thread writes.
//! When the buffer is full the line is dropped and counted: a slow disk must not make a call wait.

use std::{
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How many bytes may wait to be written.
const ROOM: usize = 4 << 20;
/// How long lines are collected before they are written together.
const TOGETHER: Duration = Duration::from_millis(10);
/// How long whoever closes waits for what was not written yet.
const LAST: Duration = Duration::from_secs(5);

/// Where lines go in the end.
pub(super) trait Sink: Send + 'static {
    /// Writes whole lines.
    fn write(&mut self, lines: &[u8]) -> io::Result<()>;

    /// Opens the place again, because somebody may have moved it away.
    fn reopen(&mut self) {}

    /// Appends a line that says how many were dropped.
    fn tell_dropped(&self, out: &mut Vec<u8>, dropped: u64);
}

/// A way to write lines without waiting.
#[derive(Debug)]
pub(super) struct Lines {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    buffer: Mutex<Buffer>,
    wake: Condvar,
    dropped: AtomicU64,
    must_reopen: AtomicBool,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    lines: u64,
    is_writer_asleep: bool,
    is_closed: bool,
    is_done: bool,
}

impl Lines {
    /// Starts the thread that writes.
    pub(super) fn start(name: &str, sink: impl Sink) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            buffer: Mutex::default(),
            wake: Condvar::new(),
            dropped: AtomicU64::new(0),
            must_reopen: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || theirs.write(sink))?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Hands a line over, with its end.
    pub(super) fn push(&self, line: &[u8]) {
        let mut buffer = self.shared.lock();
        if buffer.is_closed || buffer.bytes.len() + line.len() > ROOM {
            drop(buffer);
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        buffer.bytes.extend_from_slice(line);
        buffer.lines += 1;
        // Waking somebody is a call to the system, so it is made only for one who sleeps.
        let must_wake = std::mem::take(&mut buffer.is_writer_asleep);
        drop(buffer);
        if must_wake {
            self.shared.wake.notify_all();
        }
    }

    /// How many lines were never written.
    pub(super) fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// Has the place opened again before the next line.
    pub(super) fn reopen(&self) {
        self.shared.must_reopen.store(true, Ordering::Release);
    }

    /// Writes what is left, for a while, and ends.
    pub(super) fn close(&self) {
        let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let until = Instant::now() + LAST;
        let mut buffer = self.shared.lock();
        buffer.is_closed = true;
        self.shared.wake.notify_all();
        while !buffer.is_done {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // A writer that hangs in the system is left behind: the process must be able to end.
                return;
            }
            buffer = self.shared.wake.wait_timeout(buffer, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(buffer);
        let _ = thread.join();
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread's work.
    fn write(&self, mut sink: impl Sink) {
        let mut batch = Buffer::default();
        let mut told = 0;
        loop {
            self.collect(&mut batch);
            if self.must_reopen.swap(false, Ordering::AcqRel) {
                sink.reopen();
            }
            let dropped = self.dropped.load(Ordering::Relaxed);
            let lines = batch.lines;
            if dropped > told {
                sink.tell_dropped(&mut batch.bytes, dropped - told);
            }
            if !batch.bytes.is_empty() {
                if sink.write(&batch.bytes).is_ok() {
                    told = dropped;
                } else {
                    self.dropped.fetch_add(lines, Ordering::Relaxed);
                }
            }
            batch.bytes.clear();
            batch.bytes.shrink_to(64 << 10);
            if batch.is_closed {
                let mut buffer = self.lock();
                buffer.is_done = true;
                self.wake.notify_all();
                return;
            }
        }
    }

    /// Waits until there is something, lets more come to it, and takes it.
    fn collect(&self, batch: &mut Buffer) {
        let mut buffer = self.lock();
        while buffer.bytes.is_empty() && !buffer.is_closed {
            buffer.is_writer_asleep = true;
            buffer = self.wake.wait(buffer).unwrap_or_else(PoisonError::into_inner);
        }
        if !buffer.is_closed {
            buffer.is_writer_asleep = false;
            buffer = self.wake.wait_timeout(buffer, TOGETHER).unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::swap(&mut buffer.bytes, &mut batch.bytes);
        batch.lines = std::mem::take(&mut buffer.lines);
        batch.is_closed = buffer.is_closed;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct Slow {
        may_write: mpsc::Receiver<io::Result<()>>,
        written: mpsc::Sender<String>,
    }

    impl Sink for Slow {
        fn write(&mut self, lines: &[u8]) -> io::Result<()> {
            self.may_write.recv().unwrap_or(Ok(()))?;
            let _ = self.written.send(String::from_utf8_lossy(lines).into_owned());
            Ok(())
        }

        fn tell_dropped(&self, out: &mut Vec<u8>, dropped: u64) {
            out.extend_from_slice(format!("dropped {dropped}\n").as_bytes());
        }
    }

    fn slow() -> (Lines, mpsc::Sender<io::Result<()>>, mpsc::Receiver<String>) {
        let (allow, may_write) = mpsc::channel();
        let (written, read) = mpsc::channel();
        (Lines::start("lines", Slow { may_write, written }).unwrap(), allow, read)
    }

    #[test]
    fn a_writer_that_hangs_makes_nobody_wait_and_says_what_it_lost() {
        let (lines, allow, read) = slow();
        let line = [vec![b'x'; (1 << 20) - 1], vec![b'\n']].concat();
        for _ in 0..20 {
            lines.push(&line);
        }
        assert!(lines.dropped() >= 20 - 9, "{}", lines.dropped());
        drop(allow);
        lines.close();
        let told: u64 = read
            .iter()
            .flat_map(|text| {
                text.lines()
                    .filter_map(|line| line.strip_prefix("dropped ")?.parse::<u64>().ok())
                    .collect::<Vec<_>>()
            })
            .sum();
        assert_eq!(told, lines.dropped());
    }

    #[test]
    fn lines_that_could_not_be_written_count_as_dropped() {
        let (lines, allow, read) = slow();
        allow.send(Err(io::Error::other("full"))).unwrap();
        lines.push(b"one\n");
        while lines.dropped() == 0 {
            thread::yield_now();
        }
        drop(allow);
        lines.push(b"two\n");
        lines.close();
        assert_eq!(read.iter().collect::<String>(), "two\ndropped 1\n");
    }

    #[test]
    fn closing_writes_what_is_left_and_takes_no_more() {
        let (lines, allow, read) = slow();
        drop(allow);
        lines.push(b"one\n");
        lines.close();
        lines.push(b"two\n");
        assert_eq!(read.iter().collect::<String>(), "one\n");
        assert_eq!(lines.dropped(), 1);
    }
}
