//! One server object is connected to the transport of each request: answers of one client go over the transport of another.
//!
//! Reported:
//! ```text
//! app.post("/mcp", async (req, res) => {
//!   const transport = new StreamableHTTPServerTransport({ … });
//!   await server.connect(transport);                // reported here: `server` is the same for all
//! ```
//! Not reported:
//! ```text
//!   const server = makeServer();                    // one for each
//!   await server.connect(transport);
//! ```
//!
//! A server that is connected once, before anybody calls, has one transport.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Argument, Callee, Op, Resource, Term, Value},
};

use crate::{
    Issue, Reason,
    decision::unless,
    view::{At, Entry, Kinds, Runs, View},
};

use super::HAZARD;

/// What the class of a transport is called at the end.
const TRANSPORT: &str = "Transport";

/// The libraries whose servers keep one transport at a time.
const SDK: &str = "@modelcontextprotocol/";

/// The requests that connect a server which others use to a transport of their own.
pub(super) fn connected(view: &View<'_>) -> Vec<Issue> {
    let called =
        view.entries_with(Kinds::CALL).filter(|entry| matches!(entry.runs, Runs::Call(_) | Runs::Part(_)));
    called.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    let connects = |at: &At| match entry.op(*at) {
        Some(Op::Call { callee: Callee::Named(name), receiver: Some(server), arguments, .. }) => {
            &**name == "connect"
                && entry.alias().is_shared(server)
                && matches!(arguments.as_slice(), [transport] if made_by(entry, transport).is_some())
        }
        _ => false,
    };
    let judged = |at: At| {
        unless(asks_first(entry, at), Reason::AsksFirst)?;
        Ok(issue(entry, at))
    };
    let connecting: Vec<At> = entry.steps_of(Kinds::CALL).filter(connects).collect();
    connecting.into_iter().filter_map(|at| entry.settle(&HAZARD.id, &[at], judged(at))).collect()
}

/// Whether something of the server itself decides that it is connected: who finds it connected goes another way.
fn asks_first(entry: &Entry<'_>, at: At) -> bool {
    let Some(Op::Call { receiver: Some(server), .. }) = entry.op(at) else { return false };
    let server = entry.alias().resolve_path(server);
    entry.flow().controlling_reads(at).any(|(_, read)| match entry.resource(read) {
        Some(Resource::Shared(path)) => path.begins_with(&server),
        _ => false,
    })
}

/// The class that a transport was made of in this call.
fn made_by<'e>(entry: &Entry<'e>, transport: &Argument) -> Option<&'e str> {
    let Argument::Term(Term::Path(path)) = transport else { return None };
    let mut values: Vec<Value> = vec![];
    path.mention(&mut values);
    let makes = |at: At| match entry.op(at) {
        Some(Op::Call { into: Some(into), callee: Callee::Named(name), .. })
            if values.contains(into) && name.ends_with(TRANSPORT) =>
        {
            Some(&**name)
        }
        _ => None,
    };
    entry.steps_of(Kinds::CALL).find_map(makes)
}

fn issue(entry: &Entry<'_>, at: At) -> Issue {
    let (server, class) = match entry.op(at) {
        Some(Op::Call { receiver: Some(server), arguments, .. }) => {
            (entry.path_text(server), arguments.first().and_then(|transport| made_by(entry, transport)))
        }
        _ => (String::new(), None),
    };
    let span = entry.position(at, &[]);
    let message = format!(
        "`{server}` is one server for all and is connected to a new transport by each request, so an answer goes over the transport that was connected \
         last, to another client"
    );
    let sure = class.is_some_and(|class| class.starts_with(SDK));
    Issue::at(entry, at, &[], Reach::InProcess, message)
        .no_surer_than(if sure { Confidence::High } else { Confidence::Medium })
        .advise("Make a server object of its own for each transport.")
        .step(Lane::A, span, format!("connects `{server}` to its transport"))
        .step(Lane::B, span, format!("connects `{server}` to its own transport"))
        .step(Lane::A, span, "is answered over B's transport, or not at all")
}
