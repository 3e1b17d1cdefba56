//! How clients reach the guard: stdio and Streamable HTTP.

mod http;
mod stdio;

pub use self::{
    http::{Options, http},
    stdio::stdio,
};

use bytes::{BufMut, Bytes, BytesMut};

use crate::{
    message::{Code, failure},
    session::{Step, Unheard},
};

/// The messages of a batch, taken in one by one and answered together.
#[derive(Default)]
struct Steps {
    /// Its requests.
    taken: Vec<Step>,
    /// What is said to those that are neither requests nor may be heeded.
    refused: Vec<Bytes>,
}

impl Steps {
    fn refuse(&mut self, unheard: Unheard) {
        if !unheard.is_notification {
            self.refused.push(failure(None, Code::INVALID_REQUEST, unheard.why));
        }
    }

    /// The answers as one message; `None` if there are none.
    async fn finish(self) -> Option<Bytes> {
        let said = futures_util::future::join_all(self.taken.into_iter().map(Step::finish)).await;
        let mut bytes = BytesMut::new();
        for answer in said.into_iter().filter_map(crate::session::Said::bytes).chain(self.refused) {
            bytes.put_u8(if bytes.is_empty() { b'[' } else { b',' });
            bytes.put_slice(&answer);
        }
        if bytes.is_empty() {
            return None;
        }
        bytes.put_u8(b']');
        Some(bytes.freeze())
    }
}
