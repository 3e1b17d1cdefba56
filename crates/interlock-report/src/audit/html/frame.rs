//! The code in question, and the interleaving in two columns.

use std::{collections::BTreeMap, fmt::Write as _};

use interlock_model::{Finding, Lane};

use crate::{clean, proof::markup};

/// Lines around each line in question.
const AROUND: u32 = 2;

/// More lines of one finding nobody reads.
const MOST: usize = 80;

/// Longer lines are cut.
const WIDEST: usize = 240;

/// The files of a finding with the lines in question: its own first, then in the order of the witness.
pub(super) fn write(out: &mut String, finding: &Finding, sources: &BTreeMap<String, String>) {
    let own = &finding.location;
    let mut files: Vec<(&str, BTreeMap<u32, Vec<usize>>)> =
        vec![(&own.file, BTreeMap::from([(own.line, Vec::new())]))];
    for (number, step) in (1..).zip(&finding.witness.0) {
        let place = &step.location;
        let index = files.iter().position(|(file, _)| *file == place.file).unwrap_or_else(|| {
            files.push((&place.file, BTreeMap::new()));
            files.len() - 1
        });
        if let Some((_, marks)) = files.get_mut(index) {
            marks.entry(place.line).or_default().push(number);
        }
    }
    let mut left = MOST;
    for (file, marks) in files {
        let Some(text) = sources.get(file) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let _ = write!(
            out,
            r#"<figure class="code"><figcaption><code>{}</code></figcaption><div class="scroll" tabindex="0"><pre>"#,
            markup::text(file)
        );
        let mut before: Option<u32> = None;
        for (line, source) in (1..).zip(lines) {
            let near = marks.keys().any(|mark| line + AROUND >= *mark && line <= mark.saturating_add(AROUND));
            if !near || left == 0 {
                continue;
            }
            if before.is_some_and(|before| before + 1 != line) {
                out.push_str("<span class=\"cut\">⋮</span>\n");
            }
            before = Some(line);
            left -= 1;
            let source = markup::text(&clean::cut(&clean::source(source), WIDEST));
            let _ = match marks.get(&line) {
                Some(steps) => {
                    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
                    let steps = steps.join(" ");
                    writeln!(
                        out,
                        r#"<mark><span class="n">{line}</span>{source}  <b class="steps" title="steps of the interleaving">{steps}</b></mark>"#
                    )
                }
                None => writeln!(out, r#"<span class="n">{line}</span>{source}"#),
            };
        }
        out.push_str("</pre></div></figure>\n");
    }
}

/// Who does what, in two columns.
pub(super) fn witness(out: &mut String, finding: &Finding) {
    let steps = &finding.witness.0;
    if steps.is_empty() {
        return;
    }
    let tool = finding
        .tools
        .first()
        .map(|tool| format!(" <code>{}</code>", markup::short(tool, 60)))
        .unwrap_or_default();
    let is_call = steps.iter().any(|step| step.lane == Lane::B);
    let right = if is_call { format!("call B{tool}") } else { "in between".to_owned() };
    let _ = write!(
        out,
        r#"<details class="interleaving" open="open"><summary>The interleaving, step by step</summary><div class="scroll" tabindex="0"><table class="witness"><caption class="hidden">The interleaving, step by step</caption><thead><tr><th scope="col">#</th><th scope="col">call A{tool}</th><th scope="col">{right}</th></tr></thead><tbody>"#
    );
    for (number, step) in (1..).zip(steps) {
        let last = number == steps.len();
        let words = markup::sentence(&step.step);
        let class = if last { " class=\"alarm\"" } else { "" };
        let place = markup::text(&step.location.to_string());
        let name = if is_call && step.lane == Lane::X { "X: " } else { "" };
        let cell = format!("<td{class}>{name}{words} <code class=\"place\">{place}</code></td>");
        let _ = match step.lane {
            Lane::A => write!(out, "<tr><td>{number}</td>{cell}<td></td></tr>"),
            Lane::B | Lane::X => write!(out, "<tr><td>{number}</td><td></td>{cell}</tr>"),
        };
    }
    out.push_str("</tbody></table></div></details>\n");
}

/// Lines as they are.
pub(super) fn block(out: &mut String, text: &str) {
    out.push_str("<div class=\"scroll\" tabindex=\"0\"><pre>");
    for line in text.lines() {
        let _ = writeln!(out, "{}", markup::text(&clean::source(line)));
    }
    out.push_str("</pre></div>\n");
}
