//! The report in the forms and at the places that were asked for.

use std::{io::Write, path::Path};

use anyhow::{Context, Result, bail};
use interlock_hazards::ALL;
use interlock_report::{
    Rule,
    audit::{self, Audit as Report, Live},
    text::Look,
};
use interlock_scan::replace;

use super::{super::scan::write::rule, Audit};
use crate::console::Console;

/// The forms, by how a file's name ends.
#[derive(Clone, Copy)]
enum Form {
    Html,
    Markdown,
    Json,
    Sarif,
}

fn form(path: &Path) -> Result<Form> {
    Ok(match path.extension().and_then(|ending| ending.to_str()) {
        Some("html" | "htm") => Form::Html,
        Some("md" | "markdown") => Form::Markdown,
        Some("json") => Form::Json,
        Some("sarif") => Form::Sarif,
        _ => bail!("{}: a report ends in .html, .md, .json or .sarif", path.display()),
    })
}

/// What can be refused is refused before the work is done.
pub(super) fn check(options: &Audit) -> Result<()> {
    options.output.iter().try_for_each(|path| form(path).map(drop))
}

/// Writes everything, and says to whom it may concern what came of it.
pub(super) fn write(options: &Audit, report: &Report, console: &mut Console) -> Result<()> {
    let rules: Vec<Rule<'_>> = ALL.iter().map(rule).collect();
    let remedies = |id: &interlock_model::HazardId| {
        interlock_hazards::find(id.as_str()).map(|hazard| hazard.example_remedy().code)
    };
    for path in &options.output {
        let text = match form(path)? {
            Form::Html => audit::html::write(report, &rules, &remedies),
            Form::Markdown => audit::markdown::write(report, &rules),
            Form::Json => audit::json::write(report, &rules),
            Form::Sarif => audit::sarif::write(report, &rules),
        };
        replace(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let look = console.look();
    let look = Look { colour: look.colour, width: look.width, all: false };
    write!(console, "{}", audit::text::write(report, &rules, look))?;
    policy(options, report, console)?;
    let paths: Vec<String> = options.output.iter().map(|path| path.display().to_string()).collect();
    writeln!(console, "report: {}", paths.join(", "))?;
    Ok(())
}

/// The policy of the first server that has one.
fn policy(options: &Audit, report: &Report, console: &mut Console) -> Result<()> {
    let Some(path) = &options.emit_policy else { return Ok(()) };
    let policies = report.subjects.iter().filter_map(|subject| match &subject.live {
        Live::Proved(proved) => proved.policy.as_deref(),
        Live::NotRun(_) | Live::Unknown(_) => None,
    });
    match policies.collect::<Vec<_>>().as_slice() {
        [] => {
            console.remark(&format!(
                "no policy was written to {}: it is made of what the running server lists, and none was run",
                path.display()
            ));
            Ok(())
        }
        [first, ..] => {
            replace(path, first.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
            writeln!(console, "policy: {}", path.display())?;
            Ok(())
        }
    }
}
