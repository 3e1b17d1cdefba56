//! The paths that a piece of code names, with grouped imports written out: `use std::{fs, io}` names `std::fs` as surely as the
//! long form does, and a check that looked for the words side by side would be blind to the usual spelling.

use super::strip::is_word;

/// A path as far as it had been named at one line: `std::fs::read` is seen as `std`, then `std::fs`, then all of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) line: usize,
    pub(super) path: Vec<String>,
}

/// Every path and its beginnings, in the order of the code. Comments and literals must have been blanked.
pub(super) fn paths(code: &str) -> Vec<Named> {
    let mut named = Vec::new();
    // What stands before the group that each open brace began; nothing for a brace that is a block.
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut joined = false;
    for (line, token) in tokens(code) {
        match token {
            Token::Word(word) => {
                if !joined {
                    path = groups.last().cloned().unwrap_or_default();
                }
                path.push(word.to_owned());
                named.push(Named { line, path: path.clone() });
                joined = false;
            }
            Token::Join { begins } => {
                if begins {
                    path.clear();
                }
                joined = true;
            }
            Token::Mark(mark) => {
                match mark {
                    '{' => groups.push(if joined { path.clone() } else { Vec::new() }),
                    '}' => drop(groups.pop()),
                    _ => {}
                }
                path.clear();
                joined = false;
            }
        }
    }
    named
}

enum Token<'a> {
    Word(&'a str),
    /// `::`, which begins a path if a space stands before it, as in `use ::std::fs`.
    Join {
        begins: bool,
    },
    Mark(char),
}

fn tokens(code: &str) -> impl Iterator<Item = (usize, Token<'_>)> {
    code.lines()
        .enumerate()
        .flat_map(|(index, line)| tokens_of_line(line).map(move |token| (index + 1, token)))
}

fn tokens_of_line(line: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let begins = rest.len() == line.len() || rest.starts_with(char::is_whitespace);
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let (token, left) = if is_word(first) {
            let (word, left) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            (Token::Word(word), left)
        } else if let Some(left) = rest.strip_prefix("::") {
            (Token::Join { begins }, left)
        } else {
            (Token::Mark(first), rest.get(first.len_utf8()..).unwrap_or(""))
        };
        rest = left;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, expected: &[(usize, &str)]) {
        let found: Vec<(usize, String)> =
            paths(code).into_iter().map(|named| (named.line, named.path.join("::"))).collect();
        assert_eq!(found, expected.iter().map(|&(line, path)| (line, path.to_owned())).collect::<Vec<_>>());
    }

    #[test]
    fn a_path_is_seen_with_its_beginnings() {
        check("std::fs::read(x)", &[(1, "std"), (1, "std::fs"), (1, "std::fs::read"), (1, "x")]);
    }

    #[test]
    fn grouped_imports_are_written_out() {
        check(
            "use std::{\n  fs,\n  io::{self, Read},\n};\nfn",
            &[
                (1, "use"),
                (1, "std"),
                (2, "std::fs"),
                (3, "std::io"),
                (3, "std::io::self"),
                (3, "std::io::Read"),
                (5, "fn"),
            ],
        );
    }

    #[test]
    fn a_block_is_no_group_and_a_leading_join_begins_a_path() {
        check("mod x { ::std::fs }", &[(1, "mod"), (1, "x"), (1, "std"), (1, "std::fs")]);
        check("a::{b} c", &[(1, "a"), (1, "a::b"), (1, "c")]);
        check("use ::std::fs", &[(1, "use"), (1, "std"), (1, "std::fs")]);
    }
}
