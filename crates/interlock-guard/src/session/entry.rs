//! Admission of client messages that are no tool calls.
//!
//! A server may act on whatever reaches it, also on a request that wants no answer. So nothing that a client says passes by itself:
//!
//! | message | what becomes of it |
//! |---|---|
//! | `tools/call` with an id | decided by the desk |
//! | a request that greets or is about tools | passed on |
//! | another request with an id whose method the policy denies | refused, with an audit line |
//! | another request with an id, also of a method that is not known here | passed on; with an audit line, unless it only lists |
//! | a notification that the client's revision has | heeded, and passed on to a server that the client has for itself |
//! | anything else without an id | refused, with an audit line |
//! | a notification with an id | refused, with an audit line |
//! | an answer | passed on, if the server had asked |
//!
//! What bytes are no message at all is decided in `message`.

use interlock_model::Mode;

use super::{
    call::{Said, failed},
    client::{Session, Style},
    revision,
};
use crate::{
    call::Caller,
    event::Event,
    message::{Code, Message},
};

/// A message without an id that goes nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unheard {
    /// For people.
    pub(crate) why: &'static str,
    /// Whether its sender took it for a notification, and so expects no answer, not even this one.
    pub(crate) is_notification: bool,
}

const NO_ID: &str = "no-id";
const NOT_OF_REVISION: &str = "notification";
const HAS_ID: &str = "notification-with-id";
const DENIED: &str = "denied";

impl Session {
    /// Whether a message without an id may be heeded.
    pub(super) fn admit_notification(&self, caller: &Caller, message: &Message) -> Result<(), Unheard> {
        let method = message.method();
        if revision::has_notification(self.spoken_revision(), &method) {
            return Ok(());
        }
        let is_notification = revision::is_notification(&method);
        let (reason, why) = if is_notification {
            (NOT_OF_REVISION, "clients of this revision send no such notification")
        } else {
            (NO_ID, "a request has an id")
        };
        self.note(caller, message, Some(reason));
        Err(Unheard { why, is_notification })
    }

    /// The error for a request that must not reach a server; `None` for one that may. Requests that can make a server act get an audit line.
    pub(super) fn refuse_request(&self, caller: &Caller, message: &Message) -> Option<Said> {
        let method = message.method();
        if revision::is_notification(&method) {
            self.note(caller, message, Some(HAS_ID));
            return Some(failed(message, Code::INVALID_REQUEST, "a notification has no id"));
        }
        // Over a tool call the desk decides, and says so itself.
        if revision::is_about_tools(&method) || revision::greets(&method) {
            return None;
        }
        match self.engine.desk.denies_request(&method) {
            Some(Mode::Enforce) => {
                self.note(caller, message, Some(DENIED));
                let why = "the policy of the guard in front of this server does not allow this method";
                return Some(failed(message, Code::METHOD_NOT_FOUND, why));
            }
            // In observe mode a denied method passes. Its audit line says `passed`, also for methods that only list.
            Some(Mode::Observe) => self.note(caller, message, None),
            None if revision::only_lists(&method) => {}
            None => self.note(caller, message, None),
        }
        None
    }

    /// The revision by which the client's notifications are judged.
    fn spoken_revision(&self) -> &str {
        match (self.style, self.version.get()) {
            (Style::Stateless, _) => revision::STATELESS,
            (_, Some(version)) => version,
            // A server that greeted back without saying how.
            (_, None) if self.hello.get().is_some() => revision::HANDSHAKE,
            (_, None) => revision::STATELESS,
        }
    }

    fn note(&self, caller: &Caller, message: &Message, refused: Option<&'static str>) {
        let parts = message.parts();
        let about = parts.uri.or(parts.name).or(parts.task_id).and_then(|span| message.text(span));
        self.engine.watch.note(&Event::Message {
            caller,
            method: &message.method(),
            about: about.as_deref(),
            refused,
        });
    }
}
