//! Commands that a reader may copy into a shell.

/// The command that shows it again, for a shell.
pub(crate) fn replay(file: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:@%,".contains(c);
    if !file.is_empty() && !file.starts_with('-') && file.chars().all(plain) {
        format!("interlock prove --replay {file}")
    } else {
        format!("interlock prove --replay={}", quoted(file))
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_a_shell_would_take_apart_is_quoted() {
        assert_eq!(replay("a/b-1.json"), "interlock prove --replay a/b-1.json");
        assert_eq!(replay("it's; rm x"), "interlock prove --replay='it'\\''s; rm x'");
        assert_eq!(replay("--help"), "interlock prove --replay='--help'");
        assert_eq!(replay(""), "interlock prove --replay=''");
    }
}
