//! `interlock prove`: whether calls get in each other's way, shown on the live server.

#[cfg(target_os = "linux")]
pub(super) mod apart;
#[cfg(target_os = "linux")]
pub(super) mod progress;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod save;
#[cfg(target_os = "linux")]
pub(super) mod target;
pub(super) mod words;

use std::{path::PathBuf, time::Duration};

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use super::Verb;
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Show race conditions on a live MCP server, by calls that meet
#[derive(Args)]
#[command(
    after_help = "Examples:\n  interlock prove --env MEMORY_FILE_PATH={scratch}/memory.json -- npx -y @modelcontextprotocol/server-memory\n  \
                  interlock prove --setup 'write_file {\"path\":\"{scratch}/a\",\"content\":\"one two\"}' \\\n    \
                  --call 'edit_file {…}' --call 'edit_file {…}' --read 'read_text_file {…}' -- COMMAND {scratch}\n  \
                  interlock prove --url http://127.0.0.1:8080/mcp --reset ./reset.sh\n  \
                  interlock prove --replay interlock-replay.json\n\n\
                  The same calls run one after another, in every order, on fresh instances of the server; then together. What comes of \
                  it together and in no order is a race. `{scratch}` is a fresh, empty folder for each instance, \
                  and the server's current folder and home; the kernel refuses it to write elsewhere and to use the network, where it \
                  can, and the report says first where it cannot."
)]
struct Prove {
    /// Sets of calls to try, in a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["calls", "replay"])]
    plan: Option<PathBuf>,
    /// A call that is made first on each instance
    #[arg(long = "setup", value_name = "TOOL {json}", requires = "calls")]
    setup: Vec<String>,
    /// A call that meets the others; name at least two, or one to see whether it meets itself
    #[arg(long = "call", value_name = "TOOL {json}", conflicts_with = "replay")]
    calls: Vec<String>,
    /// A call that shows the state afterwards
    #[arg(long = "read", value_name = "TOOL {json}", requires = "calls")]
    reads: Vec<String>,
    /// What must be true of every outcome, as an expression: `succeeded <= 1`; docs/invariants.md explains them
    #[arg(long = "invariant", value_name = "EXPRESSION", requires = "calls")]
    invariants: Vec<String>,
    /// How many concurrent runs each set of calls gets, or a replay
    #[arg(long, value_name = "N")]
    trials: Option<u32>,
    /// How long to look
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = words::time)]
    budget: Duration,
    /// How long to wait for an answer
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = words::time)]
    timeout: Duration,
    /// How many calls to make
    #[arg(long, value_name = "N", default_value_t = 2000)]
    max_calls: u64,
    /// Go on after the first race, to the other sets of calls
    #[arg(long)]
    all: bool,
    /// Also call tools that look as if they could destroy something or reach out, where the kernel does not refuse it
    #[arg(long)]
    allow_destructive: bool,
    /// Send calls that meet to two processes on one {scratch}, as two clients have them
    #[arg(long, conflicts_with_all = ["url", "plan", "from", "replay"])]
    two_processes: bool,
    /// A folder of which every instance of the server finds a copy in {scratch}
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "in_place"])]
    seed: Option<PathBuf>,
    /// Run the server in the current folder with your home, and let it write there
    #[arg(long, conflicts_with = "url")]
    in_place: bool,
    /// With --in-place: do not ask
    #[arg(long, requires = "in_place")]
    yes: bool,
    /// Let the server have the network, and the services and sockets of this machine
    #[arg(long, conflicts_with = "url")]
    network: bool,
    /// Do as if the kernel did not have these: landlock, mounts, network, connections
    #[arg(long, hide = true, value_name = "LAYER", value_delimiter = ',')]
    kernel_without: Vec<String>,
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to a file, whole or not at all, instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run a saved race again; the command may be left out, it is saved too
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Where to save a race that was shown, for --replay
    #[arg(long, value_name = "FILE", default_value = "interlock-replay.json")]
    save: PathBuf,
    /// Save nothing
    #[arg(long)]
    no_save: bool,
    /// Try what a scan has found, from its JSON report
    #[arg(long, value_name = "SCAN.json", conflicts_with_all = ["plan", "calls", "replay"])]
    from: Option<PathBuf>,
    /// With --from: write the scan's report again, with what was proved of each finding
    #[arg(long, value_name = "FILE", requires = "from")]
    merge: Option<PathBuf>,
    /// Added to the server's environment
    #[arg(long = "env", value_name = "K=V")]
    env: Vec<String>,
    /// A server that runs already, over Streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with = "command", requires = "reset")]
    url: Option<String>,
    /// A shell command that puts the server at --url back to its first state
    #[arg(long, value_name = "COMMAND", requires = "url")]
    reset: Option<String>,
    /// Sent with every request to --url
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url")]
    headers: Vec<String>,
    /// Call a server that is not on this machine
    #[arg(long)]
    i_own_this_server: bool,
    /// Show no progress, even on a terminal
    #[arg(long)]
    no_progress: bool,
    /// The server's command
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal, with a timeline
    Text,
    /// For programs
    Json,
    /// One page with pictures, for a browser
    Html,
    /// For chrome://tracing and Perfetto
    Trace,
    /// The calls, for --plan: what was learnt of the server, to be corrected
    Plan,
}

fn command() -> Command {
    Prove::augment_args(Command::new("prove"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let options = Prove::from_arg_matches(matches)?;
    #[cfg(target_os = "linux")]
    return run::run(&options, console);
    #[cfg(not(target_os = "linux"))]
    anyhow::bail!("prove runs on Linux only; {} was not started", options.command.join(" "))
}
