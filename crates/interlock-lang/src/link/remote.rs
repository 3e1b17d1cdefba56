//! Calls of a service's client of which nothing is known but how they are called: `api.getRule(id)`, then `api.updateRule(id, rule)`.
//!
//! Such a client asks, puts in place and adds under an address that the names make up: what the verb is about, and which one of it. What else it
//! does is as little known as before, so the call still counts as one that leads nowhere.

use interlock_model::ir::{AccessPath, Block, Change, Effect, FunctionId, Op, Term, Value};

use super::rewrite::{Rewriter, Standing};
use crate::{Arg, Shape, eval::bare, val::merge};

/// How a call that asks begins.
const ASKS: &[&str] = &["get", "retrieve", "fetch", "find", "list", "read", "show"];

/// How a call that puts something in place begins.
const PUTS: &[&str] = &["update", "put", "replace", "save", "edit", "modify", "set"];

/// How a call that adds something begins.
const ADDS: &[&str] = &["create", "add", "insert"];

/// What a call is handed first that says how long it may take, and nothing of what it is about.
const CONTEXTS: &[&str] = &["ctx", "context"];

/// What says nothing of what a call is about: `getAllRules`, `updateRuleById`.
const FILLERS: &[&str] = &["all", "one", "the", "single"];

/// How members are called that say which one is meant, at the end of their names and in small letters.
const NAMES: &[&str] = &["id", "key", "slug", "path", "range"];

/// What an object is called that speaks for a service, at the end of its name and in small letters.
const SPEAKERS: &[&str] = &["client", "api", "sdk"];

impl<'f> Rewriter<'_, 'f> {
    /// Writes the request that a call is by its name; `false` if it is none. `object` is whose function it is, as it is written.
    pub(super) fn remote(
        &mut self,
        standing: &Standing<'f>,
        object: &str,
        name: &str,
        out: &mut Block,
    ) -> bool {
        let waits = standing.awaited || self.eval.semantics.waits_unsaid;
        let arguments = match standing.site.arguments.split_first() {
            Some((first, rest)) if self.is_context(first) => rest,
            _ => &standing.site.arguments,
        };
        let hands_function = arguments.iter().any(|arg| matches!(arg.shape, Shape::Function { .. }));
        if !waits || hands_function {
            return false;
        }
        let Some((change, noun)) = told(name) else { return false };
        let asks = change == Change::None;
        // What nobody looks at was not asked for.
        if noun.is_empty() && !object.contains('.')
            || !asks && arguments.is_empty()
            || asks && standing.into.is_none()
        {
            return false;
        }
        let about = if noun.is_empty() { object.to_owned() } else { format!("{object}.{noun}") };
        // What is added has no name yet that others know.
        let which = arguments.first().filter(|_| change != Change::Unknown);
        let which = which.and_then(|first| self.which(first));
        let service = match which {
            Some(which) => {
                let mut parts = vec![Term::Literal(format!("{about}/").into())];
                match which {
                    Term::Join(inner) => parts.extend(inner),
                    one => parts.push(one),
                }
                Term::Join(parts)
            }
            None => Term::Literal(about.into()),
        };
        let mut from: Vec<Value> = vec![];
        if !asks {
            arguments.iter().for_each(|arg| merge(&mut from, &arg.values));
        }
        let op = Op::External { into: standing.into, service, change, from, idempotency: None, over: None };
        out.push(Effect { span: standing.span, op });
        true
    }

    /// The same of a method of an object of which nothing is known: it must be called like what speaks for a service.
    pub(super) fn remote_method(
        &mut self,
        standing: &Standing<'f>,
        receiver: Option<&AccessPath>,
        name: &str,
        is_library: bool,
        out: &mut Block,
    ) -> bool {
        let Some(receiver) = receiver else { return false };
        let object = self.written(receiver);
        let speaks = |word: &str| {
            let word = word.to_lowercase();
            SPEAKERS.iter().any(|speaker| word.ends_with(speaker))
        };
        let is_library = is_library && standing.awaited;
        (is_library || object.split('.').any(speaks)) && self.remote(standing, &object, name, out)
    }

    /// Whether an argument is what a call is bounded by.
    fn is_context(&self, arg: &Arg) -> bool {
        let name =
            bare(&arg.term).and_then(|value| self.values.get(value.0 as usize)).map(|info| &*info.name);
        name.is_some_and(|name| CONTEXTS.contains(&name))
    }

    /// Which one a call is about: its first argument, or what the members of that say by their names.
    fn which(&self, first: &Arg) -> Option<Term> {
        match &first.shape {
            Shape::Object(members) => {
                let named = |name: &str| {
                    let name = name.to_lowercase();
                    NAMES.iter().any(|end| name.ends_with(end))
                };
                let mut found: Vec<(&str, Term)> = members
                    .iter()
                    .filter(|(name, _)| named(name))
                    .map(|(name, member)| (&**name, term_of(member)))
                    .filter(|(_, term)| *term != Term::Unknown)
                    .collect();
                found.sort_by(|one, other| one.0.cmp(other.0));
                match found.len() {
                    0 => None,
                    1 => found.pop().map(|(_, term)| term),
                    _ => Some(Term::Join(found.into_iter().map(|(_, term)| term).collect())),
                }
            }
            Shape::Opaque => match bare(&first.term).and_then(|value| self.made_here(value)) {
                Some(made) => self.which(made),
                None => {
                    Some(first.term.clone()).filter(|term| matches!(term, Term::Path(_) | Term::Literal(_)))
                }
            },
            Shape::Text(_) => Some(term_of(first)),
            // What a call gave: `const id = checked(given)`.
            Shape::Call(_) | Shape::Choice(_) => {
                Some(first.term.clone()).filter(|term| matches!(term, Term::Path(_) | Term::Literal(_)))
            }
            _ => None,
        }
    }

    /// The object that a variable was made as.
    fn made_here(&self, value: Value) -> Option<&'f Arg> {
        let FunctionId(id) = self.id;
        let about = self.eval.flat.about.get(id as usize)?;
        let (_, made) = about.locals.iter().find(|(local, _)| *local == value)?;
        matches!(made.shape, Shape::Object(_)).then_some(made)
    }
}

