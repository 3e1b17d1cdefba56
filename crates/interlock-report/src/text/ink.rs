//! The few ways in which text stands out. Without colour all of them are the text itself.

use anstyle::{AnsiColor, Style};
use interlock_model::Grade;

/// Marks text, or leaves it alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ink {
    colour: bool,
}

impl Ink {
    pub(super) fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// What leads the eye.
    pub(super) fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// What may be passed over.
    pub(super) fn faint(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// What went wrong.
    pub(super) fn alarm(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// A line that comes in.
    pub(super) fn added(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    /// A line that goes.
    pub(super) fn removed(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default(), text)
    }

    /// In the colour of a grade.
    pub(super) fn grade(self, text: &str, grade: Grade) -> String {
        let colour = match grade {
            Grade::A | Grade::B => AnsiColor::Green,
            Grade::C | Grade::D => AnsiColor::Yellow,
            Grade::F => AnsiColor::Red,
        };
        self.with(colour.on_default().bold(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
