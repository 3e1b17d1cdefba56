//! The few ways in which text stands out. Without colour all of them are the text itself, so that nothing is said by colour alone.

use anstyle::{AnsiColor, Style};

/// Marks text, or leaves it alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ink {
    colour: bool,
}

impl Ink {
    pub(crate) fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// Whether marking shows.
    pub(crate) fn shows(self) -> bool {
        self.colour
    }

    /// What is looked for.
    pub(crate) fn strong(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    /// What may be passed over.
    pub(crate) fn faint(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// A heading.
    pub(crate) fn heading(self, text: &str) -> String {
        self.with(Style::new().bold().underline(), text)
    }

    /// Words of a program inside a sentence.
    pub(crate) fn code(self, text: &str) -> String {
        self.with(AnsiColor::Cyan.on_default(), text)
    }

    /// What is bad.
    pub(crate) fn alarm(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// What is not good.
    pub(crate) fn warning(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
