//! The only file that names the parser's entry points.

use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

/// A file after parsing: what could be read of it, and what could not.
pub(super) struct Read(Parsed<Mod>);

/// Parses a file. The parser goes on behind what it does not understand.
pub(super) fn parse(text: &str) -> Read {
    Read(parse_unchecked(text, ParseOptions::from(Mode::Module)))
}

impl Read {
    /// The statements.
    pub(super) fn body(&self) -> &[Stmt] {
        match self.0.syntax() {
            Mod::Module(module) => &module.body,
            Mod::Expression(_) => &[],
        }
    }

    /// The first thing that could not be read, and where.
    pub(super) fn trouble(&self) -> Option<(usize, String)> {
        let first = self.0.errors().first()?;
        Some((first.location.start().to_usize(), first.error.to_string()))
    }
}
