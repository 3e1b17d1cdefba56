//! The first line of a script: which program reads it.

/// The program that reads a script with such a beginning; `None` if it is no script.
pub(super) fn interpreter(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let mut words = lines.next()?.strip_prefix("#!")?.split_whitespace().map(str::to_owned);
    let program = words.next()?;
    if let Some(python) = lines.next().and_then(behind_a_shell) {
        return Some(python);
    }
    if program.rsplit('/').next() == Some("env") { program_of_env(words) } else { Some(program) }
}

/// The program that `env` starts: its options and the variables that it sets come before.
pub(super) fn program_of_env(words: impl Iterator<Item = String>) -> Option<String> {
    words.into_iter().find(|word| !word.starts_with('-') && !word.contains('='))
}

/// Where the kernel's limit for the first line is too short for the path of Python, installers write a shell script that is also
/// Python: to the shell, its second line is an `exec`.
fn behind_a_shell(line: &str) -> Option<String> {
    let rest = line.strip_prefix("'''exec' ")?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().map(str::to_owned),
        None => rest.split_whitespace().next().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(head: &[u8], expected: Option<&str>) {
        assert_eq!(interpreter(head).as_deref(), expected, "{}", String::from_utf8_lossy(head));
    }

    #[test]
    fn the_interpreter_is_named_by_the_first_line() {
        check(b"#!/usr/bin/python3 -u\nprint(1)\n", Some("/usr/bin/python3"));
        check(b"#! /bin/sh\n", Some("/bin/sh"));
        check(b"#!/usr/bin/env node\n", Some("node"));
        check(b"#!/usr/bin/env -S A=1 uv run --script\n", Some("uv"));
        check(b"#!/bin/sh\n'''exec' \"/a b/python\" \"$0\" \"$@\"\n' '''\nimport sys\n", Some("/a b/python"));
        check(b"#!/bin/sh\n'''exec' /long/python \"$0\" \"$@\"\n", Some("/long/python"));
    }

    #[test]
    fn what_is_no_script_names_none() {
        for head in
            [&b"\x7fELF\x02\x01\x01"[..], b"", b"#!", b"#!  \n", b"#!/usr/bin/env\n", b"\n#!/bin/sh\n"]
        {
            check(head, None);
        }
    }
}
