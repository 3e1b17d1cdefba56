//! The calls in time, with a lane each: `├──r────w──┤`.

use std::fmt::Write as _;

use interlock_model::{CallSet, Evidence, IoTick, TickKind};

use crate::{
    clean,
    proof::{
        scale::{self, Scale, moments},
        words,
    },
    summary,
    text::{Look, ink::Ink},
};

/// More lanes than this are counted.
const LANES: usize = 12;

/// More operations than this are counted.
const TICKS: usize = 12;

/// Of which so many are the last ones.
const LAST: usize = 4;

/// What stands behind a lane: `  no answer 42.1 ms`.
const BEHIND: usize = 20;

/// With fewer columns for time nothing stands behind the lanes.
const NARROW: usize = 30;

/// No screen is so wide that more columns of time would help.
const WIDEST: usize = 120;

const INDENT: &str = "  ";

/// One lane as it is put together, a character for each column.
struct Lane(Vec<char>);

pub(super) fn write(out: &mut String, set: &CallSet, evidence: &Evidence, look: Look) {
    let ink = Ink::new(look.colour);
    let history = &evidence.history;
    if history.calls.is_empty() {
        return;
    }
    let lanes = history.calls.len().min(LANES);
    let label = (0..lanes).map(|index| words::letter(index).len()).max().unwrap_or(1);
    let room = look.width.saturating_sub(INDENT.len() + label + 2);
    let (columns, behind) = match room.checked_sub(BEHIND) {
        Some(left @ NARROW..) => (left.min(WIDEST), true),
        _ => (room.clamp(8, WIDEST), false),
    };
    let last = columns - 1;
    let moments = moments(set, evidence);
    let line = Scale::of(set, evidence, 0.0, last as f64, 3.0);
    let at = |moment| column(line.at(moment), last);
    let before = " ".repeat(INDENT.len() + label + 2);
    let [from, to] = [moments.iter().min(), moments.iter().max()]
        .map(|moment| words::time(moment.copied().unwrap_or_default()));
    let gap = columns.saturating_sub(clean::width(&from) + clean::width(&to));
    let _ = writeln!(out, "{}", ink.faint(&format!("{before}{from}{}{to}", " ".repeat(gap))));
    for (index, call) in history.calls.iter().enumerate().take(lanes) {
        let mut lane = Lane(vec![' '; columns]);
        let (sent, answered) = (at(call.sent), call.answer.at().map(&at));
        lane.fill(sent, answered.unwrap_or(last), if answered.is_some() { '─' } else { '╌' });
        lane.set(sent, '├');
        if let Some(answered) = answered {
            lane.set(answered.max(sent + 1), '┤');
        }
        for tick in history.ticks.iter().filter(|tick| tick.call == Some(index)) {
            lane.mark(at(tick.at), glyph(tick.kind), sent, answered.unwrap_or(columns));
        }
        for pause in line.breaks() {
            let (left, right) = (column(pause.left, last), column(pause.right, last));
            lane.pause(left, right);
        }
        let took = call.answer.at().map(|at| format!(" {}", words::time(at.saturating_sub(call.sent))));
        let end = format!("  {}{}", words::answer(&call.answer), took.unwrap_or_default());
        let end = if behind { end } else { String::new() };
        let name = ink.strong(&format!("{:label$}", words::letter(index)));
        let text = format!("{INDENT}{name}  {}{end}", lane.text());
        let _ = writeln!(out, "{}", text.trim_end());
        if let Some(stale) = scale::window(evidence).filter(|stale| stale.call == index) {
            let (from, to) = (at(stale.from), at(stale.to));
            let _ = writeln!(out, "{before}{}{}", " ".repeat(from), ink.alarm(&bracket(from, to, columns)));
        }
    }
    if let Some(more @ 1..) = history.calls.len().checked_sub(LANES) {
        let _ = writeln!(out, "{before}and {}", summary::counted(more, "more call"));
    }
    let others = |tick: &&IoTick| tick.call.is_none_or(|call| call >= history.calls.len());
    if history.ticks.iter().any(|tick| others(&tick)) {
        let mut lane = Lane(vec!['┈'; columns]);
        for tick in history.ticks.iter().filter(others) {
            lane.mark(at(tick.at), glyph(tick.kind), 0, columns);
        }
        let name = ink.strong(&format!("{:label$}", "?"));
        let end = if behind { "  call not known" } else { "" };
        let _ = writeln!(out, "{INDENT}{name}  {}{end}", lane.text());
    }
    for pause in line.breaks() {
        let _ = writeln!(out, "{}", ink.faint(&format!("{before}≈ stands for {}", words::time(pause.lasts))));
    }
    operations(out, evidence, look, ink);
    if let Some(stale) = scale::window(evidence) {
        let said = format!("stale: {}", words::stale(stale.call, stale.from, stale.to));
        let options = crate::text::wrap::options(look.width.saturating_sub(INDENT.len()).max(1));
        for line in textwrap::wrap(&said, options) {
            let _ = writeln!(out, "{INDENT}{}", ink.alarm(&line));
        }
    }
    let _ = writeln!(out);
}

