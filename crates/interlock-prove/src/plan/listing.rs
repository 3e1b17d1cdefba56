//! A tool as the server lists it.

use interlock_hazards::words;
use serde_json::Value;

/// One entry of `tools/list`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// Its name.
    pub name: String,
    /// What it is said to do.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`; where it is absent nothing is said, whatever the protocol's default.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`; where it is absent nothing is said, whatever the protocol's default.
    pub open_world: Option<bool>,
}

/// Words that tools are named with that only look: verbs, and what is looked at where the verb is left out (`notes_status`).
const LOOKS: &[&str] = &[
    "get",
    "list",
    "read",
    "search",
    "show",
    "status",
    "find",
    "query",
    "fetch",
    "describe",
    "count",
    "view",
    "lookup",
    "check",
    "open",
    "export",
    "summary",
    "summarize",
    "info",
    "head",
    "stat",
    "tree",
    "history",
    "peek",
    "inspect",
    "dump",
    "retrieve",
    "ls",
    "cat",
];

/// Verbs of tools that bring something about that was not there. `open` is in both lists: what it does is seen when it is called.
const MAKES: &[&str] = &[
    "create",
    "add",
    "new",
    "insert",
    "register",
    "upload",
    "write",
    "save",
    "put",
    "make",
    "start",
    "begin",
    "init",
    "initialize",
    "initialise",
    "setup",
    "open",
    "append",
    "store",
    "import",
    "set",
    "post",
    "record",
    "log",
    "push",
    "enqueue",
    "book",
    "reserve",
    "remember",
    "upsert",
    "place",
    "submit",
];

/// Verbs of tools that change what is there. Nothing follows from them but that a word behind them is no verb: `update_status` does not look.
const CHANGES: &[&str] = &[
    "update",
    "edit",
    "change",
    "modify",
    "rename",
    "move",
    "copy",
    "replace",
    "merge",
    "apply",
    "toggle",
    "mark",
    "complete",
    "finish",
    "close",
    "cancel",
    "assign",
    "transfer",
    "increment",
    "decrement",
    "bump",
    "claim",
    "take",
    "approve",
    "reject",
    "archive",
    "restore",
    "commit",
    "lock",
    "unlock",
    "enable",
    "disable",
    "patch",
    "sort",
    "load",
    "sync",
    "refresh",
];

/// Of those that change something, the ones that change a part of it: they read what is there first.
const EDITS: &[&str] = &[
    "edit",
    "update",
    "append",
    "patch",
    "replace",
    "insert",
    "increment",
    "modify",
    "merge",
    "track",
    "log",
];

/// Words of tools whose effects nobody takes back.
const UNDOES: &[&str] = &[
    "delete", "remove", "drop", "destroy", "purge", "wipe", "erase", "clear", "reset", "truncate", "unlink",
    "rm",
];

/// Words of tools that reach beyond the server: people, money, other machines.
const REACHES_OUT: &[&str] = &[
    "send",
    "pay",
    "charge",
    "mail",
    "email",
    "sms",
    "publish",
    "deploy",
    "purchase",
    "buy",
    "refund",
    "execute",
    "exec",
    "run",
    "shell",
    "command",
    "eval",
    "tweet",
    "notify",
    "shutdown",
    "reboot",
    "kill",
    "terminate",
    "invite",
    "release",
    "withdraw",
    "payout",
];

/// Whether a word of a tool's name says what it does.
pub(crate) fn is_verb(word: &str) -> bool {
    [LOOKS, MAKES, CHANGES, UNDOES, REACHES_OUT].iter().any(|verbs| verbs.contains(&word))
}

impl Listing {
    /// Reads an entry; `None` if it has no name.
    #[must_use]
    pub fn read(entry: &Value) -> Option<Self> {
        let hint =
            |name: &str| entry.get("annotations").and_then(|all| all.get(name)).and_then(Value::as_bool);
        Some(Self {
            name: entry.get("name")?.as_str()?.to_owned(),
            description: entry.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            input_schema: entry.get("inputSchema").cloned().unwrap_or(Value::Bool(true)),
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        })
    }

    /// Whether it is worth asking what it sees: it says so, or its name does and it does not say otherwise.
    #[must_use]
    pub fn looks_like_reader(&self) -> bool {
        self.read_only
            .unwrap_or_else(|| self.verb_is(LOOKS) && self.reaches_out().is_none() && self.undoes().is_none())
    }

