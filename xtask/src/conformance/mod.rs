//! `cargo xtask conformance`: the official conformance suite, run on real servers directly and through the guard. What a server passes by
//! itself it must pass behind the guard, in both protocol eras; what it fails by itself says nothing about the guard.

mod checks;
mod compare;
mod program;

use std::{
    fs, iter,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};

use self::{
    checks::Scenarios,
    compare::{Comparison, Through},
    program::Program,
};
use crate::{root::Root, run::cargo, servers, target_folder};

/// What the command line says.
#[derive(clap::Args)]
pub(crate) struct Conformance {
    /// A program that is built already, instead of a debug build of this tree
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// A server, and the revisions that it is asked about.
struct Server {
    name: &'static str,
    revisions: &'static [&'static str],
    /// Its arguments to Node, where it serves HTTP on a free port and prints its URL; `{sources}` and `{packages}` are folders.
    http: &'static [&'static str],
    /// The same for stdio.
    stdio: &'static [&'static str],
}

const SERVERS: &[Server] = &[
    Server {
        name: "ours",
        revisions: &["2025-11-25", "2026-07-28"],
        http: &["{sources}/server.mjs", "--listen", "0"],
        stdio: &["{sources}/server.mjs"],
    },
    Server {
        name: "everything",
        revisions: &["2025-11-25"],
        http: &[
            "--import",
            "{sources}/loopback.mjs",
            "{packages}/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
            "streamableHttp",
        ],
        stdio: &["{packages}/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"],
    },
];

/// The scenarios that cannot pass when several clients with a handshake share one process: the server asks its client something, and nothing
/// in its question says which of them it means. `docs/guard.md` tells more.
const SHARED: &[&str] = &[
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    CLOSES,
];

/// Here the server closes the HTTP stream on which its answer would come, and a program behind a pipe has none. The suite finds an answer that
/// is no stream, says that its checks do not apply, and makes none.
const CLOSES: &str = "server-sse-polling";

/// How long all scenarios of one revision may take; one of them alone has the suite's own limit.
const SUITE_TIME: Duration = Duration::from_secs(300);

/// Where things are.
struct Places {
    sources: PathBuf,
    packages: PathBuf,
    results: PathBuf,
    interlock: PathBuf,
}

/// Runs all of it and prints the tables; an error if something that passes directly does not pass through the guard.
pub(crate) fn run(root: &Root, conformance: &Conformance) -> Result<()> {
    let packages = servers::conformance(root)?;
    let results = target_folder::of(root)?.join("conformance");
    let interlock = match &conformance.program {
        Some(program) => program.clone(),
        None => {
            cargo(root, &["build", "--locked", "--package", "interlock"])?;
            target_folder::of(root)?.join("debug/interlock")
        }
    };
    let sources = root.join(&format!("{}/conformance", servers::SOURCES));
    let places = Places { sources, packages, results, interlock };
    if places.results.exists() {
        fs::remove_dir_all(&places.results).context("failed to remove the results of an earlier run")?;
    }
    let mut worse = 0;
    for server in SERVERS {
        for revision in server.revisions {
            let comparison = server
                .ask(revision, &places)
                .with_context(|| format!("failed to ask the server `{}` about {revision}", server.name))?;
            println!("\n{} at {revision}\n{}", server.name, comparison.table());
            worse += comparison.worse();
        }
    }
    ensure!(
        worse == 0,
        "{worse} checks that pass directly do not pass through the guard; what was said is in {}",
        places.results.display()
    );
    Ok(())
}

