//! `cargo xtask soak`: the fault tests for as long as one likes. The same test that takes a few seconds in `cargo xtask test`, told by
//! its environment to go on; every epoch of it is judged, and the end says what was injected and what held.
//!
//! `cargo xtask soak guard` does the same for the guard: more runs of what its tests run a few times.

mod guard;

use anyhow::{Context, Result, bail};

use crate::{root::Root, run::Run};

/// What the command line says.
#[derive(clap::Args)]
pub(crate) struct Soak {
    /// The stores, or the guard
    #[arg(value_enum, default_value_t = What::Stores)]
    what: What,
    /// How often the guard is told to end under load
    #[arg(long, default_value_t = 100)]
    runs: u32,
    /// How many mutations are sent to the guard again and again
    #[arg(long, default_value_t = 10_000)]
    retries: u32,
    /// How long, in minutes, shared by the backends
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// On which backends; all of them unless given
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    backend: Vec<String>,
    /// Which chances to take, so that a run can be told again as far as the machine allows
    #[arg(long)]
    seed: Option<u64>,
}

/// What is broken in every way.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    Stores,
    Guard,
}

/// The test that goes on.
const TEST: &str = "all_at_once::all_faults_at_once_lose_nothing_and_double_nothing";

/// Runs it.
pub(crate) fn run(root: &Root, soak: &Soak) -> Result<()> {
    if soak.what == What::Guard {
        return guard::run(root, soak.runs, soak.retries);
    }
    if soak.minutes == 0 {
        bail!("a soak takes at least one minute; `cargo xtask test` has the short form");
    }
    command(root, soak).go().context("something did not hold; the lines above say what")
}

fn command(root: &Root, soak: &Soak) -> Run {
    let seconds = soak.minutes.saturating_mul(60).to_string();
    let run = Run::new(root, "cargo")
        .args(["test", "--package", "interlock-store", "--test", "faults", "--locked", "--"])
        .args(["--exact", TEST, "--nocapture"])
        .env("INTERLOCK_SOAK_SECONDS", &seconds);
    let run = match soak.seed {
        Some(seed) => run.env("INTERLOCK_SOAK_SEED", &seed.to_string()),
        None => run,
    };
    match soak.backend.as_slice() {
        [] => run,
        names => run.env("INTERLOCK_SOAK_BACKENDS", &names.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Soak {
        Soak { what: What::Stores, runs: 1, retries: 1, minutes: 1, backend: vec![], seed: None }
    }

    #[test]
    fn a_soak_of_no_time_is_refused() {
        let root = Root::find(None, None).unwrap();
        let error = run(&root, &Soak { minutes: 0, ..usual() }).unwrap_err();
        assert!(error.to_string().starts_with("a soak takes at least one minute"), "{error}");
    }

    #[test]
    fn the_test_that_goes_on_is_there() {
        let root = Root::find(None, None).unwrap();
        let (file, test) = TEST.split_once("::").unwrap();
        let text = root.read(&format!("crates/interlock-store/tests/faults/{file}.rs")).unwrap();
        assert!(text.contains(&format!("fn {test}(")), "an unknown name would run nothing and be green");
    }
}
