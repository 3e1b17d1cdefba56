//! The texts that were parsed before. A tree says the same in many places, and parsing is most of what a statement costs.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use sqlparser::ast::Statement as Tree;

use super::parse::{Text, parse};
use crate::knowledge::format::Engine;

/// How many texts are remembered at once. A tree that says more than this takes more room than it saves time.
const MOST: usize = 512;

/// What texts came to, as long as there are not too many of them.
#[derive(Debug, Default)]
pub struct Seen(Mutex<FxHashMap<(Option<Engine>, String), Parsed>>);

/// The statements of a text; none where no dialect can read it.
type Parsed = Option<Arc<Vec<Tree>>>;

impl Seen {
    /// The statements of a text, parsed once.
    pub(super) fn parsed(&self, text: &Text, engine: Option<Engine>) -> Parsed {
        let key = (engine, text.sql().to_owned());
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let found = parse(text, engine).map(Arc::new);
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MOST {
            seen.clear();
        }
        seen.insert(key, found.clone());
        found
    }
}
