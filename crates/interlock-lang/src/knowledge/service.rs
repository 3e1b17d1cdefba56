//! Requests to services that are made through somebody's client, by what its methods are called.
//!
//! ```text
//! client.pages.retrieve(id)     asks     notion/pages/${id}
//! client.getIssue(id)           asks     linear/issue/${id}
//! client.updateIssue(id, {…})   puts     linear/issue/${id}
//! client.createIssue({…})       adds     linear/issue
//! client.deleteIssue(id)        puts     linear/issue/${id}
//! client.sendReport({…})        changes  linear/send report
//! ```
//!
//! What the service makes of it is not seen: no finding that rests on that is sure. The same words tell of calls of which not even the
//! library is known, in `link/remote`.

use interlock_model::ir::{Body, Change, Op, Term, Value};

use crate::{Arg, Outcome, Shape};

use super::{
    act::{find, says_which, which},
    format::Entry,
    scene::{Scene, term_of},
    statement::unique,
};

/// What a call does to what it is about, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Asks,
    Puts,
    Adds,
}

/// How a call that asks begins.
const ASKS: &[&str] = &["get", "retrieve", "fetch", "find", "list", "read", "show"];

/// How a call that puts something in place begins.
const PUTS: &[&str] = &["update", "put", "replace", "save", "edit", "modify", "set"];

/// How a call that adds something begins.
const ADDS: &[&str] = &["create", "add", "insert"];

/// How else a call of a service begins that asks, or that only makes sure who it is that asks.
const ALSO_ASKS: &[&str] = &[
    "search",
    "query",
    "count",
    "download",
    "check",
    "lookup",
    "describe",
    "head",
    "exists",
    "has",
    "is",
    "validate",
    "verify",
    "preview",
    "ping",
    "test",
    "authenticate",
    "connect",
    "login",
    "whoami",
    "scan",
    "batchget",
    "estimate",
    "compare",
    "export",
    "crawl",
    "scrape",
    "browse",
    "view",
    "load",
    "select",
    "all",
    "first",
    "each",
    "next",
    "iterate",
    "paginate",
    "ready",
    "wait",
    "resolve",
    "detect",
    "analyze",
    "translate",
    "summarize",
    "extract",
    "generate",
    "embed",
    "complete",
    "chat",
    "classify",
    "moderate",
    "render",
];

/// How a call begins that takes something away, or changes it for good whoever does so first.
const TAKES: &[&str] = &[
    "delete",
    "remove",
    "archive",
    "unarchive",
    "close",
    "reopen",
    "cancel",
    "restore",
    "patch",
    "rename",
    "move",
];

/// What says nothing of what a call is about: `getAllRules`, `updateRuleById`.
const FILLERS: &[&str] = &["all", "one", "the", "single"];

/// What a call does to what it is about, by its name, and what that is.
pub(crate) fn verb_of(name: &str) -> Option<(Verb, String)> {
    let words = words(name);
    let (verb, rest) = words.split_first()?;
    let has = |verbs: &[&str]| verbs.contains(&&**verb);
    let verb = match () {
        () if has(ASKS) => Verb::Asks,
        () if has(PUTS) => Verb::Puts,
        () if has(ADDS) => Verb::Adds,
        () => return None,
    };
    Some((verb, noun_of(rest)))
}