/// The operations in the order of time: `r   310 µs  A  read  readFile memory.json`.
fn operations(out: &mut String, evidence: &Evidence, look: Look, ink: Ink) {
    let ticks = &evidence.history.ticks;
    let shown = telling(evidence);
    let (first, last) = match shown.len().checked_sub(TICKS) {
        Some(1..) => (shown.get(..TICKS - LAST), shown.get(shown.len() - LAST..)),
        _ => (Some(shown.as_slice()), None),
    };
    let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
    let write = |out: &mut String, tick: &IoTick| {
        let call = tick.call.map_or_else(|| "?".to_owned(), words::letter);
        let head = format!("{} {:>9}  {call:2} {:6}", glyph(tick.kind), words::time(tick.at), tick.kind);
        let room = look.width.saturating_sub(INDENT.len() + clean::width(&head));
        let _ = writeln!(out, "{INDENT}{}", format!("{head}{}", operation(&tick.on, room)).trim_end());
    };
    if !shown.is_empty() {
        let _ = writeln!(out);
    }
    for tick in first {
        write(out, tick);
    }
    if let Some(more @ 1..) = ticks.len().checked_sub(first.len() + last.len()) {
        let words = format!("… {}", summary::counted(more, "more operation"));
        let _ = writeln!(out, "{INDENT}{}", ink.faint(&words));
    }
    for tick in last {
        write(out, tick);
    }
}

/// What was done and on what; of a path that has no room the end is kept.
fn operation(on: &str, room: usize) -> String {
    let on = clean::line(on);
    match on.split_once(' ') {
        Some((word, what)) if clean::width(&on) > room && clean::width(word) + 8 < room => {
            format!("{word} {}", clean::tail(what, room - clean::width(word) - 1))
        }
        _ => clean::cut(&on, room),
    }
}

/// All operations if they are few; else what was read and written, in the stale window if there is one.
fn telling(evidence: &Evidence) -> Vec<&IoTick> {
    let ticks = &evidence.history.ticks;
    let moving = |tick: &&IoTick| tick.kind != TickKind::Wait;
    match scale::window(evidence) {
        _ if ticks.len() <= TICKS => ticks.iter().collect(),
        Some(stale) => {
            let inside = |tick: &&IoTick| (stale.from..=stale.to).contains(&tick.at);
            ticks.iter().filter(moving).filter(inside).collect()
        }
        _ => ticks.iter().filter(moving).collect(),
    }
}

fn glyph(kind: TickKind) -> char {
    match kind {
        TickKind::Read => 'r',
        TickKind::Write => 'w',
        TickKind::Wait => '·',
    }
}

fn column(position: f64, last: usize) -> usize {
    position.round().clamp(0.0, last as f64) as usize
}

/// `└─ stale ─┘`, from the column where it begins.
fn bracket(from: usize, to: usize, columns: usize) -> String {
    const WORD: &str = " stale ";
    let width = (to.saturating_sub(from) + 1).max(2);
    match width.checked_sub(WORD.len() + 2) {
        Some(rest) => {
            let left = rest / 2;
            format!("└{}{WORD}{}┘", "─".repeat(left), "─".repeat(rest - left))
        }
        None => {
            let bar = format!("└{}┘", "─".repeat(width - 2));
            if from + width + WORD.len() <= columns { format!("{bar}{}", WORD.trim_end()) } else { bar }
        }
    }
}

impl Lane {
    fn set(&mut self, column: usize, c: char) {
        let column = column.min(self.0.len().saturating_sub(1));
        if let Some(slot) = self.0.get_mut(column) {
            *slot = c;
        }
    }

    fn fill(&mut self, from: usize, to: usize, c: char) {
        for column in from..=to {
            self.set(column, c);
        }
    }

    /// An operation at its column, or at the next free one close by, so that a read and a write at once are both seen.
    fn mark(&mut self, column: usize, c: char, from: usize, to: usize) {
        let free = |slot: &usize| matches!(self.0.get(*slot), Some('─' | '╌' | '┈'));
        let inside = |slot: &usize| (*slot > from || from == 0 && free(&0)) && *slot < to;
        let near = [Some(column), column.checked_add(1), column.checked_sub(1), column.checked_add(2)];
        match near.into_iter().flatten().find(|slot| free(slot) && inside(slot)) {
            Some(slot) => self.set(slot, c),
            None if matches!(self.0.get(column), Some('r' | 'w' | '·')) => self.set(column, '*'),
            None => {}
        }
    }

    fn pause(&mut self, left: usize, right: usize) {
        for column in left + 1..right {
            if matches!(self.0.get(column), Some('─' | '╌')) {
                self.set(column, '≈');
            }
        }
    }

    fn text(&self) -> String {
        self.0.iter().collect()
    }
}
