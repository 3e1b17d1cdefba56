//! What servers asked a client, until it has answered.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use bytes::Bytes;

use super::outbox::Outbox;
use crate::{
    message::{Code, Edit, Id, Message, failure, splice},
    upstream::Link,
};

/// Questions without an answer.
#[derive(Debug, Default)]
pub(super) struct Asks(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    last: u64,
    open: HashMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    link: Weak<Link>,
    /// The server's own id, as it is written.
    id: Bytes,
}

/// More questions at once are answered with an error.
const MOST: usize = 256;

impl Asks {
    /// Passes a question on to the client, under an id of ours.
    pub(super) fn pass(&self, link: &Arc<Link>, request: &Message, out: &Outbox) {
        let number = {
            let mut table = self.table();
            table.open.retain(|_, open| open.link.strong_count() > 0);
            if table.open.len() >= MOST {
                drop(table);
                link.tell_soon(failure(
                    Some(&request.id()),
                    Code::BUSY,
                    "too many questions to this client are open",
                ));
                return;
            }
            table.last += 1;
            let number = table.last;
            table.open.insert(number, Open { link: Arc::downgrade(link), id: request.id() });
            number
        };
        let Some(at) = request.id_span() else { return };
        let asked = splice(request.bytes(), &mut [Edit::new(at, number.to_string().into_bytes())]);
        if out.offer(asked).is_err() {
            self.table().open.remove(&number);
            link.tell_soon(failure(Some(&request.id()), Code::UNAVAILABLE, "the client does not listen"));
        }
    }

    /// Whom an answer of the client is for, and the answer as it goes there.
    pub(super) fn answered(&self, answer: &Message) -> Option<(Arc<Link>, Bytes)> {
        let open = self.table().open.remove(&Id::number(&answer.id())?)?;
        let bytes = splice(answer.bytes(), &mut [Edit::new(answer.id_span()?, open.id.to_vec())]);
        Some((open.link.upgrade()?, bytes))
    }

    /// A server takes a question back: the notification with our id in it.
    pub(super) fn taken_back(&self, link: &Arc<Link>, notification: &Message) -> Option<Bytes> {
        let at = notification.parts().request_id?;
        let id = notification.raw(at);
        let mut table = self.table();
        let is_it = |open: &Open| open.id == id && std::ptr::eq(open.link.as_ptr(), Arc::as_ptr(link));
        let number = table.open.iter().find(|(_, open)| is_it(open)).map(|(number, _)| *number)?;
        table.open.remove(&number);
        Some(splice(notification.bytes(), &mut [Edit::new(at, number.to_string().into_bytes())]))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
