//! The only folder that names the parser: from text to the [syntax](super::ast) that lowering looks at. `declarations.rs`, `expressions.rs`
//! and `statements.rs` each read what they are called after.
//!
//! The parser goes on behind what it does not understand and does not recurse; what nests deeper than anybody writes is left out here, so
//! that nothing behind has to count.

mod declarations;
mod expressions;
mod statements;

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::ast::{File, Name, Place};

/// So deep nobody writes.
const DEEPEST: u32 = 150;
/// Bigger files are generated.
const BIGGEST: usize = 4 << 20;
/// How often the parser may report progress before it is stopped; it does so every hundred steps or so.
const MOST_STEPS: usize = 400_000;

/// A file after parsing: what could be read of it, and what could not.
#[derive(Debug, Default)]
pub(in crate::go) struct Read<'a> {
    pub(in crate::go) file: File<'a>,
    /// Where something could not be read, and why.
    pub(in crate::go) trouble: Vec<(u32, String)>,
}

/// Parses a file.
pub(in crate::go) fn parse(text: &str) -> Read<'_> {
    let mut reader = Reader { text, trouble: vec![] };
    if text.len() > BIGGEST {
        reader.trouble.push((0, "larger than anything that is written by hand; left out".to_owned()));
        return Read { file: File::default(), trouble: reader.trouble };
    }
    let Some(tree) = tree(text) else {
        reader.trouble.push((0, "cannot be read in reasonable time; left out".to_owned()));
        return Read { file: File::default(), trouble: reader.trouble };
    };
    let root = tree.root_node();
    if root.has_error() {
        let at = first_error(root);
        reader.trouble.push((at, "cannot be read here; what is left out is around it".to_owned()));
    }
    let file = reader.file(root);
    Read { file, trouble: reader.trouble }
}

fn tree(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_go::LANGUAGE.into()).ok()?;
    let mut steps = 0;
    let mut stop = |_: &tree_sitter::ParseState| {
        steps += 1;
        if steps > MOST_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut stop);
    let bytes = text.as_bytes();
    // The grammar wants an end of the last line, which a file need not have.
    let missing = if text.ends_with('\n') { &b""[..] } else { b"\n" };
    let chunk = |at: usize| match bytes.get(at..) {
        Some([]) | None => missing.get(at.saturating_sub(bytes.len())..).unwrap_or_default(),
        Some(rest) => rest,
    };
    parser.parse_with_options(&mut |at, _| chunk(at), None, Some(options))
}

/// Where the first thing stands that could not be read, found without recursion.
fn first_error(root: Node<'_>) -> u32 {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return offset(node.start_byte());
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return 0;
            }
        }
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn place(node: Node<'_>) -> Place {
    (offset(node.start_byte()), offset(node.end_byte()))
}

fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

fn fields<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(name, &mut cursor).filter(Node::is_named).collect()
}

struct Reader<'a> {
    text: &'a str,
    trouble: Vec<(u32, String)>,
}

impl<'a> Reader<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn name(&self, node: Node<'_>) -> Name<'a> {
        Name { at: place(node), text: self.text(node) }
    }

    /// Whether something may nest one deeper; what may not is left out.
    fn too_deep(&mut self, node: Node<'_>, depth: u32) -> bool {
        let deep = depth > DEEPEST;
        if deep && self.trouble.len() < 32 {
            self.trouble.push((offset(node.start_byte()), "nested too deep; left out".to_owned()));
        }
        deep
    }
}
