//! The report in the form and at the place that was asked for.

use std::{io::Write, path::PathBuf};

use anyhow::Result;
use interlock_hazards::{ALL, Hazard};
use interlock_report::{Rule, github, json, markdown, sarif, text};
use interlock_scan::{Scanned, fix::Fix, replace};

use super::{Colour, Format, Scan, findings};
use crate::console::Console;

/// How wide text is in a file.
const FILE_WIDTH: usize = 100;

/// Writes the report.
pub(super) fn output(options: &Scan, scanned: &Scanned, console: &mut Console) -> Result<()> {
    put(options, &render(options, scanned, look(options, console)), console)
}

/// Writes the repairs. Where no person looks on, every character is as it is in the source, so that the diff can be applied.
pub(super) fn diff(options: &Scan, fixes: &[Fix], console: &mut Console) -> Result<()> {
    let diff: String = fixes.iter().map(Fix::diff).collect();
    let look = look(options, console);
    let shown = if look.colour || options.output.is_none() && console.look().terminal {
        text::patch(&diff, look)
    } else {
        diff
    };
    put(options, &shown, console)
}

/// Writes the names of files, each on a line.
pub(super) fn files(options: &Scan, files: &[PathBuf], console: &mut Console) -> Result<()> {
    let lines = files.iter().map(|file| text::line(&file.to_string_lossy()) + "\n");
    put(options, &lines.collect::<String>(), console)
}

/// How text may look where it goes.
fn look(options: &Scan, console: &Console) -> text::Look {
    let look = console.look();
    let (colour, width) = match &options.output {
        Some(_) => (false, FILE_WIDTH),
        None => (look.colour, look.width),
    };
    let colour = match options.color {
        Colour::Auto => colour,
        Colour::Always => true,
        Colour::Never => false,
    };
    text::Look { colour, width, all: options.all }
}

/// Writes a text where the output goes.
pub(super) fn put(options: &Scan, text: &str, console: &mut Console) -> Result<()> {
    match &options.output {
        Some(path) => Ok(replace(path, text.as_bytes())?),
        None => Ok(console.write_all(text.as_bytes())?),
    }
}

fn render(options: &Scan, scanned: &Scanned, look: text::Look) -> String {
    let Scanned { report, sources, prefix, .. } = scanned;
    let rules: Vec<Rule<'_>> = ALL.iter().map(rule).collect();
    match options.format {
        Format::Text => {
            let sources = |path: &str| sources.get(path).map(str::to_owned);
            text::write(report, &sources, look) + &left_out(scanned)
        }
        Format::Json => json::write(report),
        Format::Sarif => sarif::write(report, &rules, prefix),
        Format::Github => github::write(report, &rules, prefix, options.all),
        Format::Markdown => markdown::write(report, &rules, options.all),
    }
}

/// What was found and is not in the report.
fn left_out(scanned: &Scanned) -> String {
    let counts = [
        (scanned.suppressed, "silenced by comments"),
        (scanned.baselined, "known from the baseline"),
        (scanned.hidden, "below the limits, on unchanged lines or of other hazards"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, why)| format!("{} {why}", findings(count))).collect();
    if counts.is_empty() { String::new() } else { format!("not shown: {}\n", counts.join(", ")) }
}

pub(in crate::verbs) fn rule(hazard: &Hazard) -> Rule<'_> {
    Rule {
        id: hazard.id.clone(),
        title: hazard.title,
        summary: hazard.summary(),
        page: hazard.page,
        url: None,
        severity: hazard.severity,
        cwe: hazard.cwe,
    }
}
