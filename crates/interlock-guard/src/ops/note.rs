//! Every event comes past here and goes to whoever it concerns. This is on the way of each call: counters are added to, one part of the
//! table is locked for a moment, and text is only made for those who asked for it.

use std::{
    sync::{
        Arc, PoisonError,
        atomic::Ordering::{self, Relaxed},
    },
    time::{Duration, Instant},
};

use interlock_sync::store::{Fence, OpId};

use super::{
    hub::Ops,
    live::Refused,
    log::Level,
    table::{Here, Keys, Phase, is_same, keep},
    tally::{Tool, state_name},
    text::clip,
    trace::Span,
};
use crate::{
    call::{Caller, ToolCall},
    event::{Decision, Ending, Event, UpstreamState, Watch},
    traceparent::Traceparent,
};

impl Watch for Ops {
    fn note(&self, event: &Event<'_>) {
        match *event {
            Event::Arrived { id, call } => {
                self.tally.sum.arrived.fetch_add(1, Relaxed);
                self.table.arrive(id, call, self.tally.tools.of(&call.tool), Instant::now());
            }
            Event::Waits { id, on, ahead } => self.waits(id, on, ahead),
            Event::WithoutKey { call, .. } => {
                self.tally.tools.of(&call.tool).without_key.fetch_add(1, Relaxed);
                if let Some(audit) = &self.audit {
                    audit.note(event, None);
                }
                if let Some(log) = &self.log {
                    let fields = [("tool", &*call.tool), ("caller", call.caller.as_str())];
                    log.say_seldom(Level::Warn, "without key", &call.tool, Instant::now(), &fields);
                }
            }
            Event::Decided { id, call, decision, keys, waited } => {
                self.decided(id, call, decision, keys, waited);
                if let Some(audit) = &self.audit {
                    audit.note(event, None);
                }
            }
            Event::Ended { id, call, ending, took } => {
                let here = self.leave(id);
                // Before the audit line, which is what takes longest.
                self.ended(call, ending, took, here.as_ref());
                if let Some(audit) = &self.audit {
                    audit.note(event, here.as_ref());
                }
                self.record_ended(id, call, ending, took, here);
            }
            Event::Message { caller, method, refused, .. } => {
                if let Some(reason) = refused {
                    self.refused_message(caller, method, reason);
                }
                if let Some(audit) = &self.audit {
                    audit.note(event, None);
                }
            }
            Event::TurnedAway { reason, words } => self.turned_away(reason, words),
            Event::Upstream { name, state, reason } => self.upstream(name, state, reason),
            Event::Store { error } => {
                self.tally.store_errors.fetch_add(1, Relaxed);
                if let Some(log) = &self.log {
                    log.say_seldom(Level::Error, "store", "", Instant::now(), &[("error", error)]);
                }
            }
            Event::Reloaded { generation } => {
                self.tally.generation.store(generation, Relaxed);
                self.tally.reloads.fetch_add(1, Relaxed);
                self.say(Level::Info, "policy", &[("generation", &generation.to_string())]);
            }
            Event::Notice { about, words } => self.say(Level::Warn, about, &[("words", words)]),
            Event::Listed { tools } => self.tally.tools.list(tools),
            Event::Closing => {
                self.tally.is_closing.store(true, Ordering::Release);
                self.say(
                    Level::Info,
                    "closing",
                    &[("in_flight", &self.tally.sum.in_flight.get().to_string())],
                );
            }
        }
    }

    fn traceparent(&self, id: OpId, call: &ToolCall) -> Option<Traceparent> {
        Some(self.traces.as_ref()?.outgoing(id, call.traceparent))
    }
}

/// How a call begins to run.
struct Start {
    keys: Keys,
    fence: Option<Fence>,
    is_observed: bool,
    waited: Duration,
    now: Instant,
}

impl Start {
    fn new(keys: &[String], fence: Option<Fence>, is_observed: bool, waited: Duration) -> Self {
        Self { keys: keep(keys), fence, is_observed, waited, now: Instant::now() }
    }
}

impl Ops {
    fn waits(&self, id: OpId, on: &[String], ahead: u32) {
        self.table.with(id, |here| match &mut here.phase {
            Phase::New => {
                here.row.waiting.up();
                self.tally.sum.waiting.up();
                here.phase = Phase::Waits { on: keep(on), ahead };
            }
            Phase::Waits { on: kept, ahead: before } => {
                *before = ahead;
                if !is_same(kept, on) {
                    *kept = keep(on);
                }
            }
            Phase::Runs { .. } => {}
        });
    }

