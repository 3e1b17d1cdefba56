//! Restraint: which calls are not made, because they might harm something outside of the scratch folder.
//!
//! Every call is judged by its own arguments, at the moment when it is about to be sent; a sample says nothing of the next call. Nothing that
//! was learned from outside of the scratch folder is handed to a tool that may change or delete:
//!
//! ```text
//! list_files            → {"files": ["alpha.txt"]}     on an instance on which nothing was done yet
//! delete_file alpha.txt   withheld: not ours, unless the kernel refuses everything outside, and then the file is not outside
//! delete_file {scratch}/a.txt   made
//! ```
//!
//! Calls that somebody named by hand are that person's.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path},
    sync::{Mutex, PoisonError},
};

use interlock_model::{Confinement, Folders, PlannedCall};
use serde_json::{Value, json};

use super::{
    arguments::{Named, Role},
    listing::Listing,
    survey::names_tool,
};

/// What is kept of all that was learned and handed over.
const MOST: usize = 50_000;
/// Longer texts name nothing.
const LONGEST: usize = 1024;
/// How deep a value is looked at.
const DEEPEST: usize = 64;

/// What a server's isolation and its user allow to be called.
#[derive(Debug, Default)]
pub struct Restraint {
    isolation: Confinement,
    /// Whether tools may be called that look as if they could destroy something or reach out.
    allow_destructive: bool,
    known: Mutex<Known>,
}

/// Why a call is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// In words that fit behind "is not called:".
    pub why: String,
    /// Whether `--allow-destructive` would make it.
    pub needs_leave: bool,
}

impl Withheld {
    fn without_leave(why: String) -> Self {
        Self { why: format!("{why}; --allow-destructive calls it"), needs_leave: true }
    }

    fn not_ours(why: String) -> Self {
        Self { why, needs_leave: false }
    }
}

#[derive(Debug, Default)]
struct Known {
    tools: BTreeMap<String, Listing>,
    by_hand: Vec<PlannedCall>,
    /// Values that were there before anything was done.
    learned: BTreeSet<String>,
    /// Values that we came up with.
    ours: BTreeSet<String>,
}

impl Restraint {
    /// For a server that is isolated like this.
    #[must_use]
    pub fn new(isolation: Confinement, allow_destructive: bool) -> Self {
        Self { isolation, allow_destructive, known: Mutex::default() }
    }

    /// How the server is kept apart.
    #[must_use]
    pub fn isolation(&self) -> &Confinement {
        &self.isolation
    }

    /// Whether leave was given to destroy.
    #[must_use]
    pub fn allows_destructive(&self) -> bool {
        self.allow_destructive
    }

    /// Notes what the tools are.
    pub(crate) fn know_tools(&self, tools: &[Value]) {
        let listed = tools.iter().filter_map(Listing::read).map(|tool| (tool.name.clone(), tool));
        self.known().tools.extend(listed);
    }