impl Server {
    /// The suite on this server directly, then on guards in front of it.
    fn ask(&self, revision: &str, places: &Places) -> Result<Comparison> {
        let folder = places.results.join(self.name).join(revision);
        fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
        let suite = |way: &str, program: &Program| places.suite(revision, program.url(), &folder.join(way));
        let server = Program::new(&places.node(), &folder.join("server.log"))
            .args(places.filled(self.http))
            .env("SERVER_MODULES", &places.packages)
            .env("PORT", Path::new("0"))
            .start()?;
        let direct = suite("direct", &server)?;
        ensure!(direct.any_passes(), "no scenario passes directly; see {}", folder.display());

        let far = format!("url = {}", quoted(server.url()));
        let near = self.child(places);
        let nothing: &'static [&'static str] = &[];
        let ways = [
            ("HTTP", "http", far, nothing),
            ("stdio", "stdio", near.clone(), SHARED),
            ("stdio per session", "session", format!("{near}\nsharing = \"per-session\""), &[CLOSES]),
        ];
        let mut through = Vec::new();
        for (name, file, upstream, cannot) in ways {
            let guard = places.guard(&folder.join(format!("{file}.toml")), &upstream)?;
            let scenarios = suite(file, &guard)?;
            guard.end()?;
            through.push(Through { name, scenarios, cannot });
        }
        server.end()?;
        Ok(Comparison { direct, through })
    }

    /// How the guard starts it.
    fn child(&self, places: &Places) -> String {
        let node = places.node().display().to_string();
        let words = iter::once(node).chain(places.filled(self.stdio)).map(|word| quoted(&word));
        let modules = quoted(&places.packages.display().to_string());
        format!(
            "command = [{}]\nenv = {{ SERVER_MODULES = {modules} }}",
            words.collect::<Vec<_>>().join(", ")
        )
    }
}

impl Places {
    /// The Node that the suite needs, from its package; the one of the machine may be older.
    fn node(&self) -> PathBuf {
        self.packages.join("node_modules/.bin/node")
    }

    fn filled(&self, arguments: &[&str]) -> Vec<String> {
        let sources = self.sources.display().to_string();
        let packages = self.packages.display().to_string();
        let fill = |argument: &&str| argument.replace("{sources}", &sources).replace("{packages}", &packages);
        arguments.iter().map(fill).collect()
    }

    /// A guard with one upstream and no rules.
    fn guard(&self, file: &Path, upstream: &str) -> Result<Program> {
        let text = format!("[state]\nurl = \"memory:\"\n\n[[upstream]]\nname = \"server\"\n{upstream}\n");
        fs::write(file, text).with_context(|| format!("failed to write {}", file.display()))?;
        Program::new(&self.interlock, &file.with_extension("log"))
            .args(["guard", "--listen", "127.0.0.1:0", "--config"].map(str::to_owned))
            .args([file.display().to_string()])
            .start()
    }

    /// All scenarios of a revision at one URL. That some fail is no error here.
    fn suite(&self, revision: &str, url: &str, folder: &Path) -> Result<Scenarios> {
        fs::create_dir_all(folder).with_context(|| format!("failed to make {}", folder.display()))?;
        let suite = self.packages.join("node_modules/.bin/conformance").display().to_string();
        let checks = folder.join("checks");
        Program::new(&self.node(), &folder.join("suite.log"))
            .args([suite.as_str(), "server", "--url", url, "--requirements", revision].map(str::to_owned))
            .args(["--output-dir".to_owned(), checks.display().to_string()])
            .run(SUITE_TIME)?;
        checks::read(&checks)
    }
}

/// A text as TOML has it: what JSON escapes, TOML escapes in the same way.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_is_started_with_is_there() {
        let root = Root::find(None, None).unwrap();
        for file in SERVERS.iter().flat_map(|server| server.http.iter().chain(server.stdio)) {
            if let Some(file) = file.strip_prefix("{sources}/") {
                assert!(root.join(&format!("{}/conformance/{file}", servers::SOURCES)).is_file(), "{file}");
            }
        }
    }

    #[test]
    fn folders_are_filled_in() {
        let places = Places {
            sources: "a".into(),
            packages: "b".into(),
            results: PathBuf::new(),
            interlock: PathBuf::new(),
        };
        assert_eq!(places.filled(&["{sources}/x", "{packages}/y", "z"]), ["a/x", "b/y", "z"]);
    }
}
