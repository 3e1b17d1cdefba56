//! Reads a diff without context: which lines of the new files it touches.

use std::{
    collections::HashMap,
    io::{self, BufRead, Read},
};

/// The longest line that is looked at; more of it is passed over. Names and numbers are far shorter.
const LONGEST: u64 = 64 << 10;

/// The stretches of lines that each file has new, first and last. Where lines are only gone, the lines around the gap count: what they
/// did is no longer done.
pub(super) fn read(diff: &mut dyn BufRead) -> io::Result<HashMap<String, Vec<(u32, u32)>>> {
    let mut changed: HashMap<String, Vec<(u32, u32)>> = HashMap::new();
    let mut file = None;
    let mut line = Vec::new();
    // Lines of a hunk are counted, not looked at: their text may look like anything.
    let mut inside: u64 = 0;
    while next(diff, &mut line)? {
        if inside > 0 {
            inside -= u64::from(line.starts_with(b"+") || line.starts_with(b"-"));
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            file = name_of(name);
        } else if let Some(hunk) = line.strip_prefix(b"@@ -").and_then(hunk) {
            inside = u64::from(hunk.old) + u64::from(hunk.new);
            if let Some(file) = &file {
                let stretch = match hunk.new {
                    0 => (hunk.start, hunk.start.saturating_add(1)),
                    new => (hunk.start, hunk.start.saturating_add(new - 1)),
                };
                changed.entry(file.clone()).or_default().push(stretch);
            }
        }
    }
    Ok(changed)
}

/// Reads a line, its end cut off.
fn next(diff: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    Read::take(&mut *diff, LONGEST).read_until(b'\n', line)?;
    if line.is_empty() {
        return Ok(false);
    }
    if !line.ends_with(b"\n") {
        pass_over(diff)?;
    }
    while matches!(line.last(), Some(b'\n')) {
        line.pop();
    }
    Ok(true)
}

fn pass_over(diff: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = diff.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        diff.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

struct Hunk {
    old: u32,
    start: u32,
    new: u32,
}

/// `12,3 +14,2 @@ …`, behind its opening.
fn hunk(text: &[u8]) -> Option<Hunk> {
    let text = String::from_utf8_lossy(text);
    let (old, rest) = text.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let pair = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    let ((_, old), (start, new)): ((u32, u32), (u32, u32)) = (pair(old)?, pair(new)?);
    Some(Hunk { old, start, new })
}

/// The name of a new file: without `b/`, its quotes taken off. `None` for a file that is gone, or whose name is no UTF-8.
fn name_of(text: &[u8]) -> Option<String> {
    // Behind a name with spaces in it git puts a tab.
    let text = text.strip_suffix(b"\t").unwrap_or(text);
    let name = match text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) {
        Some(quoted) => unquoted(quoted),
        None => text.to_vec(),
    };
    String::from_utf8(name.strip_prefix(b"b/")?.to_vec()).ok()
}

/// What git's quoting stands for.
fn unquoted(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b'v') => bytes.push(11),
            Some(b'f') => bytes.push(12),
            Some(first @ b'0'..=b'7') => {
                let digits = [Some(first), rest.next(), rest.next()];
                let value =
                    digits.iter().flatten().fold(0u32, |value, digit| value * 8 + u32::from(digit & 7));
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(diff: &str, expected: &[(&str, &[(u32, u32)])]) {
        let read = read(&mut diff.as_bytes()).unwrap();
        let expected = expected.iter().map(|(file, lines)| ((*file).to_owned(), lines.to_vec()));
        assert_eq!(read, expected.collect::<HashMap<_, _>>());
    }

    #[test]
    fn each_hunk_names_the_lines_of_the_new_file() {
        check(
            "diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1 +1,2 @@ f\n-a\n+b\n+c\n@@ -9,0 +11 @@\n+d\n",
            &[("x.ts", &[(1, 2), (11, 11)])],
        );
    }

    #[test]
    fn lines_that_are_gone_touch_their_neighbours() {
        check("--- a/x.ts\n+++ b/x.ts\n@@ -5,2 +4,0 @@\n-lock\n-more\n", &[("x.ts", &[(4, 5)])]);
    }

    #[test]
    fn a_line_that_looks_like_a_header_is_only_a_line() {
        check(
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-@@ -1 +1 @@\n+++ b/y\n+@@ -7 +7 @@\n\\ No newline at end of file\n",
            &[("x", &[(1, 2)])],
        );
    }

    #[test]
    fn names_with_odd_characters_are_read_as_git_quotes_them() {
        check("+++ b/a b.ts\t\n@@ -0,0 +1 @@\n+x\n", &[("a b.ts", &[(1, 1)])]);
        check("+++ \"b/\\303\\244\\\"\\n.ts\"\n@@ -0,0 +1 @@\n+x\n", &[("ä\"\n.ts", &[(1, 1)])]);
        check("+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", &[]);
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let long = "x".repeat(200_000);
        check(
            &format!("+++ b/x\n@@ -0,0 +1 @@\n+{long}\n+++ b/y\n@@ -0,0 +3 @@\n+x\n"),
            &[("x", &[(1, 1)]), ("y", &[(3, 3)])],
        );
    }
}
