//! What a command does to the world outside, as far as its words tell.
//!
//! Most commands that servers run ask something of the machine they run on, or change it in a way that a repetition leaves as it is:
//! `which`, `git status`, `npm --version`. A few send something to somebody. Which they are stands in `commands.toml`.

use std::sync::LazyLock;

use interlock_model::ir::{Change, Name, Term};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::{Arg, Shape};

/// What is known of programs, by their names. Any of the words will do, and none are needed where the list is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Programs {
    /// Those that send something, and the words that say so.
    sends: FxHashMap<String, Vec<String>>,
    /// Those that leave all as it is, and the first words that say so.
    asks: FxHashMap<String, Vec<String>>,
    /// The words that make any program leave all as it is.
    harmless: Vec<String>,
}

static PROGRAMS: LazyLock<Programs> =
    LazyLock::new(|| toml::from_str(include_str!("commands.toml")).unwrap_or_default());

/// As many words of a command as are looked at.
const MOST_WORDS: usize = 64;

/// Whether a command changes anything outside: the command itself, and what is handed over behind it.
pub(super) fn change(command: &Term, arguments: &[Arg]) -> Change {
    let sends = spelled(command, arguments).split(['&', '|', ';', '\n']).any(sends);
    if sends { Change::Unknown } else { Change::None }
}

/// The program that a command runs and that may change what calls share, in ways that nobody here sees; `None` where it only asks.
pub(super) fn unseen(command: &Term, arguments: &[Arg]) -> Option<Name> {
    let text = spelled(command, arguments);
    // What is written by a redirection is written, whoever says it; `2>&1` and `2>/dev/null` are none.
    let redirects = text.replace("2>&1", "").replace("2>/dev/null", "").contains('>');
    let mut parts = text.split(['&', '|', ';', '\n']).map(str::trim).filter(|part| !part.is_empty());
    let acts = |part: &&str| redirects || !asks(part);
    let part = parts.find(acts)?;
    let program = program_of(part.split_whitespace().next()?);
    Some(if program.contains('?') { "" } else { program }.into())
}

/// The command and its arguments, as one would type them: a list of all words, a list behind the program, or one text behind the other.
fn spelled(command: &Term, arguments: &[Arg]) -> String {
    let mut text = String::new();
    let items = match arguments {
        [Arg { shape: Shape::List(items), .. }, ..] => items.as_slice(),
        [_, Arg { shape: Shape::List(items), .. }, ..] => {
            spell(command, &mut text);
            items.as_slice()
        }
        [_, behind @ ..] if matches!(behind.first().map(|first| &first.shape), Some(Shape::Text(_))) => {
            spell(command, &mut text);
            behind
        }
        _ => {
            spell(command, &mut text);
            &[]
        }
    };
    for item in items.iter().take(MOST_WORDS) {
        // Options and callbacks of the call are not words of the command.
        if matches!(item.shape, Shape::Object(_) | Shape::Function { .. }) {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        match &item.shape {
            Shape::Text(parts) => parts.iter().for_each(|part| spell(part, &mut text)),
            _ => spell(&item.term, &mut text),
        }
    }
    text
}

fn words(command: &str) -> impl Iterator<Item = &str> + Clone {
    command.split_whitespace().take(MOST_WORDS).map(|word| word.trim_matches(['"', '\'']))
}

fn program_of(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn sends(command: &str) -> bool {
    let mut words = words(command);
    let Some(telling) = words.next().and_then(|program| PROGRAMS.sends.get(program_of(program))) else {
        return false;
    };
    telling.is_empty() || words.any(|word| telling.iter().any(|known| known == word) && word != "GET")
}

/// Whether a command leaves all as it is.
fn asks(command: &str) -> bool {
    let mut words = words(command);
    let Some(program) = words.next() else { return true };
    if words.clone().any(|word| PROGRAMS.harmless.iter().any(|known| known == word)) {
        return true;
    }
    let Some(telling) = PROGRAMS.asks.get(program_of(program)) else { return false };
    // What comes before the word that says what to do are options: `git -C PATH status`.
    telling.is_empty() || words.any(|word| telling.iter().any(|known| known == word))
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
        assert_eq!(change(&Term::Literal(command.into()), &[]), expected, "{command}");
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

    fn check_unseen(command: &str, expected: Option<&str>) {
        assert_eq!(unseen(&Term::Literal(command.into()), &[]).as_deref(), expected, "{command}");
    }

    #[test]
    fn who_only_asks_hides_nothing() {
        for command in [
            "npm --version",
            "which node",
            "git -C /srv status --short",
            "cat a.txt | grep b",
            "ls 2>/dev/null",
        ] {
            check_unseen(command, None);
        }
    }

    #[test]
    fn who_may_change_something_is_named() {
        check_unseen("osascript -e 'tell application'", Some("osascript"));
        check_unseen("cd /srv && /usr/bin/git commit -m x", Some("git"));
        check_unseen("cat a.txt > b.txt", Some("cat"));
        assert_eq!(unseen(&Term::Unknown, &[]).as_deref(), Some(""), "which program it is is not known");
    }

    #[test]
    fn words_are_handed_over_in_a_list_or_one_by_one() {
        let word = |word: &str| Arg {
            term: Term::Literal(word.into()),
            values: vec![],
            shape: Shape::Text(vec![Term::Literal(word.into())]),
        };
        let git = Term::Literal("git".into());
        assert_eq!(unseen(&git, &[word("git"), word("status")]), None);
        assert_eq!(unseen(&git, &[word("git"), word("commit")]).as_deref(), Some("git"));
        let list = |words: Vec<Arg>| Arg { term: Term::Unknown, values: vec![], shape: Shape::List(words) };
        assert_eq!(unseen(&git, &[word("git"), list(vec![word("status")])]), None);
        assert_eq!(unseen(&Term::Unknown, &[list(vec![word("git"), word("status")])]), None);
        assert_eq!(change(&Term::Unknown, &[list(vec![word("git"), word("push")])]), Change::Unknown);
    }

    #[test]
    fn what_is_put_together_is_read_as_far_as_it_is_written() {
        let push =
            Term::Join(vec![Term::Literal("git -C ".into()), Term::Unknown, Term::Literal(" push".into())]);
        assert_eq!(change(&push, &[]), Change::Unknown);
        assert_eq!(change(&Term::Unknown, &[]), Change::None);
    }
}
