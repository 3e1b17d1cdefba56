//! Paths as the standard wants them: relative references.

/// A relative path with forward slashes as a relative reference (RFC 3986). Whatever is no plain character of a path is
/// percent-encoded, the colon too: in the first segment it would end a scheme.
pub(super) fn relative(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    // A leading slash would make it absolute, two would name a host.
    for byte in path.trim_start_matches('/').bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'+' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_characters_of_a_path_stand_for_themselves() {
        assert_eq!(relative("src/a-b_c.d/~e.ts"), "src/a-b_c.d/~e.ts");
        assert_eq!(relative("javascript:x/a b#c?d%e"), "javascript%3Ax/a%20b%23c%3Fd%25e");
        assert_eq!(relative("//host/é\n"), "host/%C3%A9%0A");
    }
}
