//! The lexicon: lists of words by which rules read names, as data.
//!
//! `lexicon.toml` has the lists, and says of each how it is compared. A project adds words of its own (`Program::words`); what it cannot do is
//! take any away. What the syntax of a language says is not here but in that language's tables.

use std::{collections::BTreeMap, sync::LazyLock};

use interlock_model::ir::{Name, Program};

use crate::words;

/// Declares the topics, which are the keys of the lists.
macro_rules! topics {
    ($($topic:ident,)*) => {
        /// What a list of words is about; `lexicon.toml` says it in a sentence.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Topic {
            $($topic,)*
        }

        impl Topic {
            const ALL: &'static [Self] = &[$(Self::$topic,)*];
        }
    };
}

topics! {
    AnotherEachTime, Answer, Answers, Asks, Begins, BesideArguments, Bound, Busy, Cache, CacheInMemory, Caller, ChangedAt, ChangesOutside, ChangesRows, ClearsUp, Closes, ClosingFlag, Computes, CutsOff, DoesOnce, Ends,
    ExitsProcess, Failure, FileName, Fingerprint, FoundList, GivesTokens, Handles, Holders, InTransaction, IsFolder, KindOfFile, KindOfThing, LeaseEnd, LeaseOwner, LetsGo, Limit, LimitInitials, Log, LogStream, LooksUp, Maker, NameOfFile, NamesThing, Notes, Nothing,
    Number,
    Once, OwnId, Owner, OwnerTogether, Pauses, Personal, Presence, Reads, Removes, Renewal, RequestWorked, Right, RoleHolder, Scratch, SetsState, Settles, Size, Switch, TellsPeople,
    Temporary, TidiedPath, ToClient, UnderWay, Unguessable, UsedAt, Version, VersionEnding, Waiting, WentWell, WhoCalls, Work, Wrapping,
}

/// Lists of words, one for each topic.
#[derive(Debug, Clone)]
pub struct Lexicon(Vec<Vec<Name>>);

/// Why words cannot be added: there is no list of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTopic {
    /// The name that was asked for.
    pub asked: String,
    /// The names that there are.
    pub known: Vec<String>,
}

static BUILT_IN: LazyLock<Lexicon> = LazyLock::new(|| {
    // That it reads, and has every list, is held by a test.
    let lists: BTreeMap<String, Vec<Name>> = parse(include_str!("lexicon.toml")).unwrap_or_default();
    let list = |topic: &Topic| lists.get(&topic.name()).cloned().unwrap_or_default();
    Lexicon(Topic::ALL.iter().map(list).collect())
});

fn parse(text: &str) -> Result<BTreeMap<String, Vec<Name>>, toml::de::Error> {
    let lists: BTreeMap<String, Vec<String>> = toml::from_str(text)?;
    Ok(lists.into_iter().map(|(topic, words)| (topic, words.into_iter().map(Name::from).collect())).collect())
}

impl Topic {
    fn name(self) -> String {
        words(&format!("{self:?}")).join("-")
    }
}

impl Lexicon {
    /// The lists that come with the catalogue.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The built-in lists with the words that a project adds; `None` where it adds none. What has no list is left out: whoever reads the
    /// project's settings has said so.
    pub(crate) fn extended(words: &BTreeMap<Name, Vec<Name>>) -> Option<Self> {
        if words.is_empty() {
            return None;
        }
        let mut lexicon = Self::built_in().clone();
        for (topic, words) in words {
            let _ = lexicon.extend(topic, words.iter().cloned());
        }
        Some(lexicon)
    }

