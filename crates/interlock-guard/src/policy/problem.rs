//! What is wrong with a configuration, and where.

use std::{fmt, ops::Range};

/// Something in a configuration that is wrong, or that will surprise whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1; `None` where it is about the whole.
    pub line: Option<usize>,
    /// How bad it is.
    pub weight: Weight,
    /// What was found, and what to write instead.
    pub what: String,
}

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It holds, but probably not as it was meant.
    Warning,
    /// Nothing of the file holds.
    Error,
}

/// A configuration that is not used, with everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// At least one error, in the order of the lines.
    pub problems: Vec<Problem>,
}

/// A text with the name that people know it by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

impl Source<'_> {
    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().iter().take(span.start);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    pub(super) fn error(&self, span: &Range<usize>, what: impl Into<String>) -> Problem {
        self.at(self.line(span), Weight::Error, what)
    }

    pub(super) fn at(&self, line: usize, weight: Weight, what: impl Into<String>) -> Problem {
        Problem { file: self.file.to_owned(), line: Some(line), weight, what: what.into() }
    }
}

impl Broken {
    /// One error about a whole file.
    pub(super) fn whole(file: &str, what: impl Into<String>) -> Self {
        let problem = Problem { file: file.to_owned(), line: None, weight: Weight::Error, what: what.into() };
        Self { problems: vec![problem] }
    }

    /// Nothing, if there is no error among them; else all of them.
    pub(super) fn unless_fine(mut problems: Vec<Problem>) -> Result<Vec<Problem>, Self> {
        problems.sort_by_key(|problem| problem.line);
        let is_broken = problems.iter().any(|problem| problem.weight == Weight::Error);
        if is_broken { Err(Self { problems }) } else { Ok(problems) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "`{}`, line {line}: {}", self.file, self.what),
            None => write!(f, "`{}`: {}", self.file, self.what),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Broken {}

/// The nearest of some known words, if one is near enough to have been meant.
pub(super) fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let near = known.into_iter().map(|one| (strsim::jaro_winkler(one, word), one));
    near.max_by(|one, other| one.0.total_cmp(&other.0)).filter(|best| best.0 > 0.7).map(|best| best.1)
}
