//! Words that hint at what something is where nothing else says so: the table `lexicon`.

use serde::Deserialize;

use super::Words;

/// Words that hint at what something is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Lexicon {
    /// Names of methods that so many things have that one class of the program having it says nothing.
    pub(crate) common_methods: Words,
    /// Methods that make the identity of an object: asking for the object by it reads nothing.
    pub(crate) identities: Words,
    /// What loggers call their levels.
    pub(crate) log_levels: Vec<String>,
    /// Variables that take the result of a call which only says how it went, in small letters; those that end in `err` are known.
    pub(crate) outcomes: Words,
}
