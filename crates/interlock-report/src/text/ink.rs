//! The few ways in which text stands out. Without colour all of them are the text itself.

use anstyle::{AnsiColor, Style};
use interlock_model::{Grade, Verdict};

/// Marks text, or leaves it alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ink {
    colour: bool,
}

impl Ink {
    pub(crate) fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// What leads the eye.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// What may be passed over.
    pub(crate) fn faint(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// What went wrong.
    pub(crate) fn alarm(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// A line that comes in.
    pub(crate) fn added(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    /// A line that goes.
    pub(crate) fn removed(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default(), text)
    }

    /// In the colour of a grade, or of none.
    pub(crate) fn grade(self, text: &str, grade: Option<Grade>) -> String {
        let colour = match grade {
            Some(Grade::A | Grade::B) => AnsiColor::Green,
            Some(Grade::C | Grade::D) | None => AnsiColor::Yellow,
            Some(Grade::F) => AnsiColor::Red,
        };
        self.with(colour.on_default().bold(), text)
    }

    /// In the colour of a verdict.
    pub(crate) fn verdict(self, text: &str, verdict: Verdict) -> String {
        let colour = match verdict {
            Verdict::Held => AnsiColor::Green,
            Verdict::Unknown | Verdict::Latent => AnsiColor::Yellow,
            Verdict::Broken => AnsiColor::Red,
        };
        self.with(colour.on_default().bold(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
