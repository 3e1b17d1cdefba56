//! What was observed beside what would have been legal: only where they differ.

use std::fmt::Write as _;

use interlock_model::{CallSet, Evidence};

use crate::{
    clean,
    proof::{
        difference::{self, Difference},
        words,
    },
    summary,
    text::{Look, ink::Ink},
};

/// More legal outcomes than this are counted: the nearest come first.
const LEGAL: usize = 2;

/// More differences than this are counted.
const DIFFERENCES: usize = 12;

/// Between columns.
const GAP: usize = 2;

/// Narrower than this, values stand below their path.
const TABLE: usize = 72;

/// A value that has so many columns leaves the others to the path.
const VALUE: usize = 36;

/// What is kept of the text before two values part.
const BEFORE: usize = 8;

const INDENT: &str = "  ";

pub(super) fn write(out: &mut String, set: &CallSet, evidence: &Evidence, look: Look) {
    let ink = Ink::new(look.colour);
    let mut shown = 0;
    let (comparable, others) = difference::comparable(evidence, LEGAL);
    for legal in comparable {
        let differences = difference::list(&evidence.observed, &legal.outcome);
        if differences.is_empty() {
            continue;
        }
        shown += 1;
        let orders = words::orders(legal, set.calls.len());
        let few = differences.get(..differences.len().min(DIFFERENCES)).unwrap_or(&differences);
        if look.width >= TABLE {
            table(out, few, &orders, look, ink);
        } else {
            stacked(out, few, &orders, look, ink);
        }
        if let Some(more @ 1..) = differences.len().checked_sub(DIFFERENCES) {
            let _ = writeln!(out, "{INDENT}and {}", summary::counted(more, "more difference"));
        }
        let _ = writeln!(out);
    }
    if shown == 0 {
        let _ = writeln!(out, "{INDENT}{}: {}\n", ink.strong("observed"), words::tally(&evidence.observed));
    }
    if others > 0 {
        let more = summary::counted(others, "more legal outcome");
        let words = format!("{more}, further away; `--format json` has all of them");
        let _ = writeln!(out, "{INDENT}{}\n", ink.faint(&clean::cut(&words, look.width - INDENT.len())));
    }
}

/// Three columns: where, what was observed, what is legal.
fn table(out: &mut String, differences: &[Difference], orders: &str, look: Look, ink: Ink) {
    let room = look.width - INDENT.len();
    let head = ["differs at", "observed", orders];
    let paths = differences.iter().map(|one| clean::width(&clean::line(&one.path)));
    let widest = |values: &dyn Fn(&Difference) -> String, head: &str| {
        differences
            .iter()
            .map(|one| clean::width(&values(one)))
            .chain([clean::width(head)])
            .max()
            .unwrap_or(0)
    };
    // A side is often a word or a number, and leaves its room to the others.
    let observed = widest(&|one| clean::line(&one.observed.words()), head[1]);
    let legal = widest(&|one| clean::line(&one.legal.words()), head[2]);
    let path = paths.chain([clean::width(head[0])]).max().unwrap_or(0);
    let path =
        path.min((room / 3).max(room.saturating_sub(observed.min(VALUE) + legal.min(VALUE) + 2 * GAP)));
    let values = room.saturating_sub(path + 2 * GAP);
    let observed = observed.min((values / 2).max(values.saturating_sub(legal)));
    let legal = legal.min(values.saturating_sub(observed));
    let cell = |text: &str, width: usize| {
        let text = clean::cut(text, width);
        let rest = " ".repeat(width.saturating_sub(clean::width(&text)));
        (text, rest)
    };
    let gap = " ".repeat(GAP);
    let [where_, what, order] =
        [(head[0], path), (head[1], observed), (head[2], legal)].map(|(text, width)| {
            let (text, rest) = cell(text, width);
            format!("{}{rest}", ink.strong(&text))
        });
    let _ = writeln!(out, "{}", format!("{INDENT}{where_}{gap}{what}{gap}{order}").trim_end());
    for one in differences {
        let (seen, right) = parted(one, observed, legal);
        let (place, place_rest) = cell(&clean::tail(&clean::line(&one.path), path), path);
        let (seen, seen_rest) = cell(&seen, observed);
        let (right, _) = cell(&right, legal);
        let _ = writeln!(
            out,
            "{INDENT}{place}{place_rest}{gap}{}{seen_rest}{gap}{}",
            ink.removed(&seen),
            ink.added(&right)
        );
    }
}

/// Path and values below each other.
fn stacked(out: &mut String, differences: &[Difference], orders: &str, look: Look, ink: Ink) {
    let room = look.width - INDENT.len();
    let _ = writeln!(out, "{INDENT}{}", ink.strong(&clean::cut(&format!("beside {orders}"), room)));
    for one in differences {
        let values = room.saturating_sub(12);
        let (seen, right) = parted(one, values, values);
        let _ = writeln!(out, "{INDENT}{}", clean::tail(&clean::line(&one.path), room));
        let _ = writeln!(out, "{INDENT}  observed  {}", ink.removed(&clean::cut(&seen, values)));
        let _ = writeln!(out, "{INDENT}  legal     {}", ink.added(&clean::cut(&right, values)));
    }
}

/// Both values on a line each, without a long beginning that they share: where they part must be seen.
fn parted(one: &Difference, observed: usize, legal: usize) -> (String, String) {
    let (seen, right) = (clean::line(&one.observed.words()), clean::line(&one.legal.words()));
    if clean::width(&seen) <= observed && clean::width(&right) <= legal {
        return (seen, right);
    }
    let shared = seen.chars().zip(right.chars()).take_while(|(one, other)| one == other).count();
    if shared <= BEFORE * 2 {
        return (seen, right);
    }
    let from = |text: &str| format!("…{}", text.chars().skip(shared - BEFORE).collect::<String>());
    (from(&seen), from(&right))
}
