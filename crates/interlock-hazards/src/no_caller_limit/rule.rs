//! Missing admission control: a server on the network bounds nobody's calls in flight.
//!
//! Reported:
//! ```text
//! app.post("/mcp", (req, res) => transport.handleRequest(req, res));   // reported here
//! app.listen(3000);
//! ```
//! Not reported:
//! ```text
//! app.use(rateLimit({ windowMs: 60_000, limit: 100 }));
//! app.post("/mcp", …);
//! ```
//!
//! One finding for each server, not for each tool. A server on standard streams has one client, who is only in its own way. That a limit is kept right is
//! `non-atomic-rate-limit`.

use std::collections::HashSet;

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{FunctionId, LockKind, Name, Op, Origin, Resource, Server, Term, Transport, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    lexicon::Topic,
    limits::is_limit,
    view::{At, Entry, Kinds, Runs, View},
};

use super::HAZARD;

/// Finds `no-caller-limit`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    // A limiter that one handler passes says that the author has thought of it.
    let limited = view
        .entries_with(Kinds::ACQUIRE | Kinds::WRITE)
        .filter(|entry| matches!(entry.runs, Runs::Call(_) | Runs::Part(_)))
        .any(limits);
    let judge = |server: &Server| {
        needs(server.transport == Transport::Http, Reason::OneClient)?;
        unless(limited || server.limited, Reason::LimitsCallers)?;
        Ok(issue(view, server))
    };
    let settled = |server: &Server| view.settle_at(&HAZARD.id, server.span, judge(server));
    view.program.servers.iter().filter_map(settled).collect()
}

fn issue(view: &View<'_>, server: &Server) -> Issue {
    let handlers: HashSet<FunctionId> = server.handlers.iter().copied().collect();
    let serves = |entry: &&Entry<'_>| handlers.contains(&entry.function);
    let mut tools: Vec<Name> = view.entries.iter().filter(serves).flat_map(Entry::tools).collect();
    tools.sort();
    tools.dedup();
    // A tool shows best what is held; a middleware or a list of resources is no story.
    let tool = view.entries.iter().filter(serves).find(|entry| entry.is_tool());
    let handler = tool.map(|entry| entry.function).or_else(|| server.handlers.first().copied());
    let handler = handler.and_then(|id| view.program.function(id)).map(|function| function.span);
    let span = server.span;
    Issue {
        severity: None,
        // Whether a proxy in front of the server bounds its callers is not to be seen from here.
        confidence: Confidence::Medium,
        reach: Reach::InProcess,
        span,
        function: function_at(view, span),
        tools,
        message: "nothing bounds how many calls one caller has in flight, so a single caller can keep all of the server \
                  busy and leave the others waiting"
            .into(),
        witness: vec![
            (Lane::A, span, "sends hundreds of calls at once; all of them start".into()),
            (Lane::B, span, "sends one call".into()),
            (Lane::A, handler.unwrap_or(span), "keeps the server busy with all of them".into()),
            (Lane::B, handler.unwrap_or(span), "waits behind all of A's calls, and times out".into()),
        ],
        keys: vec![],
        advice: None,
    }
}

/// The innermost function around a place.
fn function_at(view: &View<'_>, span: Span) -> FunctionId {
    let around = |(_, other): &(FunctionId, Span)| {
        other.file == span.file
            && other.start <= span.start
            && span.end <= other.end
            && other.line <= span.line
    };
    let spans = (0..).map(FunctionId).zip(view.program.functions.iter().map(|function| function.span));
    spans.filter(around).min_by_key(|(_, other)| other.end - other.start).map_or(FunctionId(0), |(id, _)| id)
}

/// Whether an entry passes something that counts per caller and refuses.
fn limits(entry: &Entry<'_>) -> bool {
    let permits = entry
        .all(Kinds::ACQUIRE, |op| matches!(op, Op::Acquire { lock, .. } if lock.kind == LockKind::Semaphore));
    let per_caller = |at: At| match entry.op(at) {
        Some(Op::Acquire { lock, .. }) => {
            let lock = entry.locks().resolve(lock);
            let mut values = entry.flow().values_in(&Term::Path(lock.object.clone()));
            values.extend(lock.key.iter().flat_map(|key| entry.flow().values_in(key)));
            values.iter().any(|value| is_caller(entry, *value))
        }
        _ => false,
    };
    permits.into_iter().any(per_caller) || counts(entry)
}

/// Whether a number that belongs to the caller is read, judged and written back.
fn counts(entry: &Entry<'_>) -> bool {
    let changes = entry.steps_of(Kinds::WRITE);
    changes.into_iter().any(|write| {
        let (Some(Op::Write { mode, outcome, .. }), Some(resource)) = (entry.op(write), entry.resource(write)) else {
            return false;
        };
        if !belongs_to_caller(entry, resource) || !is_count(entry, resource) {
            return false;
        }
        let judged = |value: Value| {
            entry.all(Kinds::CHECK, |op| matches!(op, Op::Check { on, .. } if on.iter().any(|on| entry.flow().depends_on(*on, value)))).count() > 0
        };
        let counted_by_the_store = *mode == WriteMode::Atomic && outcome.is_some_and(judged);
        let read_before = || {
            entry.flow().controlling_reads(write).any(|(_, source)| entry.alias().overlap(source, write).is_some())
                && entry.flow().data_dependences(write).iter().any(|source| entry.alias().overlap(*source, write).is_some())
        };
        counted_by_the_store || read_before()
    })
}

/// Whether something may be a count of calls. A row that belongs to a user is mostly one of their records; who counts calls in a table calls
/// it so.
fn is_count(entry: &Entry<'_>, resource: &Resource) -> bool {
    let counts = |column: &Name| entry.lexicon().has_inside(Topic::Limit, column);
    match resource {
        Resource::Row { columns, .. } => is_limit(entry, resource) || columns.iter().any(counts),
        _ => true,
    }
}

fn belongs_to_caller(entry: &Entry<'_>, resource: &Resource) -> bool {
    let values = match resource {
        Resource::Key(term) => entry.flow().values_in(term),
        Resource::Row { key, .. } => entry.flow().values_in(key),
        Resource::Shared(path) => entry.flow().values_in(&Term::Path(path.clone())),
        _ => return false,
    };
    values.iter().any(|value| is_caller(entry, *value))
}

/// Whether a value says who calls: verified, or by what the source calls it.
fn is_caller(entry: &Entry<'_>, value: Value) -> bool {
    if matches!(entry.flow().origin(value), Some(Origin::Caller | Origin::Session)) {
        return true;
    }
    let named = |name: &str| {
        let name: String = name.to_lowercase().chars().filter(|c| c.is_ascii_alphabetic()).collect();
        let known = entry.lexicon().list(Topic::Caller);
        known.iter().any(|known| *name == **known || (known.len() > 2 && name.contains(&**known)))
    };
    named(entry.name_of(value)) || entry.alias().field_of(value).is_some_and(|field| named(&field))
}
