//! What a command does to the world outside, as far as its words tell.
//!
//! Most commands that servers run ask something of the machine they run on, or change it in a way that a repetition leaves as it is:
//! `which`, `git status`, `npm --version`. A few send something to somebody.

use interlock_model::ir::{Change, Term};

use crate::{Arg, Shape};

/// Programs that send, and the words that say so; any of them will do, and none are needed where the list is empty.
const SENDERS: &[(&str, &[&str])] = &[
    ("aws", &["publish", "send-email", "send-message", "invoke", "run-instances"]),
    ("cargo", &["publish"]),
    ("curl", &["-X", "--request", "-d", "--data", "--data-raw", "--data-binary", "--json", "-F", "--form"]),
    ("docker", &["push"]),
    ("gh", &["create", "comment", "merge", "review", "dispatch", "run"]),
    ("git", &["push", "send-email"]),
    ("glab", &["create", "note", "merge"]),
    ("mail", &[]),
    ("mutt", &[]),
    ("npm", &["publish"]),
    ("pnpm", &["publish"]),
    ("sendmail", &[]),
    ("stripe", &["create", "confirm", "capture", "post"]),
    ("wget", &["--post-data", "--post-file"]),
    ("yarn", &["publish"]),
];

/// As many words of a command as are looked at.
const MOST_WORDS: usize = 64;

/// Whether a command changes anything outside: the command itself, and its arguments where they are a list.
pub(super) fn change(command: &Term, arguments: Option<&Arg>) -> Change {
    let mut text = String::new();
    spell(command, &mut text);
    if let Some(Shape::List(items)) = arguments.map(|arguments| &arguments.shape) {
        for item in items.iter().take(MOST_WORDS) {
            text.push(' ');
            match &item.shape {
                Shape::Text(parts) => parts.iter().for_each(|part| spell(part, &mut text)),
                _ => spell(&item.term, &mut text),
            }
        }
    }
    let sends = text.split(['&', '|', ';', '\n']).any(sends);
    if sends { Change::Unknown } else { Change::None }
}

fn sends(command: &str) -> bool {
    let mut words = command.split_whitespace().take(MOST_WORDS).map(|word| word.trim_matches(['"', '\'']));
    let Some(program) = words.next() else { return false };
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let Some((_, telling)) = SENDERS.iter().find(|(known, _)| *known == program) else { return false };
    telling.is_empty() || words.any(|word| telling.contains(&word) && word != "GET")
}

fn spell(term: &Term, text: &mut String) {
    match term {
        Term::Literal(literal) => text.push_str(literal),
        Term::Join(parts) => parts.iter().for_each(|part| spell(part, text)),
        // Something is there, whatever it is.
        _ => text.push('?'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, expected: Change) {
        assert_eq!(change(&Term::Literal(command.into()), None), expected, "{command}");
    }

    #[test]
    fn a_question_changes_nothing() {
        for command in
            ["npm --version", "which node", "git status --short", "git log -1", "curl https://a.example"]
        {
            check(command, Change::None);
        }
    }

    #[test]
    fn what_sends_may_send_twice() {
        for command in [
            "git push origin main",
            "cd /srv && git push",
            "/usr/bin/curl -X POST https://a.example",
            "gh pr create --fill",
            "sendmail -t",
        ] {
            check(command, Change::Unknown);
        }
    }

    #[test]
    fn what_is_put_together_is_read_as_far_as_it_is_written() {
        let push =
            Term::Join(vec![Term::Literal("git -C ".into()), Term::Unknown, Term::Literal(" push".into())]);
        assert_eq!(change(&push, None), Change::Unknown);
        assert_eq!(change(&Term::Unknown, None), Change::None);
    }
}
