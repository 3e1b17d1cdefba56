//! What the language itself offers, and small libraries that are like it: the table `builtin`.

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::{Exports, Words};

/// What the language offers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Builtins {
    /// Maps, sets and lists, by library and export.
    pub(crate) collection: Exports<Collection>,
    /// The methods of collections.
    pub(crate) method: FxHashMap<String, Method>,
    /// Methods that text has as well, so that an unknown receiver is as likely no state at all.
    pub(crate) also_of_text: Words,
    /// Methods that only compute, and whose result is named like what they are called on.
    pub(crate) renames: Words,
    /// Other methods that only compute.
    pub(crate) computes: Words,
    /// Of those, the ones that keep all that a time or a random text says, in another form.
    pub(crate) reshapes: Words,
    /// Methods that look up a member by its name, which is their first argument: `request.GetString("path", "")`.
    pub(crate) looks_up: Words,
    /// Methods without arguments that say what something is called, and the same each time: `session.SessionID()`.
    pub(crate) getters: Words,
    /// Functions and methods that fill what they are handed the address of: `json.Unmarshal(data, &state.items)`.
    pub(crate) fills: Words,
    /// Methods that put what they are handed into what they are called on, or into what that writes to: `text.WriteString(line)`.
    pub(crate) gathers: Words,
    /// Functions that make something which writes to what they are handed: `json.NewEncoder(&text)`.
    pub(crate) writers: Words,
    /// Types whose values do nothing any more for what they guard once they are copied, each with its library.
    pub(crate) uncopied: Words,
    /// Members that functions have.
    pub(crate) of_function: Words,
    /// Functions, by library and name, that make a name or work on a collection.
    pub(crate) function: Exports<Makes>,
    /// Types whose values have no state.
    pub(crate) plain_types: Words,
    /// Functions that make values without a state.
    pub(crate) plain: Words,
    /// Functions whose values have a state of which nothing is known.
    pub(crate) foreign: Words,
    /// Functions that make lists.
    pub(crate) lists: Words,
    /// Functions that give the entries of their first argument again.
    pub(crate) same_entries: Words,
    /// Globals that differ from process to process.
    pub(crate) process_ids: Words,
    /// The first names of functions that only compute.
    pub(crate) pure: Words,
    /// Functions that begin so and do not.
    pub(crate) impure: Words,
    /// Libraries whose functions only compute.
    pub(crate) pure_libraries: Words,
}

/// A map, set or list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Collection {
    /// Keys lead to entries.
    Map,
    /// Entries are their own keys.
    Set,
    /// Entries have an order.
    List,
    /// A map that lets go of entries when nobody holds their key.
    Weak,
    /// A map that holds so many at most, or for so long.
    Limited,
}

/// A method of a collection.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Method {
    /// What it does to the collection.
    pub(crate) does: Does,
    /// What it gives back.
    pub(crate) gives: Option<Gives>,
    /// Whether the function that it is handed gets an entry first.
    #[serde(default)]
    pub(crate) hands: bool,
}

/// What a method of a collection does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Does {
    /// Looks up the entry of a key.
    Get,
    /// Asks whether there is an entry of a key.
    Has,
    /// Asks whether something is among the entries.
    Contains,
    /// Sets the entry of a key.
    Set,
    /// Adds an entry that is its own key.
    Add,
    /// Removes the entry of a key.
    Delete,
    /// Removes all.
    Clear,
    /// Adds at an end.
    Push,
    /// Takes from an end.
    Take,
    /// Puts in and takes out at a place that the caller has worked out.
    Splice,
    /// Puts all of it in another order or sets all of it.
    Rearrange,
    /// Looks at all of it.
    Look,
    /// Hands each entry to a function.
    Each,
}

/// What a method of a collection gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Gives {
    /// One of the entries.
    Entry,
    /// A list of some of the entries.
    Entries,
    /// The same, and those of the collections that it is handed.
    Joined,
    /// A list of what the function gives for each entry.
    Mapped,
    /// A list of pairs, of a name and an entry each.
    Pairs,
    /// A list of something else.
    List,
    /// The collection.
    Itself,
}

/// What a function of the language or of a small library makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Makes {
    /// A path of its arguments, a slash between them.
    Joined,
    /// The folder of a path.
    Parent,
    /// The folder for temporary files.
    TempDir,
    /// Something that has the function's own name: the home folder, the working folder.
    Itself,
    /// Something that nobody else has.
    Random,
    /// The time, or what it is handed.
    Time,
    /// Its first argument, or something that is named like it.
    First,
    /// What is in the others, put into its first argument.
    Assigned,
    /// The keys of its argument.
    Keys,
    /// The entries of its argument.
    Values,
    /// Keys and entries of its argument.
    Pairs,
    /// A list of what its argument goes over.
    Copied,
    /// Its argument, written out.
    Text,
}

impl Builtins {
    /// The collection that an export is.
    pub(crate) fn collection(&self, library: &str, export: &str) -> Option<Collection> {
        super::export(&self.collection, library, export).copied()
    }

    /// What a method of a collection does, by its name.
    pub(crate) fn does(&self, method: &str) -> Option<Does> {
        self.method.get(method).map(|method| method.does)
    }

    /// What a method of a collection gives back, by its name.
    pub(crate) fn gives(&self, method: &str) -> Option<Gives> {
        self.method.get(method)?.gives
    }

    /// Whether a method is called like one of a collection.
    pub(crate) fn is_method(&self, method: &str) -> bool {
        self.method.contains_key(method)
    }

    /// Whether a method hands an entry of the collection to the function that it is handed.
    pub(crate) fn hands_entry(&self, method: &str) -> bool {
        self.method.get(method).is_some_and(|method| method.hands)
    }

    /// A method that only computes something from its receiver; `true` where the result is named like the receiver.
    pub(crate) fn computes(&self, method: &str) -> Option<bool> {
        if self.renames.contains(method) {
            return Some(true);
        }
        self.computes.contains(method).then_some(false)
    }

    /// A method of a text whose result says what the text said, in another form.
    pub(crate) fn keeps_text(&self, method: &str) -> bool {
        self.renames.contains(method) || self.reshapes.contains(method)
    }

    /// What a function makes.
    pub(crate) fn makes(&self, library: &str, path: &str) -> Option<Makes> {
        super::export(&self.function, library, path).copied()
    }

    /// Whether a function hands back its first argument, or something that is named like it.
    pub(crate) fn passes_on(&self, library: &str, path: &str) -> bool {
        self.makes(library, path) == Some(Makes::First)
    }

    /// Whether a function of the language only computes something: nothing of it has to be kept but what it depends on.
    pub(crate) fn is_pure(&self, path: &str) -> bool {
        let root = path.split('.').next().unwrap_or(path);
        self.pure.contains(root) && !self.impure.contains(path)
    }

    /// Whether the functions of a library only compute.
    pub(crate) fn is_pure_library(&self, library: &str) -> bool {
        self.pure_libraries.contains(library)
    }
}
