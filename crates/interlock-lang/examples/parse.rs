//! Parses the files that a list names, one on each line, on one thread, each with the parser that a scan reads it with, and does nothing
//! with them: what `cargo xtask bench scan` measures a whole scan by, on the files that the scan reads. Prints how many files, bytes and
//! lines there were, and the parser that has read most of them.
#![expect(clippy::print_stdout, reason = "this is a program, and what it prints is what it is for")]
#![expect(clippy::disallowed_methods, reason = "this is a program, and the list is its argument")]

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    thread,
};

use oxc_allocator::Allocator;
use oxc_span::SourceType;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

/// As much as a scan gives to its threads.
const STACK: usize = 128 << 20;

/// What was read.
#[derive(Default)]
struct Read {
    files: usize,
    bytes: usize,
    lines: usize,
    /// So that nothing is left out because nobody asks for it.
    nodes: usize,
    /// The bytes that each parser has read.
    by: BTreeMap<&'static str, usize>,
}

fn main() -> io::Result<()> {
    let list = env::args_os().nth(1).map(PathBuf::from).ok_or(io::ErrorKind::InvalidInput)?;
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || parse_all(&list))?;
    let Read { files, bytes, lines, nodes, by } = worker.join().map_err(|_| io::ErrorKind::Other)??;
    let most = by.into_iter().max_by_key(|(_, bytes)| *bytes).map_or("none", |(name, _)| name);
    println!("{files} {bytes} {lines} {nodes} {most}");
    Ok(())
}

fn parse_all(list: &Path) -> io::Result<Read> {
    let mut read = Read::default();
    let mut allocator = Allocator::default();
    let mut go = tree_sitter::Parser::new();
    go.set_language(&tree_sitter_go::LANGUAGE.into()).map_err(io::Error::other)?;
    for path in fs::read_to_string(list)?.lines() {
        // What is no text is left to a scan, which says so.
        let Ok(text) = fs::read_to_string(path) else { continue };
        let (parser, nodes) = match Path::new(path).extension().and_then(|ending| ending.to_str()) {
            Some("py" | "pyi") => {
                let parsed = parse_unchecked(&text, ParseOptions::from(Mode::Module));
                ("ruff_python_parser", parsed.tokens().len())
            }
            Some("go") => {
                let parsed = go.parse(&text, None);
                ("tree-sitter-go", parsed.map_or(0, |tree| tree.root_node().descendant_count()))
            }
            _ => {
                let Ok(source_type) = SourceType::from_path(path) else { continue };
                let parsed = oxc_parser::Parser::new(&allocator, &text, source_type).parse();
                let nodes = parsed.program.body.len();
                allocator.reset();
                ("oxc", nodes)
            }
        };
        read.files += 1;
        read.bytes += text.len();
        read.lines += text.lines().count();
        read.nodes += nodes;
        *read.by.entry(parser).or_default() += text.len();
    }
    Ok(read)
}
