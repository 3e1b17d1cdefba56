//! What a name says about the value under it.

use interlock_hazards::words;

use crate::plan::listing::is_verb;

/// A name taken apart: `fromUserId` is the id of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// Without what says whose or which: `userid`.
    pub(crate) joined: String,
    /// What it is the id, the path or the name of.
    pub(crate) noun: Option<String>,
    /// What kind of value.
    pub(crate) role: Role,
    /// Whether it is not the thing spoken of but another: a receiver, a destination, a new name.
    pub(crate) is_other: bool,
}

/// What kind of value stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Id,
    Path,
    Folder,
    /// The folder that everything is in: the same for all that is spoken of.
    Root,
    Name,
    Url,
    Email,
    /// What proves that something was read: a version, a hash.
    Version,
    Idempotency,
    OldText,
    Amount,
    /// How much of an answer is wanted.
    Extent,
    Query,
    Text,
}

impl Role {
    /// Whether it says which thing is spoken of.
    pub(crate) fn names_a_thing(self) -> bool {
        matches!(self, Self::Id | Self::Path | Self::Folder | Self::Name)
    }
}

const ROLES: &[(Role, &[&str])] = &[
    (Role::Path, &["path", "file", "filename", "filepath", "pathname", "paths", "files"]),
    (Role::Root, &["root", "workspace", "cwd", "workdir", "basedir", "rootdir", "vault"]),
    (Role::Folder, &["dir", "directory", "folder"]),
    (Role::Url, &["url", "uri", "endpoint", "link", "href", "webhook"]),
    (Role::Email, &["email", "mail"]),
    (Role::Id, &["id", "ids", "uuid", "guid", "key", "keys", "slug", "sku", "identifier", "handle"]),
    (Role::Version, &["version", "revision", "rev", "etag", "hash", "sha", "checksum", "generation"]),
    (Role::Query, &["query", "q", "term", "keyword", "search", "filter"]),
    (
        Role::Amount,
        &[
            "amount", "quantity", "qty", "price", "total", "credits", "points", "sum", "balance", "delta",
            "by", "step", "value", "units", "cents", "count", "seats", "tickets", "stock",
        ],
    ),
    (
        Role::Extent,
        &[
            "limit", "max", "page", "offset", "size", "top", "depth", "skip", "timeout", "head", "tail",
            "seconds", "ms",
        ],
    ),
    (
        Role::Name,
        &[
            "name",
            "names",
            "title",
            "user",
            "username",
            "account",
            "owner",
            "customer",
            "project",
            "repo",
            "repository",
            "branch",
            "session",
            "channel",
            "topic",
            "collection",
            "table",
            "database",
            "bucket",
            "queue",
            "group",
            "team",
            "room",
            "entity",
            "node",
            "recipient",
            "receiver",
            "sender",
            "item",
            "product",
            "document",
            "task",
            "order",
            "resource",
            "counter",
            "wallet",
            "from",
            "to",
            "source",
            "target",
            "destination",
            "event",
            "ticket",
            "slot",
            "seat",
            "card",
            "board",
            "sheet",
            "worksheet",
            "column",
            "notebook",
            "namespace",
            "conversation",
            "thread",
        ],
    ),
];

/// Words that say which of two, not what.
const WHICH: &[&str] = &[
    "from",
    "to",
    "source",
    "target",
    "destination",
    "dest",
    "src",
    "new",
    "old",
    "other",
    "the",
    "my",
    "current",
    "initial",
];
/// Of those, the ones that mean the other of the two.
const OTHER: &[&str] = &["to", "target", "destination", "dest", "new", "other", "recipient", "receiver"];

const IDEMPOTENCY: &[&str] = &[
    "requestid",
    "clienttoken",
    "dedupekey",
    "deduplicationid",
    "deduplicationkey",
    "operationid",
    "nonce",
    "clientrequestid",
    "transactionref",
];

impl Named {
    pub(crate) fn new(name: &str) -> Self {
        let words = words(name);
        let last = words.last().map_or("", String::as_str);
        let has = |word: &str| words.iter().any(|own| own == word);
        let role = if has("idempotency") || IDEMPOTENCY.contains(&words.concat().as_str()) {
            Role::Idempotency
        } else if has("old") && !matches!(known(last), Some(Role::Path | Role::Id | Role::Name)) {
            Role::OldText
        } else {
            known(last).or_else(|| known(&singular(last))).unwrap_or(Role::Text)
        };
        // A path that says what it is the path of: `repo_path`, `projectPath`, `root_path`.
        let role = match role {
            Role::Path | Role::Folder if words.iter().any(|word| ROOTS.contains(&word.as_str())) => {
                Role::Root
            }
            Role::Path if names_folder(&words) => Role::Folder,
            role => role,
        };
        let told: Vec<&String> = words.iter().filter(|word| !WHICH.contains(&word.as_str())).collect();
        let joined = told.iter().map(|word| singular(word)).collect::<String>();
        // What is left of `userId` without its role is what it is the id of; of `account` it is the word itself.
        let noun = match told.as_slice() {
            [only] if role == Role::Name && only.as_str() != "name" && only.as_str() != "title" => {
                Some(singular(only))
            }
            [before @ .., _role] => before.last().map(|word| singular(word)),
            [] => None,
        };
        let is_other = words.iter().any(|word| OTHER.contains(&word.as_str()));
        Self { joined: if joined.is_empty() { words.concat() } else { joined }, noun, role, is_other }
    }

