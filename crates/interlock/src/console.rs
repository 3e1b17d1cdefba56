//! Where the program writes, and what may be assumed of whoever reads it.
#![expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment is read and people are spoken to"
)]

use std::{
    env,
    io::{self, BufWriter, IsTerminal, Stdout, Write},
};

use anstyle::{AnsiColor, Style};
use clap::builder::StyledStr;

/// The two standard streams, with what is known of their readers.
pub(crate) struct Console {
    /// Not locked for good: a verb that serves on standard output writes to it from elsewhere.
    out: BufWriter<Stdout>,
    look: Look,
    colours_errors: bool,
}

/// How text may look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Whether a person reads it as it is written.
    pub(crate) terminal: bool,
    /// Whether colour is welcome.
    pub(crate) colour: bool,
    /// How many columns prose may take.
    pub(crate) width: usize,
}

/// Beyond this, lines of prose are hard to follow, however wide the window is.
const WIDEST: usize = 100;

impl Console {
    /// The streams of this process. Colour only on a terminal that knows it, and never with `NO_COLOR`.
    pub(crate) fn of_this_process() -> Self {
        let stdout = io::stdout();
        let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let wanted = !set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb");
        let terminal = stdout.is_terminal();
        let width =
            terminal_size::terminal_size_of(&stdout).map_or(WIDEST, |(width, _)| usize::from(width.0));
        let look = Look { terminal, colour: wanted && terminal, width: width.clamp(20, WIDEST) };
        let colours_errors = wanted && io::stderr().is_terminal();
        Self { out: BufWriter::new(stdout), look, colours_errors }
    }

    /// How standard output may look.
    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// Whether a person sees standard error as it is written.
    pub(crate) fn errors_are_seen(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Says something beside the output, which may be for a program.
    pub(crate) fn remark(&mut self, text: &str) {
        let _ = self.flush();
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Writes what the command line's parser has to say, such as help. It would look at the environment by itself; we have done that.
    pub(crate) fn write_styled(&mut self, text: &StyledStr) -> io::Result<()> {
        let text = rendered(text, self.look.colour);
        self.write_all(text.as_bytes())
    }

    /// Says what the parser refuses.
    pub(crate) fn complain_with(&self, text: &StyledStr) {
        let _ = io::stderr().write_all(rendered(text, self.colours_errors).as_bytes());
    }

    /// Says what went wrong, cause by cause. There is nobody left to tell if that fails too.
    pub(crate) fn complain(&mut self, error: &anyhow::Error) {
        let _ = self.flush();
        let red = if self.colours_errors { AnsiColor::Red.on_default().bold() } else { Style::new() };
        let _ = writeln!(io::stderr(), "{red}error:{red:#} {error:#}");
    }
}

fn rendered(text: &StyledStr, colour: bool) -> String {
    if colour { text.ansi().to_string() } else { text.to_string() }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
