//! One run of `interlock prove` on a server, and what it said.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::rows::{Places, Row, Transport};

/// The program, and where the things are that commands name.
pub(super) struct Prover {
    pub(super) program: String,
    pub(super) places: Places,
}

/// What prove said.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub(super) verdict: String,
    /// Concurrent runs of the set that decided, up to the one that showed the race: those that showed it again do not count.
    pub(super) trials: u64,
    /// Concurrent runs of all sets.
    pub(super) all_trials: u64,
    pub(super) reason: String,
    /// In how many of how many further runs it happened again.
    pub(super) again: (u64, u64),
    pub(super) seconds: f64,
    /// How many orders of a server's operations were walked, whether they are all there are, and the seconds without starting servers.
    pub(super) walked: (u64, bool, f64),
    /// The calls that decided, as prove would have to be told them.
    pub(super) calls: Vec<String>,
}

/// A server on loopback that ends with this, its folder with it.
struct Running {
    child: Child,
    url: String,
    _data: tempfile::TempDir,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prover {
    /// Proves a server of the table, or its twin.
    pub(super) fn on(&self, row: &Row, fixed: bool, told: &[String], flags: &[&str]) -> Result<Said> {
        let mut command = self.places.fill(&row.command);
        if fixed {
            command.push("--fixed".to_owned());
        }
        let mut flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        flags.extend_from_slice(told);
        match row.transport {
            Transport::Stdio => {
                flags.push("--env".to_owned());
                flags.push(self.modules().join("="));
                self.prove(&flags, &command)
            }
            Transport::Http => {
                let running = self.start(&command)?;
                let reset = self.places.servers.join("reset.sh");
                flags.extend(["--url".to_owned(), running.url.clone(), "--reset".to_owned()]);
                flags.push(format!("'{}' '{}'", reset.display(), running.url));
                self.prove(&flags, &[])
            }
        }
    }

    /// Proves whatever the command starts.
    pub(super) fn prove(&self, flags: &[String], command: &[String]) -> Result<Said> {
        let start = Instant::now();
        let mut prove = Command::new(&self.program);
        prove.args(["prove", "--format", "json"]).args(flags);
        if !command.is_empty() {
            prove.arg("--").args(command);
        }
        let output = prove
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .with_context(|| format!("{prove:?} could not be started"))?;
        let seconds = start.elapsed().as_secs_f64();
        if !matches!(output.status.code(), Some(0 | 1 | 3)) {
            bail!("{prove:?} failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        }
        if output.stdout.is_empty() {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Ok(Said { verdict: "unknown".to_owned(), reason, seconds, ..Said::default() });
        }
        let report = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{prove:?} did not write JSON"))?;
        Said::read(&report, seconds)
    }

    fn start(&self, command: &[String]) -> Result<Running> {
        let data = tempfile::tempdir().context("failed to make a folder for a server")?;
        let scratch = data.path().display().to_string();
        let words: Vec<String> = command.iter().map(|word| word.replace("{scratch}", &scratch)).collect();
        let (program, arguments) = words.split_first().context("a command has a program")?;
        let [name, value] = self.modules();
        let mut child = Command::new(program)
            .args(arguments)
            .args(["--listen", "0"])
            .env(name, value)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{program} could not be started"))?;
        let output = child.stdout.take();
        let mut running = Running { child, url: String::new(), _data: data };
        if let Some(output) = output {
            BufReader::new(output).read_line(&mut running.url).context("a server did not say its URL")?;
        }
        running.url = running.url.trim().to_owned();
        ensure!(running.url.starts_with("http://127.0.0.1:"), "{words:?} ended before it said its URL");
        Ok(running)
    }

    /// Where the Node servers find their packages.
    fn modules(&self) -> [String; 2] {
        ["SERVER_MODULES".to_owned(), self.places.installed.join("node").display().to_string()]
    }
}

impl Said {
    fn read(report: &Value, seconds: f64) -> Result<Self> {
        let text = |at: &str| report.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let verdict = text("/verdict").context("the report has no verdict")?;
        let all_trials = report
            .pointer("/explored/trials")
            .and_then(Value::as_u64)
            .context("the report does not say how many trials there were")?;
        let sets = report.get("sets").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let decided = sets.iter().find(|set| set.get("verdict").and_then(Value::as_str) == Some(&verdict));
        let of_set = |at: &str| decided.and_then(|set| set.pointer(at));
        let number = |at: &str| of_set(at).and_then(Value::as_u64);
        let again =
            (number("/evidence/again/times").unwrap_or(0), number("/evidence/again/runs").unwrap_or(0));
        let explored = |at: &str| report.get("explored").and_then(|explored| explored.get(at));
        let of_all = |at: &str| explored(at).and_then(Value::as_u64).unwrap_or_default();
        let walked = Duration::from_nanos(of_all("walked_ns"));
        let exhausted = explored("exhausted").and_then(Value::as_bool).unwrap_or_default();
        Ok(Self {
            walked: (of_all("schedules"), exhausted, walked.as_secs_f64()),
            trials: number("/explored/trials").unwrap_or(all_trials).saturating_sub(again.1),
            all_trials: all_trials.saturating_sub(again.1),
            reason: of_set("/reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
            again,
            calls: decided.map(told).unwrap_or_default(),
            verdict,
            seconds,
        })
    }
}

/// A set of calls as flags.
fn told(set: &Value) -> Vec<String> {
    let mut flags = Vec::new();
    for (flag, part) in [("--setup", "setup"), ("--call", "calls"), ("--read", "reads")] {
        for call in set.get(part).and_then(Value::as_array).into_iter().flatten() {
            let tool = call.get("tool").and_then(Value::as_str).unwrap_or_default();
            let arguments = call.get("arguments").filter(|value| value.is_object());
            let arguments = arguments.map_or_else(|| "{}".to_owned(), Value::to_string);
            flags.extend([flag.to_owned(), format!("{tool} {arguments}")]);
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_counts_is_the_set_that_decided_up_to_the_run_that_showed_it() {
        let report = json!({
            "verdict": "broken",
            "explored": {"trials": 14, "schedules": 20, "walked_ns": 1_500_000_000, "exhausted": true},
            "sets": [
                {"verdict": "held", "reason": "fine", "explored": {"trials": 6}},
                {"verdict": "broken", "reason": "lost", "explored": {"trials": 8},
                 "evidence": {"again": {"times": 4, "runs": 5}}},
            ],
        });
        let said = Said::read(&report, 1.5).unwrap();
        assert_eq!((said.trials, said.all_trials, said.reason.as_str()), (3, 9, "lost"));
        assert_eq!(said.again, (4, 5));
        assert_eq!(said.walked, (20, true, 1.5));
    }

    #[test]
    fn the_calls_that_decided_can_be_told_again() {
        let call = |tool: &str| json!({"tool": tool, "arguments": {"a": 1}});
        let set = json!({"setup": [], "calls": [call("x"), call("x")], "reads": [{"tool": "y", "arguments": null}]});
        assert_eq!(told(&set).join(" "), r#"--call x {"a":1} --call x {"a":1} --read y {}"#);
    }

    #[test]
    fn a_report_without_a_verdict_is_no_report() {
        assert!(Said::read(&json!({"explored": {"trials": 1}}), 0.0).is_err());
    }
}
