//! `interlock explain`: the catalogue, and one hazard's page.

use std::{cmp::Reverse, ffi::OsStr, io::Write};

use anyhow::{Result, anyhow};
use clap::{
    Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum,
    builder::{PossibleValue, StringValueParser, TypedValueParser},
};
use interlock_hazards::{ALL, Face, Hazard, find, nearest};
use interlock_model::Severity;
use serde_json::{Value, json};

use super::Verb;
use crate::{
    console::{Console, Look},
    exit::Exit,
    terminal::{self, Ink},
};

pub(super) const VERB: Verb = Verb { command, run };

/// Explain the hazards: all of them in a table, or one on a page
#[derive(Args)]
#[command(after_help = "Examples:\n  interlock explain\n  interlock explain lost-update\n  \
                        interlock explain --format json | jq -r '.hazards[].id'")]
struct Explain {
    /// The hazard to explain; without it, all are listed
    #[arg(value_name = "HAZARD", value_parser = Name)]
    name: Option<String>,
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// A hazard's name: any text, because we have more to say about a wrong one than the parser, with the right ones for completions.
#[derive(Clone)]
struct Name;

impl TypedValueParser for Name {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        text: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            ALL.iter().map(|hazard| PossibleValue::new(hazard.id.as_str()).help(hazard.title).hide(true)),
        ))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// For programs
    Json,
    /// For a document
    Markdown,
}

fn command() -> Command {
    Explain::augment_args(Command::new("explain"))
}

fn run(matches: &ArgMatches, console: &mut Console) -> Result<Exit> {
    let Explain { name, format } = Explain::from_arg_matches(matches)?;
    let chosen = name.as_deref().map(look_up).transpose()?;
    let look = console.look();
    let text = match (chosen, format) {
        (Some(hazard), Format::Text) => page(hazard, look),
        (Some(hazard), Format::Markdown) => hazard.page.to_owned(),
        (Some(hazard), Format::Json) => document(&[hazard])?,
        (None, Format::Text) => table(look),
        (None, Format::Markdown) => markdown_table(),
        (None, Format::Json) => document(&worst_first())?,
    };
    console.write_all(text.as_bytes())?;
    Ok(Exit::Clean)
}

fn look_up(name: &str) -> Result<&'static Hazard> {
    find(name).ok_or_else(|| {
        let wanted = name.to_lowercase().replace('_', "-");
        // Part of a name is a better hint than any likeness of letters.
        let near = nearest(|known| (!known.contains(&wanted), -strsim::jaro_winkler(known, &wanted)));
        let near = near.map(|hazard| format!("the nearest is `{}`; ", hazard.id)).unwrap_or_default();
        anyhow!("there is no hazard `{name}`: {near}`interlock explain` lists them all")
    })
}

/// The catalogue with the worst in front, which is how people want to read it.
fn worst_first() -> Vec<&'static Hazard> {
    let mut hazards: Vec<_> = ALL.iter().collect();
    hazards.sort_by_key(|hazard| (Reverse(hazard.severity), Reverse(hazard.deduction), hazard.id.as_str()));
    hazards
}

fn table(look: Look) -> String {
    let ink = Ink::new(look.colour);
    let width = ALL.iter().map(|hazard| hazard.id.as_str().len()).max().unwrap_or_default();
    let mut text =
        ink.faint(&format!("{:width$}  {:8}  {:>6}  danger", "hazard", "severity", "deduct")) + "\n";
    for Hazard { id, severity, deduction, title, .. } in worst_first() {
        let (id, severity) = (ink.strong(&format!("{id:width$}")), severity_in(ink, *severity));
        text += &format!("{id}  {severity}  {deduction:>6}  {title}\n");
    }
    if look.terminal {
        text += &ink.faint("\n`interlock explain HAZARD` shows its page.\n");
    }
    text
}

fn severity_in(ink: Ink, severity: Severity) -> String {
    let padded = format!("{severity:8}");
    match severity {
        Severity::Critical | Severity::High => ink.alarm(&padded),
        Severity::Medium => ink.warning(&padded),
        Severity::Low => ink.faint(&padded),
    }
}

fn markdown_table() -> String {
    let mut text =
        String::from("| hazard | severity | deduction | faces | danger |\n|---|---|---|---|---|\n");
    for Hazard { id, severity, deduction, faces, title, .. } in worst_first() {
        text += &format!("| `{id}` | {severity} | {deduction} | {} | {title} |\n", list(faces));
    }
    text
}

fn page(hazard: &Hazard, look: Look) -> String {
    let ink = Ink::new(look.colour);
    let Hazard { id, severity, deduction, cwe, faces, .. } = hazard;
    let cwe = cwe.iter().map(|number| format!("CWE-{number}")).collect::<Vec<_>>().join(", ");
    let mut head = format!(
        "{}: {}, deducts {deduction}; {cwe}",
        ink.strong(id.as_str()),
        severity_in(ink, *severity).trim_end()
    );
    head += &format!("; covered by {}\n", list(faces));
    let missing: Vec<Face> = faces.iter().copied().filter(|face| !is_here(*face)).collect();
    if !missing.is_empty() {
        head += &ink.faint(&format!("This build has no {} yet.\n", list(&missing)));
    }
    format!("{head}\n{}", terminal::markdown(hazard.page, look))
}

/// Whether this build has the verb that is a face; the library is used from Rust, not from here.
fn is_here(face: Face) -> bool {
    face == Face::Sync || super::exists(&face.to_string())
}

fn list(faces: &[Face]) -> String {
    faces.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn document(hazards: &[&Hazard]) -> Result<String> {
    let hazards: Vec<Value> = hazards.iter().map(|hazard| entry(hazard)).collect();
    Ok(serde_json::to_string_pretty(&json!({ "version": 1, "hazards": hazards }))? + "\n")
}

fn entry(hazard: &Hazard) -> Value {
    let remedy = hazard.example_remedy();
    let policy = remedy.policy.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    json!({
        "id": hazard.id.as_str(),
        "title": hazard.title,
        "summary": hazard.summary(),
        "severity": hazard.severity.name(),
        "deduction": hazard.deduction,
        "cwe": hazard.cwe.iter().map(|number| format!("CWE-{number}")).collect::<Vec<_>>(),
        "faces": hazard.faces.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "remedy": {
            "code": remedy.code,
            "policy": if policy.is_empty() { Value::Null } else { policy.into() },
            "primitive": remedy.primitive.map(|primitive| primitive.0),
        },
        "page": hazard.page,
    })
}