    /// Notes calls that somebody named.
    pub(crate) fn know_by_hand<'c>(&self, calls: impl IntoIterator<Item = &'c PlannedCall>) {
        self.known().by_hand.extend(calls.into_iter().cloned());
    }

    /// Values that were handed to the server and are our own, for whoever looks for their traces.
    pub fn handed(&self) -> BTreeSet<String> {
        self.known().ours.clone()
    }

    /// Why a tool may not be called with these arguments; `scratch` is the instance's folder.
    pub(crate) fn withholds(&self, call: &PlannedCall, scratch: &Path) -> Option<Withheld> {
        let known = self.known();
        if known.by_hand.contains(call) {
            return None;
        }
        let unlisted = Listing { name: call.tool.clone(), ..Listing::default() };
        let tool = known.tools.get(&call.tool).unwrap_or(&unlisted);
        self.judge(tool, &call.arguments, scratch, &known)
    }

    /// The same for a call that is filled in, under the call that it was made of; what is handed over is noted.
    pub(crate) fn let_go(
        &self,
        planned: &PlannedCall,
        filled: &PlannedCall,
        scratch: &Path,
    ) -> Result<(), String> {
        let mut known = self.known();
        if !known.by_hand.contains(planned) {
            let unlisted = Listing { name: filled.tool.clone(), ..Listing::default() };
            let tool = known.tools.get(&filled.tool).unwrap_or(&unlisted);
            if let Some(withheld) = self.judge(tool, &filled.arguments, scratch, &known) {
                return Err(withheld.why);
            }
        }
        let mut handed = Vec::new();
        leaves(&filled.arguments, None, false, 0, &mut |leaf| handed.extend(leaf.text()));
        for text in handed {
            if known.ours.len() < MOST && !known.learned.contains(&text) {
                known.ours.insert(text);
            }
        }
        Ok(())
    }

    /// Whether a tool may change something.
    pub(crate) fn may_change(&self, tool: &str) -> bool {
        self.known().tools.get(tool).is_none_or(may_change)
    }

    /// The plainest call of a reader that a refusal names, if it has to be told nothing: `call get_guidelines first`.
    pub(crate) fn reader_named_in(&self, refusal: &str) -> Option<PlannedCall> {
        let known = self.known();
        let is_meant = |tool: &&Listing| {
            let needs = tool.input_schema.get("required").and_then(Value::as_array);
            !may_change(tool) && needs.is_none_or(Vec::is_empty) && names_tool(refusal, &tool.name)
        };
        known.tools.values().find(is_meant).map(|tool| PlannedCall::new(&tool.name, json!({})))
    }

    /// Takes in an answer of an instance. Until something was changed there all of it was there before; afterwards only what a list has
    /// besides what we came up with.
    pub(crate) fn learn(&self, answer: &Value, untouched: bool) {
        let mut known = self.known();
        let mut seen = Vec::new();
        leaves(answer, None, false, 0, &mut |leaf| {
            let is_name = match leaf.value {
                Value::Number(_) => leaf.names_a_thing(),
                _ => true,
            };
            if is_name && (untouched || leaf.in_list) {
                seen.extend(leaf.text());
            }
        });
        for text in seen {
            if known.learned.len() < MOST && !known.ours.contains(&text) {
                known.learned.insert(text);
            }
        }
    }

    fn judge(&self, tool: &Listing, arguments: &Value, scratch: &Path, known: &Known) -> Option<Withheld> {
        if !may_change(tool) {
            return None;
        }
        let harmless = self.isolation.is_complete();
        if !harmless && !self.allow_destructive {
            if let Some(word) = tool.reaches_out() {
                let why = format!("the word `{word}` sounds as if it reached beyond the server");
                return Some(Withheld::without_leave(why));
            }
            if tool.open_world == Some(true) && self.isolation.network != interlock_model::Refusal::Refused {
                let why = "it says of itself that it reaches beyond the server";
                return Some(Withheld::without_leave(why.into()));
            }
            let destroys = match tool.undoes() {
                Some(word) => Some(format!("the word `{word}` sounds destructive")),
                None if tool.destructive == Some(true) => {
                    Some("it says of itself that it may destroy".into())
                }
                None => None,
            };
            if let Some(why) = destroys.filter(|_| !self.stays_inside(arguments, scratch)) {
                return Some(Withheld::without_leave(why));
            }
        }
        // Whoever gives the command that puts a server back, and leave to destroy, says that all of it may be used.
        let is_put_back = self.isolation.folders == Folders::Elsewhere && self.allow_destructive;
        let mut why = None;
        leaves(arguments, None, false, 0, &mut |leaf| {
            if why.is_some() {
                return;
            }
            let Some(text) = leaf.text() else { return };
            let learned = known.learned.contains(&text) && !is_inside(&text, scratch);
            if self.is_outside(&text, scratch) {
                why = Some(format!("it would be told `{text}`, which is outside of the scratch folder"));
            } else if learned && !is_put_back && (is_url(&text) || (!harmless && leaf.may_name())) {
                why = Some(format!(
                    "it would be told `{text}`, which was there before and may not be in the scratch folder"
                ));
            }
        });
        why.map(Withheld::not_ours)
    }

    /// Whether all that it is told is a path, and the paths are ours.
    fn stays_inside(&self, arguments: &Value, scratch: &Path) -> bool {
        let (mut paths, mut others) = (0, 0);
        leaves(arguments, None, false, 0, &mut |leaf| {
            if !leaf.names_a_thing() {
                return;
            }
            let is_ours = leaf.text().is_some_and(|text| is_inside(&text, scratch));
            if leaf.is_path() && is_ours { paths += 1 } else { others += 1 }
        });
        paths > 0 && others == 0
    }

    /// Whether a text is a path that leads out of the scratch folder.
    fn is_outside(&self, text: &str, scratch: &Path) -> bool {
        let path = text.strip_prefix("file://").unwrap_or(text);
        if is_inside(path, scratch) || path.contains('\n') {
            return false;
        }
        let path = Path::new(path);
        if let Ok(below) = path.strip_prefix("~") {
            return self.isolation.folders != Folders::Moved || climbs(below);
        }
        if path.starts_with("{scratch}") {
            return true;
        }
        if path.is_absolute() {
            // A route or a pointer begins like a path. One that leads somewhere does so from a folder that is there.
            let mut from_root = path.components().skip(1);
            let first = from_root.next().map(|first| Path::new("/").join(first));
            return first.is_none_or(|first| first.exists());
        }
        climbs(path)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a tool may change or delete. That it says of itself that it only reads is not believed of one that is named like the opposite.
fn may_change(tool: &Listing) -> bool {
    !tool.looks_like_reader() || tool.undoes().is_some()
}

/// Whether a path is in the scratch folder, by its name there or as it is; a path that climbs is not.
fn is_inside(text: &str, scratch: &Path) -> bool {
    let path = Path::new(text);
    let below = path.strip_prefix("{scratch}").or_else(|_| path.strip_prefix(scratch));
    below.is_ok_and(|below| !climbs(below))
}

/// Whether a relative path leads above where it begins.
fn climbs(path: &Path) -> bool {
    let mut depth = 0_i32;
    path.components().any(|part| {
        depth += match part {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        depth < 0
    })
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
    })
}