    /// Whether its name says that it makes something.
    #[must_use]
    pub fn looks_like_maker(&self) -> bool {
        self.verb_is(MAKES)
    }

    /// Whether its name says that it changes a part of something that is there.
    #[must_use]
    pub fn looks_like_editor(&self) -> bool {
        self.verb_is(EDITS) && self.undoes().is_none()
    }

    /// Whether its name says that it makes or changes something, and it does not say otherwise: then a call that changes nothing was not
    /// accepted, however it was answered.
    #[must_use]
    pub fn looks_like_writer(&self) -> bool {
        self.read_only != Some(true) && [MAKES, CHANGES, UNDOES].iter().any(|verbs| self.verb_is(verbs))
    }

    /// The word that says that it reaches beyond the server.
    #[must_use]
    pub fn reaches_out(&self) -> Option<String> {
        self.says(REACHES_OUT)
    }

    /// The word that says that it destroys.
    #[must_use]
    pub fn undoes(&self) -> Option<String> {
        self.says(UNDOES)
    }

    /// The verb is the first word, or the second where the first is none that we know: all tools of a server may share a prefix, and some are
    /// named the other way round (`notes_list`). What follows a verb is what it acts on: `write_query` writes.
    fn verb_is(&self, verbs: &[&str]) -> bool {
        let name = words(&self.name);
        let has = |at: usize, among: &[&str]| name.get(at).is_some_and(|word| among.contains(&word.as_str()));
        let is_verb = [LOOKS, MAKES, CHANGES, UNDOES, REACHES_OUT].iter().any(|known| has(0, known));
        has(0, verbs) || (!is_verb && has(1, verbs))
    }

    /// A word of the name, or the word that the description begins with, with or without the `s` of a verb: "Sends an e-mail", "SMS to a
    /// number".
    fn says(&self, known: &[&str]) -> Option<String> {
        let name = words(&self.name);
        let first = words(self.description.split_whitespace().next().unwrap_or_default()).into_iter().next();
        let verb = first.as_deref().and_then(|word| word.strip_suffix('s')).map(str::to_owned);
        name.into_iter().chain(first).chain(verb).find(|word| known.contains(&word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(name: &str, description: &str, annotations: Value) -> Listing {
        Listing::read(&json!({"name": name, "description": description, "annotations": annotations})).unwrap()
    }

    #[test]
    fn a_reader_says_so_or_is_named_like_one() {
        assert!(listed("frobnicate", "", json!({"readOnlyHint": true})).looks_like_reader());
        assert!(!listed("get_and_bump", "", json!({"readOnlyHint": false})).looks_like_reader());
        for name in ["get_user", "listUsers", "notes-search", "read_graph"] {
            assert!(listed(name, "", json!({})).looks_like_reader(), "{name}");
        }
        for name in
            ["budget_set", "write_query", "update_status", "add_summary", "create_list", "move_file_info"]
        {
            assert!(!listed(name, "", json!({})).looks_like_reader(), "{name}");
        }
        assert!(listed("create_view", "", json!({})).looks_like_maker());
        for name in ["create_view", "update_status", "task_delete", "notes_move"] {
            assert!(listed(name, "", json!({})).looks_like_writer(), "{name}");
            assert!(!listed(name, "", json!({"readOnlyHint": true})).looks_like_writer(), "{name}");
        }
        for name in ["validate", "think", "get_status", "list_new_tasks"] {
            assert!(!listed(name, "", json!({})).looks_like_writer(), "{name}");
        }
        assert!(!listed("list_new", "", json!({})).looks_like_maker());
    }

    #[test]
    fn what_reaches_out_is_told_by_name_or_description() {
        assert_eq!(listed("send_mail", "", json!(null)).reaches_out().unwrap(), "send");
        assert_eq!(listed("invoice", "Charges the customer.", json!(null)).reaches_out().unwrap(), "charge");
        assert_eq!(listed("notice", "SMS to a number.", json!(null)).reaches_out().unwrap(), "sms");
        assert_eq!(listed("resend_list", "Lists what is pending.", json!(null)).reaches_out(), None);
        assert_eq!(listed("deleteFile", "", json!(null)).undoes().unwrap(), "delete");
    }

    #[test]
    fn an_entry_without_a_name_is_none() {
        assert_eq!(Listing::read(&json!({"description": "x"})), None);
        assert_eq!(Listing::read(&json!("x")), None);
    }
}
