//! `interlock guard`: a gateway that makes an unchanged MCP server safe to call in parallel.

#[cfg(target_os = "linux")]
mod entrance;
#[cfg(target_os = "linux")]
mod import;
#[cfg(target_os = "linux")]
mod inherit;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod suggest;
#[cfg(target_os = "linux")]
mod survey;
#[cfg(target_os = "linux")]
mod wire;

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf};

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use super::Verb;
use crate::{console::Console, exit::Exit};

pub(super) const VERB: Verb = Verb { command, run };

/// Put a gateway in front of an MCP server that makes it safe to call in parallel
#[derive(Args)]
#[command(after_help = "Examples:\n  interlock guard -- npx -y @modelcontextprotocol/server-memory\n  \
                  interlock guard --lock '*=graph' --listen 127.0.0.1:8080 -- npx -y @modelcontextprotocol/server-memory\n  \
                  interlock guard --lock 'edit_*=file:{args.path}' --rate 60/min --in-flight 4 -- COMMAND\n  \
                  interlock guard --suggest -- COMMAND > guard.toml\n  \
                  interlock guard --listen 127.0.0.1:8080 --url http://127.0.0.1:3000/mcp\n  \
                  interlock guard --config guard.toml --check --live\n  \
                  interlock guard --import .mcp.json > guard.toml\n\n\
                  Without --config and without --lock, all tools that the server does not mark as read-only share one lock: one of them \
                  runs at a time. Without --listen the guard speaks on standard input and output, in the place of the server. SIGTERM \
                  lets the calls under way finish, a second one does not. A configuration that changes is read again, and so it is on SIGHUP, \
                  with certificates and keys.")]
struct Guard {
    /// Upstreams, rules and all else, from a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["locks", "rate", "in_flight", "url", "command"])]
    config: Option<PathBuf>,
    /// Tools, by name or pattern, and the key that their calls hold alone; {args.NAME} stands for an argument
    #[arg(long = "lock", value_name = "TOOL=KEY")]
    locks: Vec<String>,
    /// How often each caller may call, such as 60/min or 10/s
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// How many calls of each caller may be under way
    #[arg(long, value_name = "N")]
    in_flight: Option<NonZeroU32>,
    /// Where locks and limits are kept: memory:, sqlite:PATH, redis://… or postgres://…
    #[arg(long, value_name = "URL")]
    state: Option<String>,
    /// What must outlive a restart of the store: without this a Redis that writes no append-only file is refused
    #[arg(long, value_enum, value_name = "WHAT")]
    durability: Option<DurabilityName>,
    /// Serve Streamable HTTP at this address instead of stdio; port 0 is any free one
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Serve health, metrics and the live page at this address
    #[arg(long, value_name = "ADDR")]
    admin: Option<SocketAddr>,
    /// Whether rules are carried out, or only decided and written down
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeName>,
    /// The form of what is written to standard error
    #[arg(long, value_enum, default_value_t = LogForm::Text, value_name = "FORM")]
    log: LogForm,
    /// Check the configuration, start nothing
    #[arg(long, requires = "config", conflicts_with_all = ["schema", "import", "suggest"])]
    check: bool,
    /// With --check: also start the servers, or ask those at their URLs, and compare the rules with the tools that they have
    #[arg(long, requires = "check")]
    live: bool,
    /// With --check: also compare the rules with the tools in a saved answer to tools/list, by the names that clients see
    #[arg(long, value_name = "TOOLS.json", requires = "check", conflicts_with = "live")]
    tools: Option<PathBuf>,
    /// Print the JSON Schema of the configuration
    #[arg(long, exclusive = true)]
    schema: bool,
    /// Print a configuration with the servers of an .mcp.json
    #[arg(long, value_name = "FILE", exclusive = true)]
    import: Option<PathBuf>,
    /// Start the server, or ask the one at --url, read its tools, and print a configuration with a reason on each line
    #[arg(long)]
    suggest: bool,
    /// With --suggest: also use what a scan has found, from its JSON report
    #[arg(long, value_name = "SCAN.json", requires = "suggest")]
    from: Option<PathBuf>,
    /// What the process beside a guard does: ends the guard's servers when its input ends
    #[arg(long, exclusive = true, hide = true)]
    end_with_input: bool,
    /// How many milliseconds the calls under way have to finish
    #[arg(long, value_name = "MS", hide = true)]
    grace: Option<u64>,
    /// A server that speaks Streamable HTTP, instead of a command
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// The server's command
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeName {
    /// Refuse, hold back and answer again
    Enforce,
    /// Decide and write down, refuse nothing
    Observe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DurabilityName {
    /// What was granted
    Kept,
    /// Nothing: after a restart a lock may have two holders, and a call with a key may run twice
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogForm {
    /// For people
    Text,
    /// One JSON object on each line
    Json,
}

fn command() -> Command {
    Guard::augment_args(Command::new("guard"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let options = Guard::from_arg_matches(matches)?;
    #[cfg(target_os = "linux")]
    return run::run(&options, console);
    #[cfg(not(target_os = "linux"))]
    anyhow::bail!("guard runs on Linux only; {} was not started", options.command.join(" "))
}