    fn decided(&self, id: OpId, call: &ToolCall, decision: Decision<'_>, keys: &[String], waited: Duration) {
        match decision {
            Decision::Granted { fence } => {
                self.run(id, call, Start::new(keys, fence, false, waited)).granted.fetch_add(1, Relaxed);
            }
            Decision::Observed { reason } => {
                let row = self.run(id, call, Start::new(keys, None, true, waited));
                self.refused(call, reason, keys, &row, true);
            }
            Decision::Replayed => {
                let (here, row) = self.turn_away(id, call, waited);
                row.replayed.fetch_add(1, Relaxed);
                self.record_decided(id, call, here, keys, "replayed", None);
            }
            Decision::Refused { reason } => {
                let (here, row) = self.turn_away(id, call, waited);
                self.tally.sum.refused.fetch_add(1, Relaxed);
                self.refused(call, reason, keys, &row, false);
                self.record_decided(id, call, here, keys, "refused", Some(reason));
            }
        }
    }

    /// A call runs from now on. One that is observed may be told of more than once, for each rule that would have refused it.
    fn run(&self, id: OpId, call: &ToolCall, mut start: Start) -> Arc<Tool> {
        if let Some(row) = self.table.with(id, |here| self.begin(here, &mut start)) {
            return row;
        }
        self.table.arrive(id, call, self.tally.tools.of(&call.tool), start.now);
        self.table.with(id, |here| self.begin(here, &mut start)).unwrap_or_default()
    }

    fn begin(&self, here: &mut Here, start: &mut Start) -> Arc<Tool> {
        let keys = std::mem::take(&mut start.keys);
        let mut runs =
            Phase::Runs { keys, fence: start.fence, is_observed: start.is_observed, since: start.now };
        std::mem::swap(&mut here.phase, &mut runs);
        match (runs, &mut here.phase) {
            (
                Phase::Runs { keys: had, fence: with, is_observed: was, since: before },
                Phase::Runs { keys, fence, is_observed, since },
            ) => {
                // What was granted is held; what a rule that observes says comes later and holds nothing.
                if !had.is_empty() {
                    *keys = had;
                }
                (*fence, *is_observed, *since) = (fence.or(with), *is_observed || was, before);
                return Arc::clone(&here.row);
            }
            (Phase::Waits { .. }, _) => {
                here.row.waiting.down();
                self.tally.sum.waiting.down();
            }
            _ => {}
        }
        here.row.in_flight.up();
        self.tally.sum.in_flight.up();
        here.row.waits.add(start.waited);
        Arc::clone(&here.row)
    }

    /// A call does not run.
    fn turn_away(&self, id: OpId, call: &ToolCall, waited: Duration) -> (Option<Here>, Arc<Tool>) {
        let here = self.leave(id);
        let row = here.as_ref().map_or_else(|| self.tally.tools.of(&call.tool), |here| Arc::clone(&here.row));
        row.waits.add(waited);
        (here, row)
    }

    /// Takes a call out of the table and out of what is counted of this moment.
    fn leave(&self, id: OpId) -> Option<Here> {
        let here = self.table.leave(id)?;
        match here.phase {
            Phase::New => {}
            Phase::Waits { .. } => {
                here.row.waiting.down();
                self.tally.sum.waiting.down();
            }
            Phase::Runs { .. } => {
                here.row.in_flight.down();
                self.tally.sum.in_flight.down();
            }
        }
        Some(here)
    }

    fn refused(&self, call: &ToolCall, reason: &str, keys: &[String], row: &Tool, is_observed: bool) {
        let number = self.tally.reasons.of(reason);
        let counts = if is_observed { &row.observed } else { &row.refused };
        if let Some(count) = counts.get(number.index()) {
            count.fetch_add(1, Relaxed);
        }
        let now = Instant::now();
        self.recent.push(Refused {
            at: self.calendar(now),
            caller: call.caller.clone(),
            tool: Arc::clone(&call.tool),
            reason: number,
            is_observed,
            keys: keep(keys),
        });
        if let Some(log) = &self.log {
            let event = if is_observed { "observed" } else { "refused" };
            let fields = [
                ("decision", event),
                ("reason", reason),
                ("tool", &*call.tool),
                ("caller", call.caller.as_str()),
            ];
            log.say_seldom(Level::Warn, event, reason, now, &fields);
        }
    }

    fn refused_message(&self, caller: &Caller, method: &str, reason: &str) {
        self.tally.refused_messages.fetch_add(1, Relaxed);
        if let Some(log) = &self.log {
            let fields = [
                ("decision", "refused"),
                ("reason", reason),
                ("method", method),
                ("caller", caller.as_str()),
            ];
            log.say_seldom(Level::Warn, "message", reason, Instant::now(), &fields);
        }
    }

