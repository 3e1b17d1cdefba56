//! What can go wrong with a server, so that nothing can be said about its races.

use std::time::Duration;

/// Why a run came to nothing. Every one of them ends in the verdict *unknown*, with these words.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// It could not be started.
    #[error("`{0}` could not be started: {1}")]
    Start(String, std::io::Error),
    /// What the command starts is not known before it is started.
    #[error("{0}")]
    Unclear(String),
    /// A launcher's package could not be installed.
    #[error("the server could not be fetched: `{0}` failed: {1}")]
    NotFetched(String, String),
    /// A call that might harm something outside of the scratch folder.
    #[error("`{0}` is not called: {1}")]
    Withheld(String, String),
    /// The process has ended, or closed its output.
    #[error("the server ended{0}")]
    Ended(String),
    /// It does not answer.
    #[error("the server did not answer within {} s; --timeout waits longer", .0.as_secs_f32())]
    Silent(Duration),
    /// What it prints is no MCP; how that begins, and what came of it.
    #[error(
        "the server prints on its output what is no message, `{0}`, where only messages may be (logs belong on its error output); {1}"
    )]
    Junk(String, String),
    /// It said no to something it has to know.
    #[error("the server refused `{0}`: {1}")]
    Refused(String, String),
    /// An HTTP status that is no answer.
    #[error("the server answered with HTTP status {0}: {1}")]
    Status(u16, String),
    /// What came back is not HTTP, or not MCP.
    #[error("the server's answer cannot be read: {0}")]
    Unreadable(String),
    /// More than anybody can compare.
    #[error("the server's answer is longer than {} MB", crate::connect::LONGEST >> 20)]
    TooLong,
    /// The command that puts the server back failed.
    #[error("the reset command failed: {0}")]
    Reset(String),
    /// A set-up call was refused, so that the calls would start from nowhere.
    #[error("the set-up call `{0}` was refused: {1}")]
    SetUp(String, String),
    /// A perturbation has no hold on the server after all; without it the server may be as well as ever.
    #[error("the server could not be disturbed: {0}")]
    Loose(std::io::Error),
    /// What one instance did is there in the next, so that nothing can be compared.
    #[error(
        "a fresh instance is not fresh: `{0}` shows what was done on another. Its state has to be in the folder `{{scratch}}`: name a place there in \
         the command or with --env; with --url, --reset has to put all of it back"
    )]
    NotFresh(String),
    /// A call of a tool that is not there; behind it, the ones that are meant perhaps.
    #[error("the server has no tool `{0}`{1}")]
    NoTool(String, String),
    /// Everything was spent before calls could meet; and how long an instance takes to start.
    #[error(
        "finding out what the tools do took all of the {} s, of which an instance takes {:.1} s to start: a larger --budget goes on, --call 'TOOL \
         {{json}}' names calls, and --timeout says how long an answer is waited for",
        .0.as_secs_f32(),
        .1.as_secs_f32()
    )]
    Spent(Duration, Duration),
    /// A pipe, a file, a socket.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
