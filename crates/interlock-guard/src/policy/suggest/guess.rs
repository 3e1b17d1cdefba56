//! What a server's own list says: names, hints, and the arguments that name a thing.

use std::num::NonZeroU32;

use interlock_hazards::words;
use interlock_model::{IdempotencyKey, KeyTemplate};
use serde_json::Value;

use super::{
    super::tool::ListedTool,
    wish::{Because, Wish, push},
};

/// How many calls of one caller run at once: more than agents need, less than a runaway loop sends.
const IN_FLIGHT: NonZeroU32 = NonZeroU32::new(16).expect("it is not zero");

/// What stands for everything that a server keeps.
pub(super) const EVERYTHING: &str = "server";

/// The last words of arguments that name a thing.
const IDS: &[&str] = &["id", "uuid", "guid", "slug", "key", "number"];
/// Arguments that name a file.
const FILES: &[&str] = &["path", "file", "filename", "filepath", "uri", "source", "destination"];
/// Arguments that carry an idempotency key, word by word.
const KEYS: &[&[&str]] =
    &[&["idempotency", "key"], &["request", "id"], &["client", "token"], &["dedupe", "key"]];
/// Words of tools that do what nobody takes back.
const DESTROYS: &[&str] = &[
    "delete", "remove", "drop", "destroy", "purge", "wipe", "erase", "clear", "reset", "truncate", "cancel",
];
/// Words of tools that may make what was not there before, and so cannot have been read.
const MAKES: &[&str] = &[
    "create", "write", "save", "add", "new", "make", "put", "insert", "upsert", "upload", "store",
    "generate", "export", "touch",
];
/// First words of tools that usually only look.
const LOOKS: &[&str] =
    &["get", "list", "read", "search", "show", "find", "query", "fetch", "describe", "count"];

/// What each tool's own listing asks for.
pub(super) fn of(tools: &[ListedTool]) -> Vec<Wish> {
    let keys: Vec<Vec<KeyTemplate>> = tools.iter().map(things).collect();
    // A thing can only be fresh in the eyes of somebody who can read it by itself.
    let is_read = |key: &KeyTemplate| {
        let shape = kind(key);
        tools
            .iter()
            .zip(&keys)
            .any(|(tool, keys)| tool.is_read_only() && keys.iter().any(|one| kind(one) == shape))
    };
    let any_reader = tools.iter().any(|tool| tool.is_read_only());
    let any_thing = tools.iter().zip(&keys).any(|(tool, keys)| !tool.is_read_only() && !keys.is_empty());
    tools
        .iter()
        .zip(&keys)
        .map(|(tool, keys)| {
            let mut wish =
                Wish { is_reader: tool.is_read_only(), may_make: makes(&tool.name), ..limits() };
            let whole = KeyTemplate::fixed(EVERYTHING);
            match (tool.is_read_only(), keys.as_slice()) {
                (true, []) => {
                    let why = if any_thing {
                        "it waits for what touches everything"
                    } else {
                        "it waits for writers, not for other readers"
                    };
                    push(&mut wish.lock_shared, &whole, why);
                    if !any_thing {
                        push(&mut wish.observes, &whole, "so that the guard knows what each caller has seen");
                    }
                }
                (true, keys) => {
                    push(&mut wish.lock_shared, &whole, "it waits for what touches everything");
                    for key in keys {
                        push(&mut wish.lock_shared, key, "and for writers of the same thing, not for other readers");
                        push(&mut wish.observes, key, "so that the guard knows what each caller has seen");
                    }
                }
                (false, []) => {
                    push(&mut wish.lock, &whole, "no argument says what it touches, so it runs by itself: slow, and right");
                    if !any_thing && any_reader {
                        push(&mut wish.changes, &whole, "whoever has read before is out of date afterwards");
                        fresh(&mut wish, tool, &whole);
                    }
                }
                (false, keys) => {
                    push(&mut wish.lock_shared, &whole, "together with others, but never with a tool that touches everything");
                    for key in keys {
                        push(&mut wish.lock, key, "one call at a time for each; if the server keeps all of them in one file, write \"server\"");
                        if is_read(key) {
                            push(&mut wish.changes, key, "whoever has read it before is out of date afterwards");
                            fresh(&mut wish, tool, key);
                        }
                    }
                }
            }
            if !tool.is_read_only() && tool.idempotent != Some(true) {
                wish.idempotency = idempotency_argument(tool).map(|name| {
                    Because::of(IdempotencyKey::Argument(name), "a call that is sent again takes effect once")
                });
            }
            wish
        })
        .collect()
}

