//! The interleaving in two columns: call A on the left, call B or what else intervenes on the right.

use interlock_model::{Finding, Lane, WitnessStep};

use super::{Look, ink::Ink, wrap};
use crate::clean;

/// What stands before every line.
const INDENT: &str = "  ";

/// Between the columns.
const GAP: usize = 3;

/// A column that is narrower than this breaks every other word; then the steps stand below each other.
const NARROWEST: usize = 26;

/// One step, ready to be set.
struct Row {
    number: usize,
    lane: Lane,
    what: String,
    place: String,
    /// What it comes to: the last step says it behind a colon.
    outcome: Option<String>,
}

/// The table, without a newline at its end; empty without steps.
pub(super) fn witness(finding: &Finding, look: Look) -> String {
    let rows = rows(finding);
    let ink = Ink::new(look.colour);
    let room = look.width.saturating_sub(INDENT.len());
    let two = rows.iter().any(|row| row.left()) && rows.iter().any(|row| !row.left());
    let lines = if rows.is_empty() {
        Vec::new()
    } else if two && room.saturating_sub(GAP) / 2 >= NARROWEST {
        columns(&rows, finding, room, ink)
    } else {
        stacked(&rows, finding, room, ink)
    };
    let lines: Vec<String> =
        lines.iter().map(|line| format!("{INDENT}{line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

fn rows(finding: &Finding) -> Vec<Row> {
    let steps = &finding.witness.0;
    let full = ambiguous(steps);
    (1..)
        .zip(steps)
        .map(|(number, step)| {
            let words = clean::line(&step.step);
            let (what, outcome) = match words.split_once(": ") {
                Some((what, outcome)) if number == steps.len() => (what.to_owned(), Some(outcome.to_owned())),
                _ => (words, None),
            };
            let file = if full { step.location.file.as_str() } else { base(&step.location.file) };
            let place = format!("{}:{}", clean::line(file), step.location.line);
            Row { number, lane: step.lane, what, place, outcome }
        })
        .collect()
}

/// Whether two files of the witness have the same last name, so that it does not tell them apart.
fn ambiguous(steps: &[WitnessStep]) -> bool {
    let files = || steps.iter().map(|step| step.location.file.as_str());
    files().any(|one| files().any(|other| one != other && base(one) == base(other)))
}

fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

impl Row {
    fn left(&self) -> bool {
        self.lane == Lane::A
    }

    /// The number and what happens; an event is named if others share its column.
    fn words(&self, named: bool) -> String {
        let name = if named && self.lane == Lane::X { "X: " } else { "" };
        format!("{} {name}{}", self.number, self.what)
    }
}

/// Who acts in a lane.
fn heading(lane: Lane, finding: &Finding) -> String {
    match (lane, finding.tools.first()) {
        (Lane::X, _) => "in between".to_owned(),
        (lane, Some(tool)) => format!("call {lane}  {}", clean::line(tool)),
        (lane, None) => format!("call {lane}"),
    }
}

/// Two columns, each as wide as it needs to be, or half of the room if that is less.
fn columns(rows: &[Row], finding: &Finding, room: usize, ink: Ink) -> Vec<String> {
    let most = room.saturating_sub(GAP) / 2;
    let other = if rows.iter().any(|row| row.lane == Lane::B) { Lane::B } else { Lane::X };
    let headings = [heading(Lane::A, finding), heading(other, finding)];
    // Beside a second call the event needs a name of its own.
    let named = other == Lane::B;
    let mut sides = [true, false].map(|left| Side::new(rows.iter().filter(|row| row.left() == left), named));
    for (side, heading) in sides.iter_mut().zip(&headings) {
        side.width = side.width.max(clean::width(heading)).min(most);
    }
    let [left, right] = &sides;
    let shift = " ".repeat(left.width + GAP);
    let [a, b] = headings.map(|heading| clean::cut(&heading, most));
    let gap = " ".repeat((left.width + GAP).saturating_sub(clean::width(&a)));
    let mut out = vec![format!("{}{gap}{}", ink.strong(&a), ink.strong(&b))];
    for row in rows {
        let (side, before) = if row.left() { (left, "") } else { (right, shift.as_str()) };
        let mut cell = side.cell(row, ink);
        if let Some(outcome) = &row.outcome {
            let used = side.width + GAP + before.len();
            match cell.as_mut_slice() {
                // Beside the step, where the design has it, if there is room.
                [only] if used + clean::width(outcome) <= room => {
                    *only = format!("{only}{}{}", " ".repeat(GAP), ink.alarm(outcome));
                }
                _ => {
                    let wrapped = textwrap::wrap(outcome, wrap::options(side.width.saturating_sub(2)));
                    cell.extend(wrapped.iter().map(|line| format!("  {}", ink.alarm(line))));
                }
            }
        }
        out.extend(cell.iter().map(|line| format!("{before}{line}")));
    }
    out
}

/// One column: how wide its words and places are.
struct Side {
    named: bool,
    words: usize,
    places: usize,
    width: usize,
}

impl Side {
    fn new<'r>(rows: impl Iterator<Item = &'r Row> + Clone, named: bool) -> Self {
        let words = rows.clone().map(|row| clean::width(&row.words(named))).max().unwrap_or(0);
        let places = rows.map(|row| clean::width(&row.place)).max().unwrap_or(0);
        Self { named, words, places, width: words + 2 + places }
    }

    /// The lines of a step, all as wide as the column: on one line if everything fits, else the place below the words.
    fn cell(&self, row: &Row, ink: Ink) -> Vec<String> {
        let words = row.words(self.named);
        if self.words + 2 + self.places <= self.width {
            let gap = " ".repeat((self.words + 2).saturating_sub(clean::width(&words)));
            let rest = " ".repeat(self.width.saturating_sub(self.words + 2 + clean::width(&row.place)));
            return vec![format!("{words}{gap}{}{rest}", ink.faint(&row.place))];
        }
        let options = wrap::options(self.width).subsequent_indent("  ");
        let mut lines: Vec<String> =
            textwrap::wrap(&words, options).iter().map(ToString::to_string).collect();
        lines.push(format!("  {}", ink.faint(&clean::tail(&row.place, self.width.saturating_sub(2)))));
        lines
    }
}

/// One step below the other, with its lane in front.
fn stacked(rows: &[Row], finding: &Finding, room: usize, ink: Ink) -> Vec<String> {
    let mut out: Vec<String> = [Lane::A, Lane::B]
        .into_iter()
        .filter(|lane| rows.iter().any(|row| row.lane == *lane))
        .map(|lane| ink.strong(&clean::cut(&heading(lane, finding), room)))
        .collect();
    for row in rows {
        let Row { number, lane, what, place, .. } = row;
        let options = wrap::options(room).subsequent_indent("    ");
        let line = format!("{number} {lane} {what}  {place}");
        out.extend(textwrap::wrap(&line, options).iter().map(ToString::to_string));
        if let Some(outcome) = &row.outcome {
            let wrapped = textwrap::wrap(outcome, wrap::options(room.saturating_sub(4)));
            out.extend(wrapped.iter().map(|line| format!("    {}", ink.alarm(line))));
        }
    }
    out
}