    /// Under which name its value is given. The other of two is not given what the one is.
    pub(crate) fn given_as(&self) -> String {
        if self.is_other { format!("other {}", self.joined) } else { self.joined.clone() }
    }
}

/// Words of the folder that everything is in.
const ROOTS: &[&str] = &["root", "vault", "working", "workspace"];

/// Words of folders.
const FOLDERS: &[&str] = &[
    "base",
    "dir",
    "directories",
    "directory",
    "folder",
    "folders",
    "project",
    "repo",
    "repository",
    "root",
    "tree",
    "workspace",
];

/// Whether words speak of a folder.
pub(super) fn names_folder(words: &[String]) -> bool {
    words.iter().any(|word| FOLDERS.contains(&word.as_str()))
}

fn known(word: &str) -> Option<Role> {
    ROLES.iter().find(|(_, words)| words.contains(&word)).map(|(role, _)| *role)
}

/// What a tool is about: the last word of its name that is neither a verb nor a small word, whether the verb stands first (`create_task`) or last
/// (`task_create`).
pub(crate) fn noun_of_tool(name: &str) -> Option<String> {
    let words = words(name);
    let is_noun = |word: &&String| !SMALL.contains(&word.as_str());
    let mut nouns = words.iter().filter(is_noun).filter(|word| !is_verb(word));
    let mut behind = words.iter().skip(1).filter(is_noun);
    nouns.next_back().or_else(|| behind.next_back()).or(words.first()).map(|word| singular(word))
}

const SMALL: &[&str] =
    &["by", "of", "to", "for", "in", "from", "with", "all", "the", "and", "or", "on", "at", "tool", "info"];

/// One of many: `entities` is `entity`. Good enough to compare names of one server with each other.
pub(crate) fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    let short = ["sses", "xes", "ches", "shes"].iter().any(|end| word.ends_with(end));
    let stem = if short {
        word.strip_suffix("es")
    } else {
        word.strip_suffix('s').filter(|stem| !stem.ends_with(['s', 'u', 'i']))
    };
    stem.filter(|stem| stem.len() > 1).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_stands_under_it() {
        let told = |name: &str| {
            let named = Named::new(name);
            (named.joined, named.noun, named.role, named.is_other)
        };
        let some = |word: &str| Some(word.to_owned());
        assert_eq!(told("orderId"), ("orderid".into(), some("order"), Role::Id, false));
        assert_eq!(told("to_user_id"), ("userid".into(), some("user"), Role::Id, true));
        assert_eq!(told("id"), ("id".into(), None, Role::Id, false));
        assert_eq!(told("entityNames"), ("entityname".into(), some("entity"), Role::Name, false));
        assert_eq!(told("account"), ("account".into(), some("account"), Role::Name, false));
        assert_eq!(told("new_path"), ("path".into(), None, Role::Path, true));
        assert_eq!(told("to"), ("to".into(), None, Role::Name, true));
        assert_eq!(told("oldText").2, Role::OldText);
        assert_eq!(told("oldPath").2, Role::Path);
        assert_eq!(told("repo_path").2, Role::Folder);
        assert_eq!(told("projectPath").2, Role::Folder);
        assert_eq!(told("file_path").2, Role::Path);
        for root in ["projectRoot", "working_directory", "workspacePath", "cwd", "vault_path"] {
            assert_eq!(told(root).2, Role::Root, "{root}");
        }
        assert_eq!(told("workspaceId").2, Role::Id);
        assert_eq!(told("idempotency_key").2, Role::Idempotency);
        assert_eq!(told("requestId").2, Role::Idempotency);
        assert_eq!(told("amountInCents").2, Role::Amount);
        assert_eq!(told("body").2, Role::Text);
    }

    #[test]
    fn a_tool_is_about_its_last_noun() {
        for (name, noun) in [
            ("create_entities", "entity"),
            ("get_status", "status"),
            ("orders.list", "order"),
            ("task_create", "task"),
            ("note-delete-all", "note"),
            ("ping", "ping"),
            ("searchNotesByTag", "tag"),
        ] {
            assert_eq!(noun_of_tool(name).as_deref(), Some(noun), "{name}");
        }
    }
}
