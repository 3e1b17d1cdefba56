//! Requests that are cancelled: by the guard, which closes when the time of those under way is up, or by their client.
//!
//! A cancel does not end a call. A server that was made with an official SDK does not answer a request that was cancelled (TypeScript, Python 2.x), or
//! answers at once with an error (Python 1.x), while the handler may go on in either case. So a call that others wait for is not cancelled at all, unless
//! its rules say so: its server answers when it has ended. What is cancelled is given up after a grace, unless a result comes before.

use std::{
    convert::Infallible,
    future::{Future, pending},
    pin::{Pin, pin},
    sync::Arc,
};

use bytes::Bytes;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{engine::Engine, flights::Flight};
use crate::{
    desk::OnCancel,
    manage::Phase,
    upstream::{Begun, Link, Lost, Reply},
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
        if link.cancels_by_closing() {
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

/// Waits for what comes of a tool call. If its client cancels it and its server was told, a result still counts; anything else, and silence, say
/// nothing about whether the call has ended, and it is given up after the grace.
pub(super) async fn outcome(
    engine: &Engine,
    flight: &Flight,
    link: &Arc<Link>,
    (number, begun): (u64, Begun),
    on_cancel: OnCancel,
) -> Option<Reply> {
    let grace = match on_cancel {
        OnCancel::PassedOn(grace) => grace,
        OnCancel::Held => {
            let reply = pin!(link.finish(begun));
            return Some(engine.answered(link, number, reply).await);
        }
    };
    let until = {
        let reply = pin!(link.finish(begun));
        let mut answered = pin!(engine.answered(link, number, reply));
        tokio::select! {
            biased;
            reply = &mut answered => return Some(reply),
            () = flight.told() => {}
        }
        let until = Instant::now() + grace;
        if !link.cancels_by_closing() {
            match Box::pin(timeout_at(until, answered)).await {
                Ok(Reply::Answer(answer)) if answer.result().is_some() => return Some(Reply::Answer(answer)),
                // A process takes its calls along when it ends.
                Ok(Reply::Lost(lost)) if link.process().is_some() => return Some(Reply::Lost(lost)),
                _ => {}
            }
        }
        until
    };
    // By now the stream of the answer is closed.
    Box::pin(sleep_until(until)).await;
    None
}

/// What a server is told of a request whose answer nobody waits for any more.
pub(super) fn cancelled(number: u64) -> Bytes {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{number}}}}}"
    )
    .into()
}
