//! Messages that want no answer: the client's to its servers, and the servers' to the client.

use std::sync::{Arc, PoisonError};

use super::{
    client::{Session, Style},
    entry::Unheard,
    outbox::Outbox,
};
use crate::{
    call::Caller,
    message::{Edit, Id, Kind, Message, splice},
    upstream::{Hear, Link},
};

/// How many resources a client may want to hear of.
const MOST_SUBSCRIBED: usize = 10_000;

impl Session {
    /// Passes on a notification or an answer of the client, unless it may not be.
    pub(crate) async fn tell(&self, caller: &Caller, message: &Message) -> Result<(), Unheard> {
        if message.kind() == Kind::Response {
            if let Some((link, bytes)) = self.asks.answered(message) {
                let _ = link.tell(bytes).await;
            }
            return Ok(());
        }
        self.admit_notification(caller, message)?;
        let method = message.method();
        if method == "notifications/cancelled" {
            self.cancel(message).await;
            return Ok(());
        }
        // A server that several share got its greeting from the guard, knows of no roots, and asks nobody anything.
        for link in self.links().iter().filter(|link| link.is_owned()) {
            let _ = link.tell(message.bytes().clone()).await;
        }
        if method == "notifications/initialized" && self.style == Style::Alone {
            self.listen();
        }
        Ok(())
    }

    /// Takes note of what an answer says besides.
    pub(super) fn learn(&self, request: &Message, answer: &Message, teaches: bool) {
        let Some(result) = answer.result() else { return };
        if teaches && let Some(upstream) = self.engine.upstreams.first() {
            upstream.tools.learn(&result);
        }
        let method = request.method();
        if let Some(uri) = uri(request).filter(|_| method.starts_with("resources/")) {
            let mut subscribed = self.subscribed.lock().unwrap_or_else(PoisonError::into_inner);
            match &*method {
                "resources/subscribe" if subscribed.len() < MOST_SUBSCRIBED => drop(subscribed.insert(uri)),
                "resources/unsubscribe" => drop(subscribed.remove(&uri)),
                _ => {}
            }
        }
    }

    /// Whether others want to hear of a resource that this client does not want to hear of any more.
    pub(super) fn is_wanted_by_others(&self, request: &Message) -> bool {
        let Some(uri) = uri(request) else { return false };
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).remove(&uri);
        self.style == Style::Session
            && self.engine.upstreams.iter().all(|upstream| upstream.is_shared())
            && self.engine.sessions.any(|other| !std::ptr::eq(other, self) && other.has_subscribed(&uri))
    }

    fn has_subscribed(&self, uri: &str) -> bool {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }

    fn wants(&self, notification: &Message) -> bool {
        uri(notification).is_some_and(|uri| self.has_subscribed(&uri))
    }

    async fn cancel(&self, message: &Message) {
        let Some(at) = message.parts().request_id else { return };
        let Some(id) = Id::read(&message.raw(at)) else { return };
        let Some(flight) = self.flights.cancel(&id) else { return };
        if let Some((link, number)) = flight.abandon()
            && !link.cancels_by_closing()
        {
            let bytes = splice(message.bytes(), &mut [Edit::new(at, number.to_string().into_bytes())]);
            let _ = link.tell(bytes).await;
        }
    }
}

impl Hear for Session {
    fn asked(&self, link: &Arc<Link>, request: &Message, out: Option<&Arc<Outbox>>) {
        self.asks.pass(link, request, out.unwrap_or(&self.out));
    }

    fn told(&self, link: &Arc<Link>, notification: &Message) {
        match &*notification.method() {
            "notifications/cancelled" => {
                if let Some(bytes) = self.asks.taken_back(link, notification) {
                    let _ = self.out.offer(bytes);
                }
                return;
            }
            // Everybody who shares the server hears it; only who asked for it is told.
            "notifications/resources/updated" if !link.is_owned() && !self.wants(notification) => return,
            "notifications/tools/list_changed" => {
                if let Some(upstream) =
                    self.engine.upstreams.iter().find(|upstream| upstream.name == link.name)
                {
                    upstream.tools.forget();
                }
            }
            _ => {}
        }
        let _ = self.out.offer(notification.bytes().clone());
    }
}

fn uri(message: &Message) -> Option<String> {
    message.text(message.parts().uri?).map(std::borrow::Cow::into_owned)
}
