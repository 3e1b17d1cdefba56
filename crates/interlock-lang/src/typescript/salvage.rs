//! What can still be read of a damaged file.
//!
//! A second parser, one that goes on after an error, says where the damage is. The statements around it are blanked out, byte for byte,
//! so that everything else stays where it was and the main parser can read it.

use std::ops::{ControlFlow, Range};

use tree_sitter::{Language, Node, ParseOptions, Parser, Tree};
use tree_sitter_typescript::{LANGUAGE_TSX, LANGUAGE_TYPESCRIPT};

use super::depth::blank;

/// Bigger files are not worth the time.
const BIGGEST: usize = 1 << 20;
/// How often the second parser may report progress before it is stopped; it does so every hundred steps or so.
const MOST_STEPS: usize = 200_000;
/// How many stretches are blanked out before the file is given up.
const MOST_ROUNDS: usize = 24;

/// A text whose damage is blanked out.
#[derive(Debug)]
pub(crate) struct Salvaged {
    /// As long as the original, with the same lines.
    pub(crate) text: String,
    /// What was blanked out.
    pub(crate) lost: Vec<Range<usize>>,
}

/// Blanks out what is damaged. `accepts` says whether the main parser reads a text, and if not, at which byte it gave up. `None` if
/// nothing helps.
pub(crate) fn salvage(
    path: &str,
    text: &str,
    mut accepts: impl FnMut(&str) -> Result<(), usize>,
) -> Option<Salvaged> {
    if text.len() > BIGGEST {
        return None;
    }
    let tree = parse(path, text)?;
    let mut bytes = text.as_bytes().to_vec();
    let mut lost = vec![];
    for range in damaged(&tree) {
        take(&mut bytes, range, &mut lost);
    }
    for _ in 0..MOST_ROUNDS {
        let kept = String::from_utf8(bytes.clone()).ok()?;
        let Err(at) = accepts(&kept) else { return Some(Salvaged { text: kept, lost }) };
        // What the second parser lets pass and the main one does not: the innermost statement around it goes, then ever larger ones.
        let range = statements_around(&tree, at).into_iter().find(|range| {
            bytes.get(range.clone()).is_some_and(|bytes| bytes.iter().any(|byte| !byte.is_ascii_whitespace()))
        })?;
        take(&mut bytes, range, &mut lost);
    }
    None
}

fn take(bytes: &mut [u8], range: Range<usize>, lost: &mut Vec<Range<usize>>) {
    blank(bytes, range.clone());
    lost.retain(|known| !(range.start <= known.start && known.end <= range.end));
    lost.push(range);
    lost.sort_unstable_by_key(|range| range.start);
}

fn parse(path: &str, text: &str) -> Option<Tree> {
    let typed = [".ts", ".mts", ".cts"].iter().any(|ending| path.ends_with(ending));
    let language: Language = if typed { LANGUAGE_TYPESCRIPT.into() } else { LANGUAGE_TSX.into() };
    let mut parser = Parser::new();
    parser.set_language(&language).ok()?;
    let mut steps = 0;
    let mut go_on = |_: &_| {
        steps += 1;
        if steps > MOST_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut go_on);
    parser.parse_with_options(&mut |at, _| text.as_bytes().get(at..).unwrap_or_default(), None, Some(options))
}

/// The statements with an error in them, innermost first, none inside another.
fn damaged(tree: &Tree) -> Vec<Range<usize>> {
    let mut found = vec![];
    let mut pending = vec![tree.root_node()];
    while let Some(node) = pending.pop() {
        if !node.has_error() {
            continue;
        }
        if node.is_error() || node.is_missing() {
            found.push(statement_of(node));
            continue;
        }
        let mut cursor = node.walk();
        pending.extend(node.children(&mut cursor));
    }
    found
}

/// What is blanked out for a node: itself where it stands among statements, else the statement or member around it.
fn statement_of(node: Node<'_>) -> Range<usize> {
    let mut node = node;
    // Trees are as deep as the text nests, and that is limited.
    while let Some(parent) = node.parent() {
        if holds_statements(parent) {
            break;
        }
        node = parent;
    }
    node.byte_range()
}

fn holds_statements(node: Node<'_>) -> bool {
    matches!(node.kind(), "program" | "statement_block" | "class_body" | "switch_body" | "ERROR")
}

/// The statements around a byte, innermost first.
fn statements_around(tree: &Tree, at: usize) -> Vec<Range<usize>> {
    let root = tree.root_node();
    let mut around = vec![];
    let mut node = root.descendant_for_byte_range(at, at + 1);
    while let Some(inner) = node {
        if inner.parent().is_some_and(holds_statements) {
            around.push(inner.byte_range());
        }
        node = inner.parent();
    }
    around
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use oxc_allocator::Allocator;

    use super::*;
    use crate::typescript::parse;

    fn check(text: &str, expect: Expect) {
        let salvaged = salvage("a.ts", text, |text| {
            let allocator = Allocator::default();
            let parsed = parse::parse(&allocator, "a.ts", text);
            match parsed.trouble {
                Some((at, _)) if !parsed.usable => Err(at as usize),
                _ => Ok(()),
            }
        });
        let Some(salvaged) = salvaged else { return expect.assert_eq("nothing\n") };
        assert_eq!(salvaged.text.len(), text.len());
        assert_eq!(salvaged.text.lines().count(), text.lines().count());
        let lines = salvaged.text.lines().map(|line| format!("|{}\n", line.trim_end()));
        expect.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn the_statement_around_the_damage_is_lost_and_the_rest_is_kept() {
        check(
            "import a from 'a';\nfunction f() {\n  one();\n  two(;\n  three();\n}\nclass C {\n  ok() { return 1 }\n}\n",
            expect![[r#"
                |import a from 'a';
                |function f() {
                |  one();
                |
                |  three();
                |}
                |class C {
                |  ok() { return 1 }
                |}
            "#]],
        );
    }

    #[test]
    fn a_file_that_was_cut_off_keeps_its_beginning() {
        check(
            "const a = 1;\nfunction f() { return a; }\nfunction g() {\n  if (a) {\n    f(",
            expect![[r#"
                |const a = 1;
                |function f() { return a; }
                |
                |
                |
            "#]],
        );
    }

    #[test]
    fn what_is_no_source_at_all_leaves_nothing() {
        check(
            "<<<<<<< HEAD\n=======\n>>>>>>> theirs\n",
            expect![[r#"
                |
                |
                |
            "#]],
        );
        check(
            "const a = 1;\n<<<<<<< HEAD\nconst b = 2;\n=======\nconst b = 3;\n>>>>>>> theirs\nconst c = 4;\n",
            expect![[r#"
                |const a = 1;
                |
                |
                |
                |
                |
                |           ;
            "#]],
        );
    }
}