/// What a call does to what it is about, by its name: whether it asks, puts in place or adds.
fn told(name: &str) -> Option<(Change, String)> {
    let words = words(name);
    let (verb, rest) = words.split_first()?;
    let has = |verbs: &[&str]| verbs.contains(&&**verb);
    let change = match () {
        () if has(ASKS) => Change::None,
        () if has(PUTS) => Change::Settled,
        () if has(ADDS) => Change::Unknown,
        () => return None,
    };
    let about = rest.iter().take_while(|word| *word != "by" && *word != "for");
    let mut noun: String = about.filter(|word| !FILLERS.contains(&&***word)).map(String::as_str).collect();
    if noun.len() > 3 && noun.ends_with('s') && !noun.ends_with("ss") {
        noun.pop();
    }
    Some((change, noun))
}

/// The words of a name, in small letters.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if letter.is_lowercase() || letter.is_ascii_digit() => word.push(letter),
            _ if letter == '_' => words.push(String::new()),
            Some(word) if word.is_empty() => word.extend(letter.to_lowercase()),
            _ => words.push(letter.to_lowercase().collect()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What an argument is called.
fn term_of(arg: &Arg) -> Term {
    match (&arg.term, &arg.shape) {
        (Term::Unknown, Shape::Text(parts)) => match parts.as_slice() {
            [one] => one.clone(),
            parts => Term::Join(parts.to_vec()),
        },
        (term, _) => term.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_is_asked_for_put_in_place_and_added() {
        let told = |name: &str| told(name).map(|(change, noun)| format!("{change:?} {noun}"));
        assert_eq!(told("getRules").as_deref(), Some("None rule"));
        assert_eq!(told("get_all_rules").as_deref(), Some("None rule"));
        assert_eq!(told("GetRuleByID").as_deref(), Some("None rule"));
        assert_eq!(told("updateRule").as_deref(), Some("Settled rule"));
        assert_eq!(told("retrieve").as_deref(), Some("None "));
        assert_eq!(told("createRule").as_deref(), Some("Unknown rule"));
        assert_eq!(told("address"), None);
        assert_eq!(told("getter"), None);
    }
}
