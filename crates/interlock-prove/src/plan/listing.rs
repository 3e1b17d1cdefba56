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
}

/// Verbs of tools that only look.
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

/// Verbs of tools that bring something about that was not there.
const MAKES: &[&str] = &[
    "create", "add", "new", "insert", "register", "upload", "write", "save", "put", "make", "start", "begin",
    "init", "open", "append", "store", "import", "set", "post", "record", "log", "import", "push", "enqueue",
    "book", "reserve", "remember", "upsert", "place", "submit",
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

    fn verb_is(&self, verbs: &[&str]) -> bool {
        // The verb comes first, or after a prefix that all tools of a server share.
        words(&self.name).iter().take(2).any(|word| verbs.contains(&word.as_str()))
    }

    /// A word of the name, or the verb that the description begins with: "Sends an e-mail".
    fn says(&self, known: &[&str]) -> Option<String> {
        let name = words(&self.name);
        let verb = words(self.description.split_whitespace().next().unwrap_or_default()).into_iter().next();
        let verb = verb.map(|verb| verb.strip_suffix('s').map_or(verb.clone(), str::to_owned));
        name.into_iter().chain(verb).find(|word| known.contains(&word.as_str()))
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
        assert!(!listed("budget_set", "", json!({})).looks_like_reader(), "a word is a whole word");
    }

    #[test]
    fn what_reaches_out_is_told_by_name_or_description() {
        assert_eq!(listed("send_mail", "", json!(null)).reaches_out().unwrap(), "send");
        assert_eq!(listed("invoice", "Charges the customer.", json!(null)).reaches_out().unwrap(), "charge");
        assert_eq!(listed("resend_list", "Lists what is pending.", json!(null)).reaches_out(), None);
        assert_eq!(listed("deleteFile", "", json!(null)).undoes().unwrap(), "delete");
    }

    #[test]
    fn an_entry_without_a_name_is_none() {
        assert_eq!(Listing::read(&json!({"description": "x"})), None);
        assert_eq!(Listing::read(&json!("x")), None);
    }
}
