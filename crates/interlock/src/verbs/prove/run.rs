//! From the command line to the report.

use std::{fs, io::Write, sync::Arc};

use anyhow::{Context, Result, bail};
use interlock_model::{CallSet, ProofReport, Report, Verdict};
use interlock_prove::{
    Ask, Budget, Patience, Proved, Request, in_processes,
    perturb::{self, Perturb},
    plan::{self, from::Found},
    prove, replay,
};
use interlock_report::{proof, text};
use interlock_scan::replace;

use super::{
    Format, Prove,
    apart::{self, Apart},
    progress::Line,
    save, target,
};
use crate::{console::Console, ending::Ending, exit::Exit};

/// How wide text is in a file.
const FILE_WIDTH: usize = 100;
/// How often a replay is run if nobody says so.
const REPLAYS: u32 = 5;

pub(super) fn run(options: &Prove, console: &mut Console) -> Result<Exit> {
    let saved = options.replay.as_deref().map(save::read).transpose()?;
    let target = target::target(options, saved.as_ref().map(|saved| &saved.target))?;
    let scanned = options.from.as_deref().map(save::scan).transpose()?;
    let ask = if saved.is_some() { Ask::Sets(Vec::new()) } else { ask(options, scanned.as_ref())? };
    apart::ask(options, &target, console)?;
    if let Some(seed) = options.seed.as_deref().filter(|seed| !seed.is_dir()) {
        bail!("--seed: {} is no folder", seed.display());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    // Before anything is started or any folder made. Whoever is dropped ends its children and removes its folders, so an interrupt is only
    // a matter of stopping.
    let mut ending = runtime.block_on(async { Ending::with_terminal() })?;
    let helper = apart::helper()?;
    let kernel = runtime.block_on(async {
        tokio::select! {
            kernel = apart::probe(helper.clone(), &target) => Some(kernel),
            () = ending.asked() => None,
        }
    });
    let Some(kernel) = kernel else {
        drop(runtime);
        bail!("interrupted; nothing was started yet")
    };
    let apart = Apart::new(options, &target, helper, kernel);
    let perturbations: Vec<Arc<dyn Perturb>> = perturb::all(&target::inherited());
    let usual = if saved.is_some() { REPLAYS } else { Budget::default().trials };
    let request = Request {
        target: target.clone(),
        ask,
        isolation: Arc::clone(&apart.isolation),
        restraint: Arc::clone(&apart.restraint),
        perturbations,
        budget: Budget {
            time: options.budget,
            calls: options.max_calls,
            trials: options.trials.unwrap_or(usual),
            ..Budget::default()
        },
        // A server that is slow to answer is slow to start as well.
        patience: Patience { answer: options.timeout, start: Patience::default().start.max(options.timeout) },
        // Every finding wants its own verdict.
        all: options.all || options.from.is_some(),
        side_by_side: std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 4),
    };
    let line = Line::new(console.errors_are_seen() && !options.no_progress);
    let outcome = runtime.block_on(async {
        tokio::select! {
            report = async {
                match saved {
                    Some(saved) => {
                        let report = replay(request, saved.set, saved.schedule, &line).await;
                        report.map(|report| Proved { report, findings: Vec::new() })
                    }
                    None => prove(request, &line).await,
                }
            } => Some(report),
            () = ending.asked() => None,
        }
    });
    drop(runtime);
    drop(line);
    let changes = apart.changes();
    let Some(outcome) = outcome else {
        apart.complain_of(&changes, console);
        bail!("interrupted; every server that was started is ended")
    };
    let Proved { mut report, findings } = match outcome {
        Ok(proved) => proved,
        Err(trouble) => {
            for line in &apart.restraint.isolation().said {
                console.remark(line);
            }
            console.remark(&format!("unknown: {trouble}"));
            apart.complain_of(&changes, console);
            return Ok(if changes.of_server.is_empty() { Exit::Nothing } else { Exit::Failed });
        }
    };
    report.notes.extend(changes.notes.iter().cloned());
    report.isolation.changed.clone_from(&changes.of_server);
    save::write(options, &target, &mut report)?;
    if let (Some(scan), Some(path)) = (scanned, &options.merge) {
        save::merge(scan, &report, &findings, path)?;
    }
    output(options, &report, console)?;
    if !report.isolation.changed.is_empty() {
        apart.complain_of(&changes, console);
        return Ok(Exit::Failed);
    }
    Ok(match report.verdict {
        Verdict::Held => Exit::Clean,
        Verdict::Latent | Verdict::Broken => Exit::Found,
        Verdict::Unknown => Exit::Nothing,
    })
}

fn ask(options: &Prove, scanned: Option<&Report>) -> Result<Ask> {
    if let Some(path) = &options.plan {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        return Ok(Ask::Sets(
            plan::file::sets(&text).with_context(|| format!("{} is no plan", path.display()))?,
        ));
    }
    if let Some(report) = scanned {
        return Ok(Ask::Findings { findings: report.findings.iter().map(Found::of).collect() });
    }
    if options.calls.is_empty() {
        return Ok(if options.two_processes { Ask::Between } else { Ask::Survey });
    }
    let read =
        |texts: &[String]| texts.iter().map(|text| plan::spec::call(text)).collect::<Result<Vec<_>, _>>();
    let mut calls = read(&options.calls)?;
    if let [only] = calls.as_slice() {
        // One call named: does it meet itself?
        calls.push(only.clone());
    }
    for invariant in &options.invariants {
        plan::invariant::Invariant::compile(invariant)?;
    }
    let set = CallSet {
        name: plan::name_of(&calls),
        setup: read(&options.setup)?,
        reads: read(&options.reads)?,
        invariants: options.invariants.clone(),
        calls,
        ..CallSet::default()
    };
    Ok(Ask::Sets(vec![if options.two_processes { in_processes(set) } else { set }]))
}

fn output(options: &Prove, report: &ProofReport, console: &mut Console) -> Result<()> {
    let look = console.look();
    let look = match options.output {
        Some(_) => text::Look { colour: false, width: FILE_WIDTH, all: true },
        None => text::Look { colour: look.colour, width: look.width, all: true },
    };
    let remedy = |id: &interlock_model::HazardId| {
        interlock_hazards::find(id.as_str()).map(|hazard| hazard.example_remedy().code)
    };
    let written = match options.format {
        Format::Text => proof::text::write(report, &remedy, look),
        Format::Json => proof::json::write(report),
        Format::Html => proof::html::write(report, &remedy),
        Format::Trace => proof::trace::write(report),
        Format::Plan => proof::plan::write(report),
    };
    match &options.output {
        Some(path) => Ok(replace(path, written.as_bytes())?),
        None => Ok(console.write_all(written.as_bytes())?),
    }
}
