//! The code in question, with the steps of the witness written at its lines.

use std::collections::BTreeMap;

use annotate_snippets::{Annotation, AnnotationKind, Element, Level, Origin, Renderer, Snippet};
use interlock_model::{Finding, Severity};

use super::{Look, lines::Lines};
use crate::clean;

/// Lines that are further apart than this get frames of their own, so that what lies between need not be carried along.
const APART: u32 = 60;

/// A frame with more marks than this is harder to read than the witness.
const MARKS: usize = 8;

/// What the number of a line and the bar beside it may take.
const GUTTER: usize = 12;

/// A heading is not broken into shorter lines than this.
const NARROWEST: usize = 30;

/// What is written at one line of a file.
#[derive(Default)]
struct Mark {
    primary: bool,
    /// The numbers of the steps that happen here, and what they do.
    steps: Vec<(Vec<usize>, String)>,
}

/// The heading and the frames of a finding.
pub(super) fn frame(finding: &Finding, lines: &mut Lines<'_>, look: Look) -> String {
    let (level, name) = match finding.severity {
        Severity::Critical | Severity::High => (Level::ERROR, finding.severity.name()),
        Severity::Medium => (Level::WARNING, finding.severity.name()),
        Severity::Low => (Level::NOTE, finding.severity.name()),
    };
    let renderer = if look.colour { Renderer::styled() } else { Renderer::plain() };
    let before = name.len() + finding.hazard.as_str().len() + 4;
    let options = super::wrap::options(look.width.saturating_sub(before).max(NARROWEST)).break_words(false);
    let message = textwrap::wrap(&clean::line(&finding.message), options).join("\n");
    let title = level.with_name(name).primary_title(message).id(finding.hazard.as_str());
    let mut group = title.elements(Vec::<Element<'_>>::new());
    for (file, marks) in marks(finding) {
        for part in parts(marks) {
            group = group.element(snippet(&file, &part, lines, look));
        }
    }
    renderer.term_width(look.width).render(&[group])
}

/// The marks by file and line: the finding's own file first, the others in the order of the witness.
fn marks(finding: &Finding) -> Vec<(String, BTreeMap<u32, Mark>)> {
    let own = &finding.location;
    let primary = Mark { primary: true, ..Mark::default() };
    let mut files = vec![(own.file.clone(), BTreeMap::from([(own.line, primary)]))];
    for (number, step) in (1..).zip(&finding.witness.0).take(MARKS) {
        let place = &step.location;
        let index = files.iter().position(|(file, _)| *file == place.file).unwrap_or_else(|| {
            files.push((place.file.clone(), BTreeMap::new()));
            files.len() - 1
        });
        let Some((_, marks)) = files.get_mut(index) else { continue };
        let what = step.step.split_once(": ").map_or(step.step.as_str(), |(what, _)| what);
        let steps = &mut marks.entry(place.line).or_default().steps;
        match steps.iter_mut().find(|(_, known)| known == what) {
            Some((numbers, _)) => numbers.push(number),
            None => steps.push((vec![number], what.to_owned())),
        }
    }
    files
}

/// The marks of a file, cut where they lie far apart.
fn parts(marks: BTreeMap<u32, Mark>) -> Vec<BTreeMap<u32, Mark>> {
    let mut parts: Vec<BTreeMap<u32, Mark>> = Vec::new();
    for (line, mark) in marks {
        match parts.last_mut() {
            Some(part) if part.keys().next_back().is_some_and(|last| line - last <= APART) => {
                part.insert(line, mark);
            }
            _ => parts.push(BTreeMap::from([(line, mark)])),
        }
    }
    // What the finding points to is what a reader looks for first.
    parts.sort_by_key(|part| !part.values().any(|mark| mark.primary));
    parts
}

/// The lines of one part, or only their place if the text is not at hand.
fn snippet<'a>(file: &str, marks: &BTreeMap<u32, Mark>, lines: &mut Lines<'_>, look: Look) -> Element<'a> {
    let path = clean::line(file);
    let (first, last) = match (marks.keys().next(), marks.keys().next_back()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => return Origin::path(path).into(),
    };
    let line_number = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let Some(found) = lines.between(file, first, last) else {
        return Origin::path(path).line(line_number(first)).into();
    };
    let room = look.width.saturating_sub(GUTTER);
    let mut source = String::new();
    let mut annotations = Vec::new();
    for (line, text) in (first..).zip(found) {
        let text = clean::cut(clean::source(text).trim_end(), room);
        if let Some(mark) = marks.get(&line) {
            annotations.push(annotation(mark, &text, source.len(), room));
        }
        source.push_str(&text);
        source.push('\n');
    }
    Snippet::source(source).line_start(line_number(first)).path(path).annotations(annotations).into()
}

/// Underlines the line without its indentation.
fn annotation<'a>(mark: &Mark, text: &str, offset: usize, room: usize) -> Annotation<'a> {
    let indent = text.len() - text.trim_start().len();
    let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation = kind.span(offset + indent..offset + text.len());
    let numbers = |numbers: &[usize]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let words: Vec<String> =
        mark.steps.iter().map(|(steps, what)| format!("{} {}", numbers(steps), clean::line(what))).collect();
    let words = words.join("; ");
    let fits = clean::width(text) + 1 + clean::width(&words) <= room;
    match (mark.steps.is_empty(), fits) {
        (true, _) => annotation,
        (false, true) => annotation.label(words),
        // The witness says the rest.
        (false, false) => {
            let steps: Vec<usize> = mark.steps.iter().flat_map(|(steps, _)| steps.iter().copied()).collect();
            annotation.label(numbers(&steps))
        }
    }
}
