//! One conversation with a server: requests out, answers and whatever else it says in.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{
    child::{self, Complaints, Process},
    http::Http,
    parcel::Parcel,
    pending::{About, Lost, Pending, Reply, Ticket},
};
use crate::{
    message::{Code, Edit, Id, Kind, Message, answer, failure, one_line, splice},
    policy::Reach,
    session::Outbox,
};

/// Somebody who gets what a server says by itself.
pub(crate) trait Hear: Send + Sync {
    /// The server asks the client something. `out` is where the request belongs to, if that is known.
    fn asked(&self, link: &Arc<Link>, request: &Message, out: Option<&Arc<Outbox>>);
    /// The server tells the client something.
    fn told(&self, link: &Arc<Link>, notification: &Message);
}

/// A conversation.
pub(crate) struct Link {
    /// The upstream's name.
    pub(crate) name: Arc<str>,
    wire: Wire,
    pub(crate) pending: Arc<Pending>,
    ears: Mutex<Ears>,
    pub(crate) greeted: super::greet::Greeted,
    itself: Weak<Self>,
}

/// How messages travel.
pub(super) enum Wire {
    Pipe { lines: mpsc::Sender<Bytes>, process: Process },
    Http(Http),
}

/// Who hears.
#[derive(Default)]
struct Ears {
    /// The only client of this conversation: what the server asks, it is asked.
    owner: Option<Weak<dyn Hear>>,
    /// Everybody who is told what concerns all.
    all: Vec<Weak<dyn Hear>>,
}

/// A request that was sent, or will be when it is waited for.
pub(crate) enum Begun {
    Sent(Ticket),
    /// HTTP: the answer comes on the request's own connection.
    Ready {
        parcel: Box<Parcel>,
        number: u64,
        about: About,
    },
    Lost(Lost),
}

impl Link {
    /// Starts a child process and talks to it. What the child writes to its standard error is logged under its label.
    pub(crate) fn spawn(
        name: &Arc<str>,
        label: &Arc<str>,
        reach: &Reach,
        complain: Option<Complaints>,
    ) -> std::io::Result<Arc<Self>> {
        let started = child::start(reach, label, complain)?;
        let wire = Wire::Pipe { lines: started.lines, process: started.process };
        let link = Self::new(name, wire);
        child::run(started.running, &link);
        Ok(link)
    }

    /// Talks to a server over HTTP.
    pub(crate) fn over(name: &Arc<str>, http: Http) -> Arc<Self> {
        Self::new(name, Wire::Http(http))
    }

    fn new(name: &Arc<str>, wire: Wire) -> Arc<Self> {
        Arc::new_cyclic(|itself| Self {
            name: Arc::clone(name),
            wire,
            pending: Arc::default(),
            ears: Mutex::default(),
            greeted: super::greet::Greeted::default(),
            itself: itself.clone(),
        })
    }

    /// The process behind it.
    pub(crate) fn process(&self) -> Option<&Process> {
        match &self.wire {
            Wire::Pipe { process, .. } => Some(process),
            Wire::Http(_) => None,
        }
    }

    pub(crate) fn http(&self) -> Option<&Http> {
        match &self.wire {
            Wire::Pipe { .. } => None,
            Wire::Http(http) => Some(http),
        }
    }

    /// Makes somebody the only client.
    pub(crate) fn belongs_to(&self, owner: Weak<dyn Hear>) {
        let mut ears = self.ears();
        ears.all.push(owner.clone());
        ears.owner = Some(owner);
    }

    /// Lets somebody hear what concerns all.
    pub(crate) fn also_heard_by(&self, one: Weak<dyn Hear>) {
        let mut ears = self.ears();
        ears.all.retain(|ear| ear.strong_count() > 0);
        ears.all.push(one);
    }

    /// Whether one client has it for itself.
    pub(crate) fn is_owned(&self) -> bool {
        self.ears().owner.is_some()
    }

    /// Sends a request. On a pipe it is on its way, in order, when this returns.
    pub(crate) async fn begin(&self, parcel: Box<Parcel>, number: u64, out: Option<Arc<Outbox>>) -> Begun {
        let about = parcel.about(out);
        match &self.wire {
            Wire::Http(_) => Begun::Ready { parcel, number, about },
            Wire::Pipe { lines, .. } => {
                let ticket = match self.pending.enter(number, about) {
                    Ok(ticket) => ticket,
                    Err(lost) => return Begun::Lost(lost),
                };
                match lines.send(one_line(parcel.addressed(number))).await {
                    Ok(()) => Begun::Sent(ticket),
                    Err(_) => Begun::Lost(Lost::before("its input is closed".to_owned())),
                }
            }
        }
    }