fn noun_of(words: &[String]) -> String {
    let about = words.iter().take_while(|word| *word != "by" && *word != "for");
    let mut noun: String = about.filter(|word| !FILLERS.contains(&&***word)).map(String::as_str).collect();
    if noun.len() > 3 && noun.ends_with('s') && !noun.ends_with("ss") {
        noun.pop();
    }
    noun
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

/// Writes the request that a call of a service's client is by its name; of a command that is sent, by the name of that.
pub(super) fn request(scene: &Scene<'_>, entry: &Entry, outcome: &mut Outcome, body: &mut Body<'_>) {
    let made = scene.kind.and_then(|kind| kind.made.last()).filter(|_| entry.at.is_some());
    let (name, arguments) = match made {
        Some(made) => (made.by.strip_suffix("Command").unwrap_or(&made.by), made.arguments.as_slice()),
        None => (scene.name, scene.call.arguments),
    };
    let (object, method) = name.rsplit_once('.').unwrap_or(("", name));
    let (change, about) = told(method);
    let service = find(scene, entry.service.as_ref()).map_or(Term::Unknown, |arg| scene.name_of(&arg));
    let Term::Literal(service) = service else { return };
    let parts = [&*service, object, &about].into_iter().filter(|part| !part.is_empty());
    let address = parts.collect::<Vec<_>>().join("/");
    // What is added has no name yet that others know.
    let named = arguments.first().filter(|_| change != Change::Unknown).and_then(name_in);
    let service = match named {
        Some(named) => Term::Join([vec![Term::Literal(format!("{address}/").into())], named].concat()),
        None => Term::Literal(address.into()),
    };
    // What only says which one is meant is not put there.
    let names_it = |at: usize, arg: &Arg| {
        at == 0 && change == Change::Settled && !matches!(arg.shape, Shape::Object(_) | Shape::Choice(_))
    };
    let sent = arguments.iter().enumerate().filter(|(at, arg)| change != Change::None && !names_it(*at, arg));
    let from = unique(sent.flat_map(|(_, arg)| content_of(arg)).collect());
    outcome.guessed = true;
    outcome.answer = true;
    body.push(Op::External { into: scene.take_into(), service, change, from, idempotency: None, over: None });
}

/// Whether a method of a service changes it, and what it is about.
fn told(method: &str) -> (Change, String) {
    if let Some((verb, noun)) = verb_of(method) {
        let change = match verb {
            Verb::Asks => Change::None,
            Verb::Puts => Change::Settled,
            Verb::Adds => Change::Unknown,
        };
        return (change, noun);
    }
    let words = words(method);
    let Some((verb, rest)) = words.split_first() else { return (Change::Unknown, String::new()) };
    match () {
        () if ALSO_ASKS.contains(&&**verb) => (Change::None, noun_of(rest)),
        () if TAKES.contains(&&**verb) => (Change::Settled, noun_of(rest)),
        () => (Change::Unknown, words.join(" ")),
    }
}

/// What is sent: of an object all but the members that say by their names which one is meant.
fn content_of(arg: &Arg) -> Vec<Value> {
    match &arg.shape {
        Shape::Object(members) => {
            let content = members.iter().filter(|(name, _)| !says_which(name));
            content.flat_map(|(_, member)| member.values.iter().copied()).collect()
        }
        _ => arg.values.clone(),
    }
}

/// Which one a request is about: its first argument, or the members of that which say so.
fn name_in(first: &Arg) -> Option<Vec<Term>> {
    match (&first.shape, term_of(first)) {
        (Shape::Object(_), _) => which(first),
        (_, Term::Join(parts)) => Some(parts),
        (_, term @ (Term::Path(_) | Term::Literal(_))) => Some(vec![term]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_is_asked_for_put_in_place_and_added() {
        let told = |name: &str| verb_of(name).map(|(verb, noun)| format!("{verb:?} {noun}"));
        assert_eq!(told("getRules").as_deref(), Some("Asks rule"));
        assert_eq!(told("get_all_rules").as_deref(), Some("Asks rule"));
        assert_eq!(told("GetRuleByID").as_deref(), Some("Asks rule"));
        assert_eq!(told("updateRule").as_deref(), Some("Puts rule"));
        assert_eq!(told("retrieve").as_deref(), Some("Asks "));
        assert_eq!(told("createRule").as_deref(), Some("Adds rule"));
        assert_eq!(told("address"), None);
        assert_eq!(told("getter"), None);
    }

    #[test]
    fn of_a_service_every_name_says_something() {
        let told = |name: &str| {
            let (change, about) = told(name);
            format!("{change:?} {about}")
        };
        assert_eq!(told("searchIssues"), "None issue");
        assert_eq!(told("deleteIssue"), "Settled issue");
        assert_eq!(told("sendReport"), "Unknown send report");
    }
}
