//! What a rule says: a finding before it has been given its file names, its fingerprint and its remedy.

use interlock_model::{
    Confidence, KeyTemplate, Lane, Reach, Severity, Span,
    ir::{FunctionId, Interleaving, Name},
};

use crate::view::{At, Entry};

/// A place where a hazard stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// How bad, where that is less than the hazard's own severity.
    pub severity: Option<Severity>,
    /// How sure.
    pub confidence: Confidence,
    /// Who can come in between.
    pub reach: Reach,
    /// Where to look.
    pub span: Span,
    /// The function it stands in.
    pub function: FunctionId,
    /// The tools through which a caller gets there.
    pub tools: Vec<Name>,
    /// One sentence: what is lost, and for whom. A report begins it with a capital letter.
    pub message: String,
    /// The interleaving.
    pub witness: Vec<(Lane, Span, String)>,
    /// What the calls meet at, as keys for the guard.
    pub keys: Vec<KeyTemplate>,
    /// What to do about it in the code, where that is something else than what helps against most issues of the hazard.
    pub advice: Option<&'static str>,
}

impl Issue {
    /// An issue at a step of an entry, reported from the function that has all of some steps inside.
    #[must_use]
    pub fn at(
        entry: &Entry<'_>,
        at: At,
        together_with: &[At],
        reach: Reach,
        message: impl Into<String>,
    ) -> Self {
        let all: Vec<At> = together_with.iter().copied().chain([at]).collect();
        let mut message = message.into();
        // Whoever reads it can tell better than a name what the object is.
        if let Some(object) = entry.guessed(&all) {
            message.push_str(&format!("; what `{object}` is was guessed from how it is called"));
        }
        if let Some(why) = entry.doubtful(&all) {
            message.push_str(&format!("; {}", why.as_str()));
        }
        if let Some(way) = entry.way_without_tool(at) {
            message.push_str(&format!("; {way}"));
        }
        // What only meets where the version of a library has calls run side by side may never meet.
        let mut confidence = entry.confidence(&all);
        match entry.interleaving().filter(|_| reach == Reach::InProcess) {
            Some(Interleaving::Perhaps) => confidence = confidence.min(Confidence::Medium),
            Some(Interleaving::OneByOne) => confidence = Confidence::Low,
            _ => {}
        }
        Self {
            severity: None,
            confidence,
            reach,
            span: entry.position(at, together_with),
            function: entry.home(&all),
            tools: entry.tools(),
            message,
            witness: vec![],
            keys: vec![],
            advice: None,
        }
    }

    /// One more step of the witness, reported from the same function as the issue.
    #[must_use]
    pub fn step(mut self, lane: Lane, span: Span, words: impl Into<String>) -> Self {
        self.witness.push((lane, span, words.into()));
        self
    }

    /// What to do about it, where the usual advice would not fit.
    #[must_use]
    pub const fn advise(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }

    /// At most this sure.
    #[must_use]
    pub fn no_surer_than(mut self, confidence: Confidence) -> Self {
        self.confidence = self.confidence.min(confidence);
        self
    }

    /// Less bad than the hazard at its worst.
    #[must_use]
    pub fn only(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }
}
