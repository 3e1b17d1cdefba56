//! Names that are shared instead of copied, and the lines of a file.

use std::cell::RefCell;

use interlock_model::{Span, ir::Name};
use oxc_str::{Ident, IdentBuildHasher, IdentHashMap};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::lines::Lines;

/// As many globals as most files have.
const GLOBALS: usize = 14;

/// The names of a file.
#[derive(Debug)]
pub(super) struct Names<'a> {
    path: String,
    /// The identifiers, which know their hashes.
    identifiers: IdentHashMap<'a, Name>,
    /// The texts: they may be long, and are found by all of their bytes.
    texts: FxHashMap<&'a str, Name>,
    globals: FxHashMap<&'a str, Name>,
    /// Where names are put together.
    buffer: String,
    /// The globals whose members are no state: imported libraries, enums.
    fixed: FxHashSet<Name>,
    lines: Lines,
}

impl<'a> Names<'a> {
    pub(super) fn new(path: &str, text: &str) -> Self {
        // About as many as there are in most files, so that the tables seldom grow.
        let (identifiers, texts) = (text.len() / 32, text.len() / 64);
        Self {
            path: path.to_owned(),
            identifiers: IdentHashMap::with_capacity_and_hasher(identifiers, IdentBuildHasher),
            texts: FxHashMap::with_capacity_and_hasher(texts, FxBuildHasher),
            globals: FxHashMap::with_capacity_and_hasher(GLOBALS, FxBuildHasher),
            buffer: String::new(),
            fixed: FxHashSet::with_capacity_and_hasher(GLOBALS / 2, FxBuildHasher),
            lines: Lines::new(text),
        }
    }

    /// The name of an identifier.
    pub(super) fn of(&mut self, identifier: Ident<'a>) -> Name {
        self.identifiers.entry(identifier).or_insert_with(|| shared(identifier.as_str())).clone()
    }

    /// A text as a name.
    pub(super) fn get(&mut self, text: &'a str) -> Name {
        self.texts.entry(text).or_insert_with(|| shared(text)).clone()
    }

    /// The name of an identifier that was met before, or a new one.
    pub(super) fn met(&self, identifier: &str) -> Name {
        self.identifiers.get(identifier).cloned().unwrap_or_else(|| shared(identifier))
    }

    /// The name of a global of this file.
    pub(super) fn global(&mut self, name: &'a str) -> Name {
        if let Some(known) = self.globals.get(name) {
            return known.clone();
        }
        let made = self.made_global(name);
        self.globals.insert(name, made.clone());
        made
    }

    /// The same for a name that does not stand in the source.
    pub(super) fn made_global(&mut self, name: &str) -> Name {
        join(&mut self.buffer, &[&self.path, "::", name])
    }

    /// A name made of parts.
    pub(super) fn joined(&mut self, parts: &[&str]) -> Name {
        join(&mut self.buffer, parts)
    }

    pub(super) fn fix(&mut self, name: Name) {
        self.fixed.insert(name);
    }

    pub(super) fn is_fixed(&self, name: &str) -> bool {
        self.fixed.contains(name)
    }

    /// A stretch of bytes with its lines.
    pub(super) fn span(&mut self, start: usize, end: usize) -> Span {
        let [start, end] = [start, end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        let (line, end_line) = (self.line(start), self.line(end.saturating_sub(1).max(start)));
        Span { start, end, line, end_line, ..Span::default() }
    }

    /// The line of a byte, counted from 1.
    pub(super) fn line(&mut self, byte: u32) -> u32 {
        self.lines.line(byte)
    }
}

/// Longer texts are hardly ever written twice, and of more than so many no more are remembered.
const LONGEST: usize = 32;
const MOST: usize = 1 << 16;

thread_local! {
    /// The names of the files that were lowered on this thread. Most files use the same words, and what is one in memory is looked at
    /// much faster when all files are put together.
    static SHARED: RefCell<FxHashSet<Name>> = RefCell::default();
}

/// A name that is shared with other files.
fn shared(text: &str) -> Name {
    if text.len() > LONGEST {
        return text.into();
    }
    SHARED.with_borrow_mut(|names| match names.get(text) {
        Some(known) => known.clone(),
        None => {
            let name = Name::from(text);
            if names.len() < MOST {
                names.insert(name.clone());
            }
            name
        }
    })
}

fn join(buffer: &mut String, parts: &[&str]) -> Name {
    buffer.clear();
    buffer.extend(parts.iter().copied());
    (&**buffer).into()
}