    /// Waits for what comes of a request.
    pub(crate) async fn finish(self: &Arc<Self>, begun: Begun) -> Reply {
        match begun {
            Begun::Sent(mut ticket) => ticket.reply().await,
            Begun::Lost(lost) => Reply::Lost(lost),
            Begun::Ready { parcel, number, about } => match &self.wire {
                Wire::Http(http) => http.call(self, &parcel, number, &about).await,
                Wire::Pipe { .. } => Reply::Lost(Lost::before("not sent".to_owned())),
            },
        }
    }

    /// Sends a request and waits for what comes of it.
    pub(crate) async fn call(self: &Arc<Self>, parcel: Parcel, out: Option<Arc<Outbox>>) -> Reply {
        let number = self.pending.number();
        let begun = self.begin(Box::new(parcel), number, out).await;
        self.finish(begun).await
    }

    /// Sends a notification or an answer.
    pub(crate) async fn tell(&self, bytes: Bytes) -> Result<(), Lost> {
        match &self.wire {
            Wire::Pipe { lines, .. } => {
                lines.send(one_line(bytes)).await.map_err(|_| Lost::before("its input is closed".to_owned()))
            }
            Wire::Http(http) => http.tell(bytes).await,
        }
    }

    /// Sends something without waiting, from where nothing can wait. If the pipe is full it is lost.
    pub(crate) fn tell_soon(&self, bytes: Bytes) {
        match &self.wire {
            Wire::Pipe { lines, .. } => {
                let _ = lines.try_send(one_line(bytes));
            }
            Wire::Http(http) => {
                let http = http.clone();
                tokio::spawn(async move { http.tell(bytes).await });
            }
        }
    }

    /// Whether a request is cancelled by closing the stream on which its answer would come.
    pub(crate) fn cancels_by_closing(&self) -> bool {
        self.http().is_some() && self.is_stateless()
    }

    /// Whether no answer will come any more.
    pub(crate) fn is_over(&self) -> bool {
        self.pending.is_over()
    }

    /// No answer will come any more.
    pub(crate) fn end(&self, reason: &str) {
        self.pending.end(reason);
    }

    /// Takes in a line of a child.
    pub(super) fn heard(&self, line: Bytes) {
        // What is no message is a server's stray print; everybody else ignores it too.
        let Ok(message) = Message::read(line) else { return };
        if message.kind() == Kind::Response {
            if let Some(number) = Id::number(&message.id()) {
                self.pending.settle(number, message);
            }
            return;
        }
        self.take(&message, None);
    }

    /// Takes in what is no answer. `about` is the request on whose stream it came.
    pub(super) fn take(&self, message: &Message, about: Option<&About>) {
        let Some(link) = self.itself.upgrade() else { return };
        if message.kind() == Kind::Request {
            return self.take_request(&link, message, about);
        }
        let parts = message.parts();
        if message.method() == "notifications/progress" {
            let Some(at) = parts.about_token else { return };
            let known = about.cloned().or_else(|| self.pending.about(Id::number(&message.raw(at))?));
            if let Some(About { out: Some(out), token: Some(token), .. }) = known {
                let _ = out.offer(splice(message.bytes(), &mut [Edit::new(at, token.to_vec())]));
            }
            return;
        }
        if let Some(at) = parts.subscription {
            let known = about.cloned().or_else(|| self.pending.about(Id::number(&message.raw(at))?));
            if let Some(About { out: Some(out), id, .. }) = known {
                let _ = out.offer(splice(message.bytes(), &mut [Edit::new(at, id.to_vec())]));
            }
            return;
        }
        if let Some(out) = about.and_then(|about| about.out.as_ref()) {
            let _ = out.offer(message.bytes().clone());
            return;
        }
        if message.method() == "notifications/message"
            && let Some(About { out: Some(out), .. }) = self.pending.only_logger()
        {
            let _ = out.offer(message.bytes().clone());
            return;
        }
        let all = self.ears().all.clone();
        for ear in all.iter().filter_map(Weak::upgrade) {
            ear.told(&link, message);
        }
    }

    fn take_request(&self, link: &Arc<Self>, request: &Message, about: Option<&About>) {
        let owner = self.ears().owner.as_ref().and_then(Weak::upgrade);
        if let Some(owner) = owner {
            owner.asked(link, request, about.and_then(|about| about.out.as_ref()));
        } else if request.method() == "ping" {
            self.tell_soon(answer(&request.id(), b"{}"));
        } else {
            let why = "several clients share this server, so nobody can say which of them is meant";
            self.tell_soon(failure(Some(&request.id()), Code::METHOD_NOT_FOUND, why));
        }
    }

    fn ears(&self) -> MutexGuard<'_, Ears> {
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("name", &self.name).finish_non_exhaustive()
    }
}
