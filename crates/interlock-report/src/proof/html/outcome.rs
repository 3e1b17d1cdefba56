//! What was observed beside what would have been legal, with the differences marked.

use std::fmt::Write as _;

use interlock_model::{CallSet, Evidence};

use super::rows::{self, Row, Side};
use crate::{
    proof::{
        delta::Delta,
        difference::{self, Part},
        markup, words,
    },
    summary,
};

/// More legal outcomes than this are counted: the nearest come first.
const LEGAL: usize = 3;

pub(super) fn write(out: &mut String, set: &CallSet, evidence: &Evidence) {
    out.push_str("<h3>What came of it, and what would have been legal</h3>\n");
    let observed = &evidence.observed;
    let (comparable, others) = difference::comparable(evidence, LEGAL);
    let Some(nearest) = comparable.first() else {
        let _ = writeln!(out, "<p>Observed: {}.</p>", words::tally(observed));
        out.push_str(r#"<div class="cards">"#);
        card(out, set, "observed", "Observed", &difference::parts(observed, observed), Side::Observed);
        out.push_str("</div>\n");
        return;
    };
    let mut differs = false;
    out.push_str(r#"<div class="cards">"#);
    card(out, set, "observed", "Observed", &difference::parts(observed, &nearest.outcome), Side::Observed);
    for legal in comparable {
        let heading = format!("Legal: {}", words::orders(legal, set.calls.len()));
        let parts = difference::parts(observed, &legal.outcome);
        differs |= parts.iter().any(|(_, delta)| !delta.is_same());
        card(out, set, "legal", &heading, &parts, Side::Legal);
    }
    out.push_str("</div>\n");
    if others > 0 {
        let more = summary::counted(others, "more legal outcome");
        let _ =
            writeln!(out, r#"<p class="quiet">{more}, further away; the JSON report has all of them</p>"#);
    }
    if differs {
        out.push_str(KEY);
    }
}

/// What the signs mean.
const KEY: &str = r#"<p class="quiet key"><span class="sign">−</span> is not there, <span class="sign">+</span> is only here, <span class="sign">≠</span> is something else on the other side. What was observed is held against the nearest legal outcome, each legal one against what was observed.</p>
"#;

fn card(out: &mut String, set: &CallSet, class: &str, heading: &str, parts: &[(Part, Delta)], side: Side) {
    let _ = write!(out, r#"<article class="card {class}"><h4>{}</h4>"#, markup::short(heading, 200));
    let (same, other): (Vec<_>, Vec<_>) = parts.iter().partition(|(_, delta)| delta.is_same());
    for (part, delta) in other {
        let _ = write!(out, "<h5>{}</h5>", name(set, *part));
        rows::html(out, &rows::rows(delta, side));
    }
    if !same.is_empty() {
        let names: Vec<String> = same.iter().map(|(part, _)| part.path()).collect();
        let _ =
            write!(out, "<details><summary>the same: {}</summary>", markup::short(&names.join(", "), 120));
        for (part, delta) in same {
            let _ = write!(out, "<h5>{}</h5>", name(set, *part));
            let rows = match delta {
                Delta::Same(value) if value.is_null() => vec![Row::quiet("nothing")],
                delta => rows::rows(delta, side),
            };
            rows::html(out, &rows);
        }
        out.push_str("</details>");
    }
    out.push_str("</article>");
}

/// `reads[0] read_graph`.
fn name(set: &CallSet, part: Part) -> String {
    let tool = match part {
        Part::Answer(index) => set.calls.get(index),
        Part::Read(index) => set.reads.get(index),
    };
    let tool = tool.map(|call| markup::short(&call.tool, 80)).unwrap_or_default();
    format!("{} <span>{tool}</span>", part.path())
}
