//! Where a moment stands on a line of time.
//!
//! The line is even, but for stretches in which nothing happens and that would leave no room for what does: a call of 0.3 ms beside
//! one of 3 s, operations close to each other in a long call. Such a stretch is drawn as a break, with its length written at it. Calls
//! whose answers merely come close to each other are no reason: then how long they took is what tells.

use std::time::Duration;

use interlock_model::{CallSet, Evidence, Fault, StaleWindow};

/// What is left beside the longest stretches must be less than this share of the whole, or nothing is broken.
const CRAMPED: f64 = 0.03;

/// A stretch is broken only if it is so many times longer than all that stays.
const LONGER: f64 = 4.0;

/// More breaks than this are no picture any more.
const BREAKS: usize = 2;

/// A line of time.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pieces: Vec<Piece>,
    start: f64,
    end: f64,
}

/// A stretch between two moments that follow each other.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: Duration,
    to: Duration,
    left: f64,
    right: f64,
    broken: bool,
}

/// A stretch that is not drawn at its length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Break {
    pub(super) left: f64,
    pub(super) right: f64,
    /// How long it is.
    pub(super) lasts: Duration,
}

impl Scale {
    /// The line of a run; a break takes `gap`.
    pub(super) fn of(set: &CallSet, evidence: &Evidence, start: f64, end: f64, gap: f64) -> Self {
        let moments = moments(set, evidence);
        Self::new(moments, start, end, gap, has_details(evidence))
    }

    /// A line from one position to another over all these moments.
    pub(super) fn new(
        moments: impl IntoIterator<Item = Duration>,
        start: f64,
        end: f64,
        gap: f64,
        may_break: bool,
    ) -> Self {
        let mut moments: Vec<Duration> = moments.into_iter().collect();
        moments.sort_unstable();
        moments.dedup();
        let stretches: Vec<(Duration, Duration)> =
            moments.iter().copied().zip(moments.iter().copied().skip(1)).collect();
        let lengths: Vec<f64> = stretches.iter().map(|(from, to)| (*to - *from).as_secs_f64()).collect();
        let broken = if may_break { breaks(&lengths) } else { vec![false; lengths.len()] };
        let even: f64 = lengths.iter().zip(&broken).filter(|(_, broken)| !**broken).map(|(one, _)| one).sum();
        let taken = broken.iter().filter(|broken| **broken).map(|_| gap).sum::<f64>();
        let unit = if even > 0.0 { (end - start - taken).max(0.0) / even } else { 0.0 };
        let mut left = start;
        let mut pieces = Vec::with_capacity(stretches.len());
        for (((from, to), length), broken) in stretches.into_iter().zip(lengths).zip(broken) {
            let right = left + if broken { gap } else { length * unit };
            pieces.push(Piece { from, to, left, right, broken });
            left = right;
        }
        Self { pieces, start, end }
    }

    /// Where a moment stands; what lies outside stands at an end.
    pub(super) fn at(&self, moment: Duration) -> f64 {
        let Some(first) = self.pieces.first() else { return self.start };
        if moment <= first.from {
            return self.start;
        }
        let index = self.pieces.partition_point(|piece| piece.to < moment);
        let Some(piece) = self.pieces.get(index) else { return self.end };
        let share = (moment - piece.from.min(moment)).as_secs_f64() / (piece.to - piece.from).as_secs_f64();
        piece.left + (piece.right - piece.left) * share
    }

    /// What is not drawn at its length.
    pub(super) fn breaks(&self) -> impl Iterator<Item = Break> {
        self.pieces.iter().filter(|piece| piece.broken).map(|piece| Break {
            left: piece.left,
            right: piece.right,
            lasts: piece.to - piece.from,
        })
    }

    /// Where the line begins.
    pub(super) fn start(&self) -> f64 {
        self.start
    }

    /// Where the line ends.
    pub(super) fn end(&self) -> f64 {
        self.end
    }

    /// Runs of stretches without a break: where an even axis may have marks.
    pub(super) fn runs(&self) -> Vec<(Duration, Duration)> {
        let mut runs: Vec<(Duration, Duration)> = Vec::new();
        for piece in self.pieces.iter().filter(|piece| !piece.broken) {
            match runs.last_mut() {
                Some(run) if run.1 == piece.from => run.1 = piece.to,
                _ => runs.push((piece.from, piece.to)),
            }
        }
        runs
    }
}

/// All that a picture of a run has to have room for.
pub(super) fn moments(set: &CallSet, evidence: &Evidence) -> Vec<Duration> {
    let history = &evidence.history;
    let calls = history.calls.iter().flat_map(|call| [Some(call.sent), call.answer.at()]);
    let ticks = history.ticks.iter().map(|tick| Some(tick.at));
    let window = window(evidence).into_iter().flat_map(|stale| [Some(stale.from), Some(stale.to)]);
    let ending = interruption(set, evidence).map(|(at, _)| at);
    calls.chain(ticks).chain(window).chain([ending]).flatten().collect()
}

