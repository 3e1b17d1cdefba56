//! Everything that is known about a line.

use std::collections::BTreeSet;

use interlock_hazards::{Decision, Outcome};
use interlock_model::{
    Finding, FunctionIr, Location, Loss, RuleOutcome, RuleVerdict, Span, Why,
    ir::{FunctionId, Program},
};

use super::{
    find::{SourceLine, steps_at},
    reach,
};
use crate::{Engine, analyse::explain, expand::location};

pub(super) fn why(engine: &Engine<'_>, program: Program, place: SourceLine) -> Why {
    let functions = innermost(&program, place);
    let (expansion, decisions) = explain(&mut program.clone());
    let mut reached = reach::inlined(&program, &expansion.entries, place);
    if reached.is_empty() {
        reached = functions.iter().flat_map(|id| reach::by_calls(&program, *id)).collect();
    }
    let spots: BTreeSet<(&str, u32)> = reached
        .iter()
        .flat_map(|reaching| &reaching.calls)
        .map(|(_, location)| (&*location.file, location.line))
        .collect();
    let path = program.files.get(place.file.0 as usize).map(ToString::to_string).unwrap_or_default();
    // What is told of a helper is told where its callers put its steps together.
    let is_here = |at: &Location| {
        let at = (&*at.file, at.line);
        at == (&*path, place.line) || spots.contains(&at)
    };
    let (_, all) = expansion.lost(&program);
    let lost: BTreeSet<Loss> = all.into_iter().filter(|loss| is_here(&loss.location)).collect();
    let shown = functions.iter().filter_map(|id| shown(&program, *id, place)).collect();
    let here = location(&program, Span::on_line(place.file, place.line));
    let mut rules = silences(&program, decisions, place);
    rules.extend(outcomes(engine.findings(program), &is_here));
    rules.sort();
    rules.dedup();
    Why { location: here, functions: shown, reached, rules, lost: lost.into_iter().collect() }
}

/// The functions whose own steps are on the line.
fn innermost(program: &Program, place: SourceLine) -> Vec<FunctionId> {
    let mut ids: Vec<FunctionId> = steps_at(program, place).map(|(id, _)| id).collect();
    ids.dedup();
    ids
}

/// A function with its steps on the line.
fn shown(program: &Program, id: FunctionId, place: SourceLine) -> Option<FunctionIr> {
    let function = program.function(id)?;
    let steps = steps_at(program, place).filter(|(of, _)| *of == id);
    let steps: Vec<String> = steps.map(|(_, effect)| program.print_step(function, &effect.op)).collect();
    Some(FunctionIr {
        name: function.name.to_string(),
        location: location(program, function.span),
        ir: steps.join("\n"),
    })
}

/// What was reported at the line, at the calls that lead there, or tells of them.
fn outcomes(findings: Vec<Finding>, is_here: &dyn Fn(&Location) -> bool) -> Vec<RuleOutcome> {
    let about = |finding: &Finding| {
        is_here(&finding.location) || finding.witness.0.iter().any(|step| is_here(&step.location))
    };
    let reported = findings.into_iter().filter(about).map(|Finding { hazard, location, message, .. }| {
        RuleOutcome { hazard: Some(hazard), location, outcome: RuleVerdict::Reported(message) }
    });
    reported.collect()
}

/// Why rules stayed silent about steps on the line; of a pair, with where its other step stands.
fn silences(program: &Program, decisions: Vec<Decision>, place: SourceLine) -> Vec<RuleOutcome> {
    let is_here = |span: &Span| span.file == place.file && span.line == place.line;
    let silent = |Decision { hazard, spans, outcome, .. }: Decision| {
        let Outcome::Silent(reason) = outcome else { return None };
        let here = spans.iter().find(|span| is_here(span))?;
        let other = spans.iter().find(|span| !is_here(span)).unwrap_or(here);
        Some(RuleOutcome {
            hazard,
            location: location(program, Span::on_line(other.file, other.line)),
            outcome: RuleVerdict::Silent(reason.sentence().to_owned()),
        })
    };
    decisions.into_iter().filter_map(silent).collect()
}
