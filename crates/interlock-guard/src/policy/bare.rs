//! The policy of `guard -- COMMAND`: what keeps a newcomer safe without a line of configuration.

use std::num::NonZeroU32;

use interlock_model::{KeyTemplate, Mode, Rate};

use super::{
    config::Defaults,
    pattern::Pattern,
    rule::{InvalidRule, Rule, quota},
    rules::Rules,
};

/// What the command line says besides the command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bare {
    /// `--lock TOOL=KEY`, each: the tools and the key they hold alone.
    pub locks: Vec<(Pattern, KeyTemplate)>,
    /// `--rate`, per caller over all tools.
    pub rate: Option<Rate>,
    /// `--in-flight`, per caller over all tools.
    pub in_flight: Option<NonZeroU32>,
}

/// The one lock of all tools that do not say they only read.
const ONE_LOCK: &str = "server";

/// How many calls of one caller run at once unless the command line says otherwise: the others wait.
const IN_FLIGHT: NonZeroU32 = NonZeroU32::new(64).expect("it is not zero");

/// Why a text is no `TOOL=KEY`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLock {
    /// There is no `=`.
    #[error("`{0}` is no lock: write TOOL=KEY, such as `edit_*=file:{{args.path}}`")]
    NoKey(String),
    /// The part before it is empty.
    #[error(transparent)]
    Tool(#[from] super::pattern::EmptyPattern),
    /// The part behind it is no key.
    #[error(transparent)]
    Key(#[from] interlock_model::InvalidKey),
}

impl Bare {
    /// Reads `TOOL=KEY`.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn lock(text: &str) -> Result<(Pattern, KeyTemplate), InvalidLock> {
        let (tool, key) = text.split_once('=').ok_or_else(|| InvalidLock::NoKey(text.to_owned()))?;
        Ok((Pattern::new(tool)?, key.parse()?))
    }

    /// The rules: tools without `readOnlyHint: true` share one lock, what only reads holds nothing; locks that were named come after that
    /// and replace it for their tools.
    ///
    /// # Errors
    ///
    /// The rate cannot be kept.
    pub fn rules(&self) -> Result<Vec<Rule>, InvalidRule> {
        let all = || Pattern::new("*").map(|pattern| vec![pattern]);
        let limits = Rule {
            in_flight: Some(Some(self.in_flight.unwrap_or(IN_FLIGHT))),
            rate: self.rate.map(quota).transpose()?.map(Some),
            ..Rule::of(all()?)
        };
        let one_lock = Rule {
            read_only: Some(false),
            lock: Some(vec![KeyTemplate::fixed(ONE_LOCK)]),
            ..Rule::of(all()?)
        };
        let mut rules = vec![limits, one_lock];
        for (pattern, key) in &self.locks {
            // Two keys for one pattern are meant together; as two rules the second would replace the first.
            let same = rules.iter_mut().skip(2).find(|rule| rule.patterns == [pattern.clone()]);
            match same.and_then(|rule| rule.lock.as_mut()) {
                Some(keys) if keys.contains(key) => {}
                Some(keys) => keys.push(key.clone()),
                None => rules.push(Rule { lock: Some(vec![key.clone()]), ..Rule::of(vec![pattern.clone()]) }),
            }
        }
        Ok(rules)
    }
}

impl Rules {
    /// The rules of `guard -- COMMAND`.
    ///
    /// # Errors
    ///
    /// The rate cannot be kept.
    pub fn bare(bare: &Bare) -> Result<Self, InvalidRule> {
        Ok(Self::new(bare.rules()?, Mode::Enforce, Defaults::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks(rules: &Rules, tool: &str, is_read_only: bool) -> Vec<String> {
        let lock = rules.of(tool, is_read_only).lock.clone();
        lock.map(|lock| lock.value.iter().map(ToString::to_string).collect()).unwrap_or_default()
    }

    #[test]
    fn whatever_does_not_say_it_reads_shares_one_lock() {
        let rules = Rules::bare(&Bare::default()).unwrap();
        assert_eq!(locks(&rules, "create_entities", false), ["server"]);
        assert_eq!(locks(&rules, "read_graph", true), [""; 0]);
        let reader = rules.of("read_graph", true);
        assert_eq!((&reader.lock_shared, &reader.observes), (&None, &None));
        assert!(reader.passes_without_store);
        assert!(!rules.of("create_entities", false).passes_without_store);
        assert_eq!(rules.of("x", false).in_flight.as_ref().unwrap().value.get(), 64);
        assert_eq!(rules.of("x", false).rate, None);
    }

    #[test]
    fn a_lock_that_was_named_replaces_the_one_for_its_tools_only() {
        let bare = Bare {
            locks: ["edit_*=file:{args.path}", "edit_*=disk", "edit_*=disk", "read=x"]
                .map(|text| Bare::lock(text).unwrap())
                .into(),
            rate: Some("5/s".parse().unwrap()),
            in_flight: NonZeroU32::new(3),
        };
        let rules = Rules::bare(&bare).unwrap();
        assert_eq!(locks(&rules, "edit_file", false), ["file:{args.path}", "disk"]);
        assert_eq!(locks(&rules, "write_file", false), ["server"]);
        assert_eq!(locks(&rules, "read", true), ["x"]);
        let tool = rules.of("write_file", false);
        assert_eq!((tool.in_flight.as_ref().unwrap().value.get(), tool.rate.is_some()), (3, true));
    }

    #[test]
    fn what_is_no_lock_is_told_how_one_is_written() {
        let refused = |text: &str| Bare::lock(text).unwrap_err().to_string();
        assert_eq!(refused("graph"), "`graph` is no lock: write TOOL=KEY, such as `edit_*=file:{args.path}`");
        assert_eq!(refused("=graph"), "a pattern must not be empty; `*` matches every tool");
        assert_eq!(refused("*="), "a key must not be empty");
        assert_eq!(refused("*={path}"), "`{path}` names no argument: write `{args.NAME}`");
    }
}
