//! The lines of a file.

use memchr::memchr_iter;

/// Where each line starts.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<u32>,
    /// The line that was asked for last; the next question is mostly about one near it.
    last: usize,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        starts.push(0);
        let behind = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
        starts.extend(memchr_iter(b'\n', text.as_bytes()).map(behind));
        Self { starts, last: 0 }
    }

    /// The line of a byte, counted from 1.
    pub(crate) fn line(&mut self, byte: u32) -> u32 {
        let starts = |line: usize| self.starts.get(line).copied().unwrap_or(u32::MAX);
        let mut line = self.last;
        if starts(line) > byte || starts(line + 8) <= byte {
            line = self.starts.partition_point(|start| *start <= byte).saturating_sub(1);
        } else {
            while starts(line + 1) <= byte {
                line += 1;
            }
        }
        self.last = line;
        u32::try_from(line + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_forwards_and_backwards() {
        let text = "a\nbb\n\nccc\n".repeat(20);
        let mut lines = Lines::new(&text);
        let expected: Vec<u32> = text
            .bytes()
            .scan(1, |line, byte| {
                let this = *line;
                *line += u32::from(byte == b'\n');
                Some(this)
            })
            .collect();
        for byte in (0..text.len()).chain((0..text.len()).rev()).chain((0..text.len()).step_by(37)) {
            assert_eq!(lines.line(u32::try_from(byte).unwrap()), expected[byte], "byte {byte}");
        }
    }
}