/// A text or number in a value.
struct Leaf<'v> {
    value: &'v Value,
    named: Option<Named>,
    in_list: bool,
}

impl Leaf<'_> {
    fn text(&self) -> Option<String> {
        match self.value {
            Value::String(text) if !text.is_empty() && text.len() <= LONGEST => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn names_a_thing(&self) -> bool {
        self.named.as_ref().is_some_and(|named| named.role.names_a_thing())
    }

    fn is_path(&self) -> bool {
        self.named.as_ref().is_some_and(|named| matches!(named.role, Role::Path | Role::Folder | Role::Root))
    }

    /// Whether a value that was seen elsewhere would mean what was seen; of an amount or a word of prose it would be chance.
    fn may_name(&self) -> bool {
        let by_role = self.named.as_ref().is_none_or(|named| {
            named.role.names_a_thing() || matches!(named.role, Role::Url | Role::Email | Role::Version)
        });
        by_role
            || self
                .value
                .as_str()
                .is_some_and(|text| text.contains(['/', '.', '@', ':']) && !text.contains(' '))
    }
}

fn leaves(value: &Value, name: Option<&str>, in_list: bool, depth: usize, each: &mut dyn FnMut(Leaf<'_>)) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(entries) => entries.iter().for_each(|(name, value)| {
            leaves(value, Some(name), in_list, depth + 1, each);
        }),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, name, true, depth + 1, each)),
        Value::String(_) | Value::Number(_) => each(Leaf { value, named: name.map(Named::new), in_list }),
        Value::Bool(_) | Value::Null => {}
    }
}

#[cfg(test)]
mod tests;