    fn turned_away(&self, reason: &'static str, words: &str) {
        *self.tally.turned_away.lock().unwrap_or_else(PoisonError::into_inner).entry(reason).or_default() +=
            1;
        if let Some(log) = &self.log {
            let fields = [("reason", reason), ("words", words)];
            log.say_seldom(Level::Warn, "turned away", reason, Instant::now(), &fields);
        }
    }

    fn ended(&self, call: &ToolCall, ending: Ending<'_>, took: Duration, here: Option<&Here>) {
        let row = here.map_or_else(|| self.tally.tools.of(&call.tool), |here| Arc::clone(&here.row));
        row.durations.add(took);
        let count = match ending {
            Ending::Answered => &row.answered,
            Ending::Failed => &row.failed,
            Ending::Cancelled => &row.cancelled,
            Ending::Unknown { .. } => &row.unknown,
        };
        count.fetch_add(1, Relaxed);
        if let (Ending::Unknown { reason }, Some(log)) = (ending, &self.log) {
            let fields = [
                ("reason", reason),
                ("tool", &*call.tool),
                ("caller", call.caller.as_str()),
                ("upstream", &*call.upstream),
            ];
            log.say_seldom(Level::Error, "unknown outcome", "", Instant::now(), &fields);
        }
    }

    fn upstream(&self, name: &str, state: UpstreamState, reason: &str) {
        self.tally.upstreams.note(name, state, reason, self.calendar(Instant::now()));
        let level = if state == UpstreamState::Down { Level::Error } else { Level::Info };
        self.say(level, "upstream", &[("name", name), ("state", state_name(state)), ("reason", reason)]);
    }

    fn say(&self, level: Level, event: &str, fields: &[(&str, &str)]) {
        if let Some(log) = &self.log {
            log.say(level, event, fields);
        }
    }

    /// Records a call that ended with the decision over it.
    fn record_decided(
        &self,
        id: OpId,
        call: &ToolCall,
        here: Option<Here>,
        keys: &[String],
        decision: &'static str,
        reason: Option<&str>,
    ) {
        self.record(id, call, here.map(|here| here.arrived), |span| Span {
            decision,
            reason: reason.map(|reason| clip(reason).into()),
            // A refusal is a result that says `isError`, for which the conventions have this word.
            error: reason.map(|_| "tool_error"),
            keys: keep(keys),
            ..span
        });
    }

    /// Records a call that ran.
    fn record_ended(
        &self,
        id: OpId,
        call: &ToolCall,
        ending: Ending<'_>,
        took: Duration,
        here: Option<Here>,
    ) {
        let arrived = here.as_ref().map(|here| here.arrived);
        self.record(id, call, arrived, |span| {
            let (ending, error, reason) = match ending {
                Ending::Answered => ("answered", None, None),
                Ending::Failed => ("failed", Some("tool_error"), None),
                Ending::Cancelled => ("cancelled", Some("cancelled"), None),
                Ending::Unknown { reason } => ("unknown", Some("unknown_outcome"), Some(clip(reason).into())),
            };
            let (keys, fence, is_observed) = match here {
                Some(Here { phase: Phase::Runs { keys, fence, is_observed, .. }, .. }) => {
                    (keys, fence, is_observed)
                }
                _ => (Keys::default(), None, false),
            };
            Span {
                forwarded: span.end.checked_sub(took),
                decision: if is_observed { "observed" } else { "granted" },
                ending: Some(ending),
                error,
                reason,
                keys,
                fence,
                ..span
            }
        });
    }

    /// Hands a span over, if somebody records this call; `fill` adds what is known of its kind.
    fn record(&self, id: OpId, call: &ToolCall, arrived: Option<Instant>, fill: impl FnOnce(Span) -> Span) {
        let Some(traces) = &self.traces else { return };
        let parent = call.traceparent;
        if !traces.is_recorded(id, parent) {
            return;
        }
        let now = Instant::now();
        traces.push(fill(Span {
            id,
            parent,
            caller: call.caller.clone(),
            session: call.reader.clone().filter(|reader| **reader != *call.caller.as_str()),
            tool: Arc::clone(&call.tool),
            upstream: Arc::clone(&call.upstream),
            start: self.calendar(arrived.unwrap_or(now)),
            forwarded: None,
            end: self.calendar(now),
            decision: "",
            reason: None,
            ending: None,
            error: None,
            keys: Keys::default(),
            fence: None,
        }));
    }
}
