//! JSON as this crate writes it.

use serde::Serialize;

use crate::clean::is_harmful;

/// The last character of ASCII.
const DELETE: u8 = 0x7f;

/// A value as indented JSON with a newline at its end.
///
/// JSON allows most control characters of Unicode as they are, but a terminal obeys some of them. Outside its strings JSON is plain
/// ASCII, so each such character can be replaced by its escape without looking where it stands.
pub(crate) fn json<T: Serialize>(value: &T) -> String {
    let mut plain =
        serde_json::to_string_pretty(value).expect("structs and lists with text for keys always serialise");
    // Of ASCII only one such character is left: JSON escapes the others.
    if plain.bytes().all(|byte| byte < DELETE) {
        plain.push('\n');
        return plain;
    }
    let mut text = String::with_capacity(plain.len() + 1);
    for c in plain.chars() {
        if c != '\n' && is_harmful(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(c);
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_reads_back_the_same() {
        let text = "a\u{1b}[31m\u{9b}0m\u{7f}\u{202e}\u{e0041}é\n";
        let written = json(&[text]);
        assert_eq!(written, "[\n  \"a\\u001b[31m\\u009b0m\\u007f\\u202e\\udb40\\udc41é\\n\"\n]\n");
        assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap(), [text]);
    }
}