/// Whether there is something inside the calls to be seen: operations, or a call that is short beside another.
fn has_details(evidence: &Evidence) -> bool {
    let lasting =
        |call: &interlock_model::CallRecord| call.answer.at().map(|at| at.saturating_sub(call.sent));
    let times = || evidence.history.calls.iter().filter_map(lasting);
    let (shortest, longest) = (times().min().unwrap_or_default(), times().max().unwrap_or_default());
    !evidence.history.ticks.is_empty() || shortest.as_secs_f64() < longest.as_secs_f64() * CRAMPED
}

/// The stale window, if it is one: of a call that is there, from earlier to later.
pub(super) fn window(evidence: &Evidence) -> Option<StaleWindow> {
    evidence.stale.filter(|stale| stale.from <= stale.to && stale.call < evidence.history.calls.len())
}

/// When the server or its client went away, and in which word.
pub(super) fn interruption(set: &CallSet, evidence: &Evidence) -> Option<(Duration, &'static str)> {
    let (after, word) = match set.fault {
        Fault::None => return None,
        Fault::Kill { after } => (after, "killed"),
        Fault::Close { after } => (after, "closed"),
    };
    let sent = evidence.history.calls.iter().map(|call| call.sent).max().unwrap_or_default();
    Some((sent.saturating_add(after), word))
}

/// Which stretches are broken: the few longest, as long as they leave no room for the others.
fn breaks(lengths: &[f64]) -> Vec<bool> {
    let mut broken = vec![false; lengths.len()];
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    let length = |index: usize| lengths.get(index).copied().unwrap_or(0.0);
    order.sort_by(|one, other| length(*other).total_cmp(&length(*one)));
    let mut done = 0;
    loop {
        let rest = |from: usize| order.iter().skip(from).map(|index| length(*index)).sum::<f64>();
        let whole = rest(done);
        let next = (done + 1..=order.len().min(BREAKS)).find(|count| {
            let left = rest(*count);
            let shortest = order.get(count - 1).map_or(0.0, |index| length(*index));
            left > 0.0 && left < whole * CRAMPED && shortest > left * LONGER
        });
        let Some(count) = next else { return broken };
        for index in order.iter().take(count) {
            if let Some(slot) = broken.get_mut(*index) {
                *slot = true;
            }
        }
        done = count;
    }
}

#[cfg(test)]
mod tests {
    use interlock_model::{Answer, CallRecord, History};

    use super::*;

    fn scale(micros: &[u64]) -> Scale {
        Scale::new(micros.iter().map(|one| Duration::from_micros(*one)), 0.0, 100.0, 10.0, true)
    }

    fn at(scale: &Scale, micros: u64) -> f64 {
        scale.at(Duration::from_micros(micros)).round()
    }

    #[test]
    fn time_is_even_where_everything_has_room() {
        let scale = scale(&[0, 0, 1_000, 2_500, 4_000]);
        assert_eq!(
            [0, 1_000, 2_000, 4_000, 9_000].map(|one| at(&scale, one)),
            [0.0, 25.0, 50.0, 100.0, 100.0]
        );
        assert_eq!(scale.breaks().count(), 0);
    }

    #[test]
    fn a_long_wait_is_broken_so_that_a_short_call_can_be_seen() {
        let scale = scale(&[0, 100, 300, 3_000_000]);
        assert_eq!([0, 100, 300, 3_000_000].map(|one| at(&scale, one)), [0.0, 30.0, 90.0, 100.0]);
        let breaks: Vec<Break> = scale.breaks().collect();
        assert_eq!(breaks.len(), 1);
        assert_eq!(breaks[0].lasts, Duration::from_micros(2_999_700));
        assert_eq!(scale.runs(), [(Duration::ZERO, Duration::from_micros(300))]);
    }

    #[test]
    fn several_waits_between_busy_moments_are_all_broken() {
        let scale = scale(&[0, 100, 1_000_000, 1_000_100, 2_000_000, 2_000_100]);
        assert_eq!(scale.breaks().count(), 2);
        assert_eq!(scale.runs().len(), 3);
    }

    #[test]
    fn answers_that_come_close_to_each_other_are_no_reason_for_a_break() {
        let call = |from: u64, to: u64| CallRecord {
            tool: String::new(),
            arguments: Default::default(),
            sent: Duration::from_micros(from),
            answer: Answer::Result { at: Duration::from_micros(to), value: Default::default() },
        };
        let breaks = |calls: Vec<CallRecord>| {
            let evidence = Evidence {
                history: History { calls, ticks: vec![] },
                schedule: Default::default(),
                observed: Default::default(),
                legal: vec![],
                violated: vec![],
                stale: None,
                again: (0, 0),
                replay: None,
            };
            Scale::of(&CallSet::default(), &evidence, 0.0, 100.0, 10.0).breaks().count()
        };
        assert_eq!(breaks(vec![call(0, 105_000), call(0, 107_000)]), 0);
        assert_eq!(breaks(vec![call(0, 300), call(0, 107_000)]), 1);
    }

    #[test]
    fn one_moment_or_none_stands_at_the_start() {
        assert_eq!(at(&scale(&[]), 5), 0.0);
        assert_eq!(at(&scale(&[7]), 5), 0.0);
        assert_eq!(at(&scale(&[0, 7]), 7), 100.0);
        let far = Scale::new([Duration::ZERO, Duration::MAX], 0.0, 100.0, 10.0, true);
        assert_eq!(far.at(Duration::MAX), 100.0);
    }
}
