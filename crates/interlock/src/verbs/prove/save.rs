//! Replays: what was shown is written down, and read again.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use interlock_model::{Fingerprint, ProofReport, Report};
use interlock_prove::Target;
use interlock_report::{
    json,
    proof::{
        self,
        replay::{self, Replay},
    },
};
use interlock_scan::replace;

use super::Prove;

/// Reads a replay.
pub(super) fn read(path: &Path) -> Result<Replay> {
    let size = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    if size > replay::LARGEST as u64 {
        return Err(replay::ReadError::Large(usize::try_from(size).unwrap_or(usize::MAX)).into());
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    replay::from_text(&text).with_context(|| format!("{} is no replay", path.display()))
}

/// Saves each race that was shown, and notes in the report where. The first gets the name that was asked for.
pub(super) fn write(options: &Prove, target: &Target, report: &mut ProofReport) -> Result<()> {
    if options.no_save || options.replay.is_some() {
        return Ok(());
    }
    let place = saved(target);
    let mut number = 0;
    for set in &mut report.sets {
        let Some(evidence) = &mut set.evidence else { continue };
        number += 1;
        let path = if number == 1 { options.save.clone() } else { numbered(&options.save, number) };
        let replay = Replay {
            target: place.clone(),
            set: set.set.clone(),
            schedule: evidence.schedule.clone(),
            observed: Some(evidence.observed.clone()),
        };
        let text = replay::to_text(&replay)?;
        replace(&path, text.as_bytes())
            .with_context(|| format!("cannot save the replay to {}", path.display()))?;
        evidence.replay = Some(path.display().to_string());
    }
    Ok(())
}

/// `replay.json`, `replay-2.json`.
fn numbered(path: &Path, number: usize) -> std::path::PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{ending}"))
}

/// What is said of the server in a file that may be handed on: values that speak of the scratch folder, and no others.
fn saved(target: &Target) -> replay::Target {
    match target {
        Target::Command { command, environment, .. } => {
            let kept = |(name, value): (&String, &String)| {
                (name.clone(), value.contains("{scratch}").then(|| value.clone()))
            };
            replay::Target::Command {
                command: command.clone(),
                environment: environment.iter().map(kept).collect(),
            }
        }
        Target::Url { reset, .. } => replay::Target::Url { url: target.name(), reset: Some(reset.clone()) },
    }
}

/// Reads the JSON report of a scan.
pub(super) fn scan(path: &Path) -> Result<Report> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    json::read(&text).with_context(|| format!("{} is no report of a scan", path.display()))
}

/// Writes a scan's report with what was proved: of several sets for one finding, the worst counts.
pub(super) fn merge(
    mut scan: Report,
    report: &ProofReport,
    findings: &[Vec<Fingerprint>],
    path: &Path,
) -> Result<()> {
    proof::merge(&mut scan, report, findings);
    Ok(replace(path, json::write(&scan).as_bytes())?)
}
