//! A change as a unified diff, as `git apply` and `patch` take it.

use similar::TextDiff;

use super::Fix;

impl Fix {
    /// The change as a unified diff. It holds the source as it is; who shows it on a terminal must make it harmless.
    #[must_use]
    pub fn diff(&self) -> String {
        let diff = TextDiff::from_lines(&self.before, &self.after);
        let [old, new] = ["a/", "b/"].map(|side| quoted(&format!("{side}{}", self.file)));
        diff.unified_diff().context_radius(3).header(&old, &new).to_string()
    }
}

/// A path in a header. One with characters that would end the line or the name is quoted as git does it.
fn quoted(path: &str) -> String {
    let odd = |c: char| c.is_control() || c == '"' || c == '\\';
    if !path.contains(odd) {
        return path.to_owned();
    }
    let mut out = String::from('"');
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_leave_its_header() {
        assert_eq!(quoted("a/src/b c.ts"), "a/src/b c.ts");
        assert_eq!(quoted("a/x\n+++ b/y\"\u{1b}"), "\"a/x\\n+++ b/y\\\"\\033\"");
    }
}