/// What holds for every tool.
pub(super) fn limits() -> Wish {
    let why = "per caller; more than agents need, less than a runaway loop sends";
    Wish { in_flight: Some(Because::of(IN_FLIGHT, why)), ..Wish::default() }
}

fn fresh(wish: &mut Wish, tool: &ListedTool, key: &KeyTemplate) {
    let why = if tool.destructive == Some(true) {
        "destructiveHint: true: refused if somebody changed it since this caller read it"
    } else if tool.destructive.is_none() && destroys(&tool.name) {
        "its name says that it destroys: refused if somebody changed it since this caller read it"
    } else {
        return;
    };
    push(&mut wish.requires_fresh, key, why);
}

fn destroys(name: &str) -> bool {
    words(name).iter().any(|word| DESTROYS.contains(&word.as_str()))
}

fn makes(name: &str) -> bool {
    words(name).iter().any(|word| MAKES.contains(&word.as_str()))
}

/// Tools that say nothing of themselves and sound as if they only read.
pub(super) fn perhaps_readers(tools: &[ListedTool]) -> Vec<&str> {
    let sounds = |tool: &&ListedTool| {
        tool.read_only.is_none()
            && words(&tool.name).first().is_some_and(|word| LOOKS.contains(&word.as_str()))
    };
    tools.iter().filter(sounds).map(|tool| tool.name.as_str()).collect()
}

/// The things that a call speaks of, as keys: `order:{args.orderId}`.
fn things(tool: &ListedTool) -> Vec<KeyTemplate> {
    let mut keys = Vec::new();
    for argument in
        tool.arguments().filter(|name| tool.requires(name) && is_plain(name) && is_scalar(tool, name))
    {
        let parts = words(argument);
        let Some(last) = parts.last().map(String::as_str) else { continue };
        let is_key = KEYS.iter().any(|key| parts.iter().map(String::as_str).eq(key.iter().copied()));
        let noun = if is_key {
            None
        } else if FILES.contains(&last) {
            Some("file".to_owned())
        } else if IDS.contains(&last) {
            match parts.split_last() {
                Some((_, [])) => noun_of(&tool.name),
                Some((_, before)) => Some(before.join("-")),
                None => None,
            }
        } else {
            None
        };
        let key = noun.and_then(|noun| format!("{noun}:{{args.{argument}}}").parse().ok());
        keys.extend(key);
    }
    keys
}

/// What a tool is about, when its argument is just `id`: the last word of its name, as one of them.
fn noun_of(name: &str) -> Option<String> {
    let parts = words(name);
    let last = parts.last().filter(|_| parts.len() > 1)?;
    Some(last.strip_suffix('s').filter(|one| one.len() > 2).unwrap_or(last).to_owned())
}

/// What kind of thing a key is of, whatever its argument is called.
fn kind(key: &KeyTemplate) -> String {
    key.to_string().split(':').next().unwrap_or_default().to_owned()
}

fn idempotency_argument(tool: &ListedTool) -> Option<String> {
    let is_key = |name: &&str| {
        let parts = words(name);
        is_plain(name) && KEYS.iter().any(|key| parts.iter().map(String::as_str).eq(key.iter().copied()))
    };
    tool.arguments().find(is_key).map(str::to_owned)
}

/// Whether a name can stand in a template.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn is_scalar(tool: &ListedTool, name: &str) -> bool {
    let schema = tool.argument(&[name.to_owned()]).flatten();
    matches!(schema.and_then(|schema| schema.get("type")).and_then(Value::as_str), Some("string" | "integer"))
}