    /// What names say in a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        Self::extended(&program.words).unwrap_or_else(|| Self::built_in().clone())
    }

    /// Whether a function of a library, by its name, only asks, works something out, or says what happens.
    #[must_use]
    pub fn only_asks(&self, name: &str) -> bool {
        let verb = |topic| self.has_verb_of(topic, name);
        verb(Topic::Asks)
            || verb(Topic::Reads)
            || self.has(Topic::ToClient, name)
            || self.has_word_of(Topic::TellsPeople, name)
    }

    /// Whether a function is, by its name, one by which a server tells its client something or asks it.
    #[must_use]
    pub fn tells_client(&self, name: &str) -> bool {
        self.has(Topic::ToClient, name)
    }

    /// Whether a method is, by its name and that of its object, one by which whoever answers a request does so: `res.end(text)`.
    #[must_use]
    pub fn gives_answer(&self, object: &str, method: &str) -> bool {
        self.has(Topic::Answer, object) && self.has(Topic::Answers, method)
    }

    /// Whether a method is, by its name, one by which somebody lets go of what was opened: `rows.Close()`.
    #[must_use]
    pub fn lets_go(&self, method: &str) -> bool {
        self.has(Topic::LetsGo, method)
    }

    /// Whether a function of a library, by its name, makes the object by which others are reached and reaches nobody yet: `createClient`.
    #[must_use]
    pub fn makes_handle(&self, name: &str) -> bool {
        words(name).last().is_some_and(|word| self.has(Topic::Handles, word))
    }

    /// Whether a function that is called is, by its name, what settles a hand-made promise.
    #[must_use]
    pub fn settles_promise(&self, name: &str) -> bool {
        self.has(Topic::Settles, name)
    }

    /// Whether a method is, by its name, one that runs a statement or changes rows: `cursor.execute(text)`.
    #[must_use]
    pub fn changes_rows(&self, method: &str) -> bool {
        self.has(Topic::ChangesRows, method)
    }

    /// Whether a method of a client, by its name, changes something at the service that it is a client of: `issues.create(…)`.
    #[must_use]
    pub fn changes_outside(&self, method: &str) -> bool {
        self.has_verb_of(Topic::ChangesOutside, method)
    }

    /// Adds words to the list of a topic, by its name in `lexicon.toml`.
    ///
    /// # Errors
    ///
    /// When there is no such list.
    pub fn extend(&mut self, topic: &str, words: impl IntoIterator<Item = Name>) -> Result<(), UnknownTopic> {
        let number = Topic::ALL.iter().position(|known| known.name() == topic);
        match number.and_then(|number| self.0.get_mut(number)) {
            Some(list) => {
                list.extend(words);
                Ok(())
            }
            None => Err(UnknownTopic {
                asked: topic.to_owned(),
                known: Topic::ALL.iter().map(|topic| topic.name()).collect(),
            }),
        }
    }

    /// The words of a topic.
    pub(crate) fn list(&self, topic: Topic) -> &[Name] {
        self.0.get(topic as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether a name is one of the words of a topic.
    pub(crate) fn has(&self, topic: Topic, name: &str) -> bool {
        self.list(topic).iter().any(|word| **word == *name)
    }

    /// Whether one of the words of a name is one of those of a topic.
    pub(crate) fn has_word_of(&self, topic: Topic, name: &str) -> bool {
        words(name).iter().any(|word| self.has(topic, word))
    }

    /// Whether a name has one of the words of a topic anywhere inside, whatever its case.
    pub(crate) fn has_inside(&self, topic: Topic, name: &str) -> bool {
        mentions(name, self.list(topic))
    }

    /// Whether a function or tool is called after one of the verbs of a topic: `Store.clearAll` after `clear`. What is written inside of it
    /// goes by its name.
    pub(crate) fn has_verb_of(&self, topic: Topic, name: &str) -> bool {
        let own = name.rsplit('.').find(|part| *part != "closure").unwrap_or_default();
        words(own).first().is_some_and(|word| self.has(topic, word))
    }
}

/// Whether a name contains one of some words, whatever its case.
pub(crate) fn mentions(name: &str, words: &[impl AsRef<str>]) -> bool {
    if !name.is_ascii() {
        let lower = name.to_lowercase();
        return words.iter().any(|word| lower.contains(word.as_ref()));
    }
    // Most positions begin no word, and one letter tells.
    let name = name.as_bytes();
    (0..name.len()).any(|at| {
        let Some(rest @ [first, ..]) = name.get(at..) else { return false };
        let first = first.to_ascii_lowercase();
        words.iter().map(|word| word.as_ref().as_bytes()).any(|word| {
            word.first() == Some(&first)
                && rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_its_list_and_every_list_its_topic() {
        let lists = parse(include_str!("lexicon.toml")).unwrap();
        let mut topics: Vec<String> = Topic::ALL.iter().map(|topic| topic.name()).collect();
        topics.sort();
        assert_eq!(lists.into_keys().collect::<Vec<_>>(), topics);
        assert!(Topic::ALL.iter().all(|topic| !Lexicon::built_in().list(*topic).is_empty()));
    }

    #[test]
    fn a_function_is_called_after_its_first_word() {
        let lexicon = Lexicon::built_in();
        assert!(lexicon.has_verb_of(Topic::Removes, "Store.clearAll.closure"));
        assert!(lexicon.has_verb_of(Topic::Removes, "revoke_code"));
        assert!(!lexicon.has_verb_of(Topic::Removes, "clear.run"));
    }

    #[test]
    fn a_project_adds_words_to_a_list_and_cannot_add_a_list() {
        let mut lexicon = Lexicon::built_in().clone();
        lexicon.extend("once", ["chit".into()]).unwrap();
        assert!(
            lexicon.has_word_of(Topic::Once, "guest_chit") && lexicon.has_word_of(Topic::Once, "auth_code")
        );
        assert!(!Lexicon::built_in().has_word_of(Topic::Once, "guest_chit"));
        let refused = lexicon.extend("twice", ["chit".into()]).unwrap_err();
        assert!(refused.asked == "twice" && refused.known.contains(&"once".to_owned()));
    }
}
