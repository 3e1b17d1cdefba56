//! The end of what a server says on its error output.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::watch,
};

/// Who is told each line.
pub type Heard = Arc<dyn Fn(&str) + Send + Sync>;

/// So many lines are kept for the reason of a failure.
const LINES: usize = 8;
/// A longer line is cut: it is for people, and nobody bounds what a server says.
const LONGEST: usize = 2_000;

/// The last lines, while they come in.
#[derive(Debug)]
pub struct Tail {
    lines: Mutex<VecDeque<String>>,
    is_finished: watch::Sender<bool>,
}

impl Default for Tail {
    fn default() -> Self {
        Self { lines: Mutex::default(), is_finished: watch::Sender::new(false) }
    }
}

impl Tail {
    /// Reads to the end.
    pub(super) async fn hear(&self, mut from: impl AsyncRead + Unpin, heard: Heard) {
        let (mut buffer, mut line) = ([0; 4096], Vec::new());
        while let Ok(length) = from.read(&mut buffer).await {
            if length == 0 {
                break;
            }
            for byte in buffer.iter().take(length) {
                match byte {
                    b'\n' => self.line(&std::mem::take(&mut line), &heard),
                    _ if line.len() < LONGEST => line.push(*byte),
                    _ => {}
                }
            }
        }
        self.line(&line, &heard);
        self.is_finished.send_replace(true);
    }

    fn line(&self, bytes: &[u8], heard: &Heard) {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        heard(text);
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(text.to_owned());
    }

    /// Waits until all was read, but no longer than so long: something that the server started may hold the pipe.
    pub async fn finished(&self, within: Duration) {
        let mut finished = self.is_finished.subscribe();
        let _ = tokio::time::timeout(within, finished.wait_for(|is_finished| *is_finished)).await;
    }

    /// A reason with the last words behind it.
    #[must_use]
    pub fn added_to(&self, reason: &str) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return format!("{reason}, and said nothing on its error output");
        }
        let words: String = lines.iter().map(|line| format!("\n  | {line}")).collect();
        format!("{reason}; its last words:{words}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_and_endless_ones_are_cut() {
        let tail = Tail::default();
        assert_eq!(tail.added_to("gone"), "gone, and said nothing on its error output");
        let heard = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&heard);
        let text: String = (0..20).map(|number| format!("line {number}\n\n")).collect();
        let text = format!("{text}{}", "x".repeat(100_000));
        tail.hear(text.as_bytes(), Arc::new(move |_| *counted.lock().unwrap() += 1)).await;
        tail.finished(Duration::MAX).await;
        let words = tail.added_to("gone");
        assert!(words.starts_with("gone; its last words:\n  | line 13\n"), "{words}");
        assert!(words.len() < LONGEST + 200, "{}", words.len());
        assert_eq!(*heard.lock().unwrap(), 21);
    }
}
