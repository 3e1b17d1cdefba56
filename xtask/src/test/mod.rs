//! `cargo xtask test`: everything that must be green, in one command. Every part runs, so that one run shows all that is wrong;
//! only missing tools and packages stop it, because what needs them would fail in confusing ways. A part that cannot run has failed.

mod published;
mod summary;
mod tools;

use std::{
    ffi::OsStr,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

pub(crate) use self::published::PUBLISHED;

use crate::{
    generate,
    root::Root,
    run::{Run, cargo},
    servers, tidy,
};

/// What the parts are told.
pub(crate) struct Setting<'a> {
    pub(crate) root: &'a Root,
    /// Whether missing programs may be installed.
    pub(crate) install: bool,
    /// Where programs are looked for, as in `PATH`.
    pub(crate) path: &'a OsStr,
}

/// One part of the run.
struct Part {
    name: &'static str,
    run: fn(&Setting<'_>) -> Result<()>,
    /// Whether its failure ends the run.
    gate: bool,
}

/// How a part ended.
struct Outcome {
    name: &'static str,
    ok: bool,
    time: Duration,
}

/// The parts, in order. Adding one is one line.
const PARTS: &[Part] = &[
    gate("tools", tools::ready),
    gate("servers", |at| servers::ready(at.root, at.install)),
    part("format", |at| cargo(at.root, &["fmt", "--all", "--", "--check"])),
    part("lint", |at| {
        cargo(at.root, &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
    }),
    part("tests", |at| {
        cargo(at.root, &["test", "--workspace", "--all-targets", "--locked", "--no-fail-fast"])
    }),
    part("doctests", |at| cargo(at.root, &["test", "--workspace", "--doc", "--locked"])),
    part("docs", docs),
    part("features", |at| published::features(at.root)),
    part("package", |at| published::package(at.root)),
    part("tidy", |at| tidy::run(at.root)),
    part("generated", |at| generate::check(at.root)),
];

const fn part(name: &'static str, run: fn(&Setting<'_>) -> Result<()>) -> Part {
    Part { name, run, gate: false }
}

const fn gate(name: &'static str, run: fn(&Setting<'_>) -> Result<()>) -> Part {
    Part { name, run, gate: true }
}

fn docs(at: &Setting<'_>) -> Result<()> {
    Run::new(at.root, "cargo")
        .args(["doc", "--workspace", "--no-deps", "--locked"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .go()
}

/// Runs the parts and prints how each ended.
pub(crate) fn run(at: &Setting<'_>) -> Result<()> {
    let outcomes = run_parts(PARTS, at);
    println!("\n{}", summary::summary(&outcomes));
    verdict(&outcomes, PARTS.len())
}

fn run_parts(parts: &[Part], at: &Setting<'_>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for part in parts {
        eprintln!("\n== {}", part.name);
        let start = Instant::now();
        let result = (part.run)(at);
        if let Err(error) = &result {
            eprintln!("{}: {error:#}", part.name);
        }
        let ok = result.is_ok();
        outcomes.push(Outcome { name: part.name, ok, time: start.elapsed() });
        if part.gate && !ok {
            break;
        }
    }
    outcomes
}

/// An error that names what failed. Parts that a gate kept from running count as not green.
fn verdict(outcomes: &[Outcome], planned: usize) -> Result<()> {
    let failed: Vec<&str> =
        outcomes.iter().filter(|outcome| !outcome.ok).map(|outcome| outcome.name).collect();
    let left_out = planned.saturating_sub(outcomes.len());
    if left_out > 0 {
        bail!("{} failed, so the other {left_out} parts were not run", failed.join(", "));
    }
    if !failed.is_empty() {
        bail!("{} of {planned} parts failed: {}", failed.len(), failed.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: fn(&Setting<'_>) -> Result<()> = |_| Ok(());
    const BAD: fn(&Setting<'_>) -> Result<()> = |_| bail!("broken on purpose");

    fn outcomes_of(parts: &[Part]) -> Vec<Outcome> {
        let root = Root::find(None, None).unwrap();
        run_parts(parts, &Setting { root: &root, install: false, path: OsStr::new("") })
    }

    fn check(parts: &[Part], expected: &[(&str, bool)], error: Option<&str>) {
        let outcomes = outcomes_of(parts);
        assert_eq!(outcomes.iter().map(|outcome| (outcome.name, outcome.ok)).collect::<Vec<_>>(), expected);
        assert_eq!(
            verdict(&outcomes, parts.len()).map_err(|error| error.to_string()).err().as_deref(),
            error
        );
    }

    #[test]
    fn a_run_whose_parts_are_all_good_is_good() {
        check(&[gate("tools", GOOD), part("lint", GOOD)], &[("tools", true), ("lint", true)], None);
    }

    #[test]
    fn a_part_runs_although_an_earlier_one_failed() {
        check(
            &[part("format", BAD), part("lint", GOOD), part("tests", BAD)],
            &[("format", false), ("lint", true), ("tests", false)],
            Some("2 of 3 parts failed: format, tests"),
        );
    }

    #[test]
    fn missing_tools_stop_the_run_and_what_was_not_run_is_not_green() {
        check(
            &[gate("tools", BAD), part("lint", GOOD), part("tests", GOOD)],
            &[("tools", false)],
            Some("tools failed, so the other 2 parts were not run"),
        );
    }

    #[test]
    fn what_others_need_comes_first_and_every_part_has_its_own_name() {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        assert_eq!(
            names,
            [
                "tools",
                "servers",
                "format",
                "lint",
                "tests",
                "doctests",
                "docs",
                "features",
                "package",
                "tidy",
                "generated"
            ],
            "the names are what people read in the table and in the documentation"
        );
        assert!(PARTS.iter().all(|part| part.gate == ["tools", "servers"].contains(&part.name)));
    }
}
