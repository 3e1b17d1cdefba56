//! A line of the audit log.

use std::{cell::RefCell, time::SystemTime};

use interlock_sync::store::{Fence, OpId};

use super::super::{
    table::{Here, Phase},
    text::{clip, clip_to, push_json, push_millis, push_number, push_time},
};
use crate::{
    call::ToolCall,
    event::{Decision, Ending, Event},
};

/// The longest line, apart from arguments: a few pieces of text of bounded length.
const USUAL: usize = 512;
/// What a call that is not known to have ended leaves behind when it held something.
const UNPROTECTED: &str = "the upstream may still be working on it; when the lease has run out, only an upstream that checks the fence is protected";

thread_local! {
    static LINE: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(USUAL));
}

/// Shows the line of an event, with its end, if it has one.
pub(super) fn with(
    event: &Event<'_>,
    here: Option<&Here>,
    now: SystemTime,
    arguments: Option<usize>,
    show: impl FnOnce(&[u8]),
) {
    if !matches!(
        event,
        Event::Decided { .. } | Event::Ended { .. } | Event::Message { .. } | Event::WithoutKey { .. }
    ) {
        return;
    }
    LINE.with_borrow_mut(|out| {
        out.clear();
        write(out, event, here, now, arguments);
        show(out);
        out.shrink_to(64 << 10);
    });
}

fn write(
    out: &mut Vec<u8>,
    event: &Event<'_>,
    here: Option<&Here>,
    now: SystemTime,
    arguments: Option<usize>,
) {
    match event {
        Event::Decided { id, call, decision, keys, waited } => {
            start(out, "decided", *id, call, now);
            let (name, reason, fence) = match *decision {
                Decision::Granted { fence } => ("granted", None, fence),
                Decision::Replayed => ("replayed", None, None),
                Decision::Refused { reason } => ("refused", Some(reason), None),
                Decision::Observed { reason } => ("observed", Some(reason), None),
            };
            text(out, "decision", name);
            if let Some(reason) = reason {
                text(out, "reason", reason);
            }
            list(out, keys.iter().map(String::as_str));
            fenced(out, fence);
            out.extend_from_slice(b",\"waited_ms\":");
            push_millis(out, *waited);
            if let Some(most) = arguments {
                out.extend_from_slice(b",\"arguments_bytes\":");
                push_number(out, call.arguments.len() as u64);
                let shown = call
                    .arguments
                    .get(..call.arguments.len().min(most.saturating_add(4)))
                    .unwrap_or_default();
                out.extend_from_slice(b",\"arguments\":");
                push_json(out, &clip_to(&String::from_utf8_lossy(shown), most));
            }
        }
        Event::Ended { id, call, ending, took } => {
            start(out, "ended", *id, call, now);
            let (name, reason) = match *ending {
                Ending::Answered => ("answered", None),
                Ending::Failed => ("failed", None),
                Ending::Cancelled => ("cancelled", None),
                Ending::Unknown { reason } => ("unknown", Some(reason)),
            };
            text(out, "ending", name);
            if let Some(reason) = reason {
                text(out, "reason", reason);
            }
            if let Some(Here { phase: Phase::Runs { keys, fence, since, .. }, arrived, .. }) = here {
                list(out, keys.iter().map(|key| &**key));
                fenced(out, *fence);
                out.extend_from_slice(b",\"waited_ms\":");
                push_millis(out, since.saturating_duration_since(*arrived));
                if reason.is_some() && !keys.is_empty() {
                    text(out, "note", UNPROTECTED);
                }
            }
            out.extend_from_slice(b",\"took_ms\":");
            push_millis(out, *took);
        }
        Event::WithoutKey { id, call } => start(out, "without-key", *id, call, now),
        Event::Message { caller, method, about, refused } => {
            begin(out, "message", now);
            text(out, "caller", caller.as_str());
            text(out, "method", method);
            if let Some(about) = about {
                text(out, "about", about);
            }
            text(out, "decision", if refused.is_some() { "refused" } else { "passed" });
            if let Some(reason) = refused {
                text(out, "reason", reason);
            }
        }
        _ => return,
    }
    out.extend_from_slice(b"}\n");
}

fn begin(out: &mut Vec<u8>, event: &str, now: SystemTime) {
    out.extend_from_slice(b"{\"time\":\"");
    push_time(out, now);
    out.extend_from_slice(b"\",\"event\":\"");
    out.extend_from_slice(event.as_bytes());
    out.push(b'"');
}

fn start(out: &mut Vec<u8>, event: &str, id: OpId, call: &ToolCall, now: SystemTime) {
    begin(out, event, now);
    out.extend_from_slice(b",\"call\":\"");
    for shift in (0..32).rev() {
        let digit = (id.0 >> (shift * 4) & 0xf) as u8;
        out.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
    }
    out.push(b'"');
    text(out, "caller", call.caller.as_str());
    text(out, "upstream", &call.upstream);
    text(out, "tool", &call.tool);
}

fn text(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    push_json(out, &clip(value));
}

fn list<'a>(out: &mut Vec<u8>, keys: impl Iterator<Item = &'a str>) {
    out.extend_from_slice(b",\"keys\":[");
    for (index, key) in keys.take(super::super::table::KEYS).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_json(out, &clip(key));
    }
    out.push(b']');
}

fn fenced(out: &mut Vec<u8>, fence: Option<Fence>) {
    if let Some(Fence(fence)) = fence {
        out.extend_from_slice(b",\"fence\":");
        push_number(out, fence);
    }
}
