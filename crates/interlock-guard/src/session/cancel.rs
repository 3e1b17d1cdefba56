//! Requests that the guard itself cancels: it closes, and the time of those under way is up.

use std::{
    convert::Infallible,
    future::{Future, pending},
    pin::Pin,
    sync::Arc,
};

use bytes::Bytes;

use super::engine::Engine;
use crate::{
    manage::Phase,
    upstream::{Link, Lost, Reply},
};

impl Engine {
    /// Waits for the answer to a request that was sent under this number. When those under way are cancelled its server is told, as its
    /// revision has it, and may still answer until the upstreams are ended.
    pub(super) async fn answered(
        &self,
        link: &Arc<Link>,
        number: u64,
        mut reply: Pin<&mut impl Future<Output = Reply>>,
    ) -> Reply {
        tokio::select! {
            biased;
            reply = &mut reply => return reply,
            () = self.phases.reached(Phase::Cancelling) => {}
        }
        // Once in the life of a guard: a call should not have to carry the room for it.
        Box::pin(self.cancelled(link, number, reply)).await
    }

    async fn cancelled(
        &self,
        link: &Arc<Link>,
        number: u64,
        mut reply: Pin<&mut impl Future<Output = Reply>>,
    ) -> Reply {
        let is_http = link.http().is_some();
        if is_http && link.is_stateless() {
            // Without a handshake a request is cancelled by closing the stream on which its answer would come.
            return Reply::Lost(Lost::after("it was cancelled, because the guard closes".to_owned()));
        }
        let telling = async {
            let _ = link.tell(cancelled(number)).await;
            pending::<Infallible>().await
        };
        let given_up = async {
            // A process takes its requests along when it is ended, and that says more.
            if !is_http {
                pending::<()>().await;
            }
            self.phases.reached(Phase::Ending).await;
        };
        tokio::select! {
            biased;
            reply = &mut reply => reply,
            () = given_up => {
                Reply::Lost(Lost::after("it was cancelled, because the guard closes, and did not answer".to_owned()))
            }
            never = telling => match never {},
        }
    }
}

/// What a server is told of a request whose answer nobody waits for any more.
pub(super) fn cancelled(number: u64) -> Bytes {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{number}}}}}"
    )
    .into()
}
