//! The suggestion as text. Names and messages come from servers and sources that nobody vouched for: in a string everything that could
//! end it is escaped, and in a comment everything that could end the line.

use std::{collections::BTreeSet, fmt::Display};

use super::{
    super::{Reach, Sharing, UpstreamConfig},
    guess::EVERYTHING,
    wish::{Because, Wish},
};

/// Where comments begin, where the line before them is not longer.
const COLUMN: usize = 44;

/// The longest comment.
const LONGEST: usize = 240;

/// A file in the making.
pub(super) struct Text(String);

impl Text {
    pub(super) fn new() -> Self {
        Self(String::new())
    }

    pub(super) fn head(&mut self, tools: usize, findings: usize) {
        let scan = match findings {
            0 => "what the server says of them".to_owned(),
            _ => format!("what the server says of them, and of {findings} findings of a scan"),
        };
        self.0 += &format!(
            "# A policy for {tools} tools, made of {scan}.\n\
             # Nobody has tried it: read the reasons, and see `docs/guard-policy.md`. `mode = \"observe\"` tries it without refusing anything.\n"
        );
    }

    pub(super) fn upstreams(&mut self, upstreams: &[UpstreamConfig]) {
        for upstream in upstreams {
            self.0 += "\n[[upstream]]\n";
            self.line("name", &quoted(&upstream.name), None);
            match &upstream.reach {
                Reach::Command { command, env, folder } => {
                    self.line("command", &array(command), None);
                    if !env.is_empty() {
                        let names = env.keys().map(|name| format!("{} = \"${{{name}:-}}\"", quoted(name)));
                        let table = format!("{{ {} }}", names.collect::<Vec<_>>().join(", "));
                        self.line(
                            "env",
                            &table,
                            Some("from the guard's own environment: no secret stands here"),
                        );
                    }
                    if let Some(folder) = folder {
                        self.line("cwd", &quoted(folder.display()), None);
                    }
                    if upstream.sharing == Sharing::PerSession {
                        self.line("sharing", &quoted("per-session"), None);
                    }
                }
                Reach::Url { url, headers, ca } => {
                    self.line("url", &quoted(url), None);
                    if let Some(ca) = ca {
                        self.line("ca", &quoted(ca.display()), None);
                    }
                    if !headers.is_empty() {
                        let names = headers.keys().map(|name| {
                            format!("{} = \"${{{}:-}}\"", quoted(name), variable(&upstream.name, name))
                        });
                        let table = format!("{{ {} }}", names.collect::<Vec<_>>().join(", "));
                        self.line(
                            "headers",
                            &table,
                            Some("from the guard's environment: no secret stands here"),
                        );
                    }
                }
            }
            if !upstream.prefix.is_empty() {
                self.line("prefix", &quoted(&upstream.prefix), None);
            }
            if !upstream.is_required {
                self.line("required", "false", None);
            }
        }
    }

    /// The rules for all tools, also those that are not listed yet.
    pub(super) fn everything(&mut self, limits: &Wish) {
        self.rule(&["*"], limits);
        self.0 += "\n[[tool]]\n";
        self.line("match", &list(&["*"]), None);
        self.line(
            "read_only",
            "false",
            Some("whatever does not say `readOnlyHint: true`, also what the server lists some day"),
        );
        self.line("lock", &quoted(EVERYTHING), Some("runs by itself, unless a rule below knows better"));
    }

    pub(super) fn rule(&mut self, names: &[&str], wish: &Wish) {
        self.0 += "\n[[tool]]\n";
        self.line("match", &list(names), None);
        if wish.is_reader {
            self.line("read_only", "true", Some("holds as long as the server says `readOnlyHint: true`"));
        }
        self.one("deny", wish.deny.as_ref().map(|deny| (deny, "true".to_owned())));
        self.one("in_flight", wish.in_flight.as_ref().map(|limit| (limit, limit.value.to_string())));
        self.one("rate", wish.rate.as_ref().map(|rate| (rate, quoted(rate.value))));
        for (name, keys) in [
            ("lock", &wish.lock),
            ("lock_shared", &wish.lock_shared),
            ("observes", &wish.observes),
            ("changes", &wish.changes),
            ("requires_fresh", &wish.requires_fresh),
        ] {
            match keys.as_slice() {
                [] => {}
                [only] => self.line(name, &quoted(&only.value), Some(&only.why)),
                many => {
                    self.0 += &format!("{name} = [\n");
                    for key in many {
                        self.padded(&format!("  {},", quoted(&key.value)), Some(&key.why));
                    }
                    self.0 += "]\n";
                }
            }
        }
        self.one("idempotency", wish.idempotency.as_ref().map(|key| (key, quoted(&key.value))));
        let timeout =
            wish.timeout.as_ref().map(|time| (time, format!("\"{}s\"", time.value.as_secs().max(1))));
        self.one("timeout", timeout);
    }

    /// Tools that could be readers, if only their server said so.
    pub(super) fn readers_perhaps(&mut self, names: &[&str]) {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", plain(name))).collect();
            self.0 += &format!(
                "\n# These sound as if they only read, but do not say `readOnlyHint: true`, so they are treated as writers: {}\n",
                plain(&names.join(", "))
            );
        }
    }

    /// Tools that a scan speaks of and no server lists.
    pub(super) fn strangers(&mut self, names: &BTreeSet<String>) {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let names = plain(&names.join(", "));
            self.0 += &format!(
                "\n# The scan also speaks of tools that no server lists, and for which there is no rule: {names}\n"
            );
        }
    }

    /// Places that a scan found and no tool is known to reach.
    pub(super) fn elsewhere(&mut self, places: &BTreeSet<String>) {
        if !places.is_empty() {
            self.0 += "\n# The scan also found these, which no tool is known to reach, so that no rule here could help:\n";
            for place in places {
                self.0 += &format!("#   {}\n", plain(place));
            }
        }
    }

    pub(super) fn finish(self) -> String {
        self.0
    }

    fn one<T>(&mut self, name: &str, value: Option<(&Because<T>, String)>) {
        if let Some((because, text)) = value {
            self.line(name, &text, Some(&because.why));
        }
    }

    fn line(&mut self, name: &str, value: &str, why: Option<&str>) {
        self.padded(&format!("{name} = {value}"), why);
    }

    fn padded(&mut self, line: &str, why: Option<&str>) {
        match why {
            Some(why) => self.0 += &format!("{line:<COLUMN$} # {}\n", plain(why)),
            None => self.0 += &format!("{line}\n"),
        }
    }
}

/// One string, or a list of them.
fn list<T: Display>(items: &[T]) -> String {
    if let [only] = items {
        return quoted(only);
    }
    array(items)
}

fn array<T: Display>(items: &[T]) -> String {
    format!("[{}]", items.iter().map(quoted).collect::<Vec<_>>().join(", "))
}

/// A TOML string, in which nothing is filled in from the environment. JSON escapes all that TOML wants escaped but one character.
fn quoted(text: impl Display) -> String {
    let text = text.to_string().replace("${", "$${");
    serde_json::Value::String(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A text that stays in its comment.
fn plain(text: &str) -> String {
    let mut out: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

/// A name for the variable that has a header's value.
fn variable(upstream: &str, header: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("GUARD_{}", format!("{upstream}_{header}").chars().map(letter).collect::<String>())
}
