//! The wrapper itself, and what happens to a call.

use std::{fmt, sync::Arc};

use rmcp::{
    RoleServer, ServerHandler,
    model::{CallToolRequestParams, JsonObject},
    service::RequestContext,
};
use serde_json::Value;

use super::answer::{Returned, refused};
use crate::adapt::{Call, CallOutcome, CallerName, IDEMPOTENCY_KEY, Warden};

type Name = dyn Fn(&RequestContext<RoleServer>) -> CallerName + Send + Sync;

/// An rmcp server whose tools are called by the rules of a policy. Everything else is passed on to the handler inside.
///
/// # Guarantees
///
/// - A call runs only when the policy lets it, in the order of decisions that the [`Warden`] keeps. Until then the handler knows nothing
///   of it.
/// - A refusal is a result of the tool with `isError`, a text that a model can act on, and the details in `_meta` under
///   [`REFUSAL`](super::REFUSAL).
/// - A call that says by its idempotency key that it was made before gets the answer that was stored, errors included, and is not run.
/// - Cancellation is not completion. A call that is cancelled while it waits does not start. One that has started is told by the
///   token of its context, as always, and keeps its locks and its place until the handler's future has ended: also when its client is
///   gone, when its time is up, or when the future of the request was dropped.
///
/// A call that answers with a task has ended as far as this is concerned; what the task does afterwards holds nothing.
///
/// A handler that is run under an idempotency key finds an [`EffectContext`](crate::idempotency::EffectContext) in the extensions of
/// its context, with the key to send to a provider.
///
/// Where each session has a handler of its own, give all of them clones of one [`Warden`], or each has limits and locks of its own.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use interlock_sync::adapt::{CallerName, Policy, Rule, Warden, rmcp::Guarded};
/// use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, model::*, service::RequestContext};
///
/// struct Orders;
///
/// impl ServerHandler for Orders {
///     async fn call_tool(
///         &self,
///         request: CallToolRequestParams,
///         _: RequestContext<RoleServer>,
///     ) -> Result<CallToolResponse, ErrorData> {
///         Ok(CallToolResult::success(vec![ContentBlock::text(format!("{} done", request.name))]).into())
///     }
/// }
///
/// let policy = Policy::builder().rule(Rule::of("ship").in_flight(2).lock("order:{args.orderId}")).build()?;
/// let server = Guarded::new(Orders, Warden::new(policy), |_| CallerName::new("the one on stdio"));
///
/// # let (ours, theirs) = tokio::io::duplex(4096);
/// # let serving = tokio::spawn(async move { server.serve(ours).await });
/// let client = ().serve(theirs).await?;
/// let ship = |id: &str| {
///     let arguments = serde_json::json!({ "orderId": id }).as_object().cloned().unwrap_or_default();
///     client.call_tool(CallToolRequestParams::new("ship").with_arguments(arguments))
/// };
/// assert_eq!(ship("o-1").await?.is_error, Some(false));
///
/// let refused = client.call_tool(CallToolRequestParams::new("ship")).await?;
/// assert_eq!(refused.is_error, Some(true), "it does not say which order");
/// # serving.abort();
/// # Ok(())
/// # }
/// ```
pub struct Guarded<H> {
    pub(super) handler: Arc<H>,
    warden: Warden,
    name: Arc<Name>,
}

impl<H: ServerHandler> Guarded<H> {
    /// Puts a warden before a server. `caller` says who is calling; over HTTP, rmcp puts the parts of the request into the extensions of the
    /// context, and what stands there was verified, or not, by whoever serves HTTP.
    pub fn new(
        handler: H,
        warden: Warden,
        caller: impl Fn(&RequestContext<RoleServer>) -> CallerName + Send + Sync + 'static,
    ) -> Self {
        Self { handler: Arc::new(handler), warden, name: Arc::new(caller) }
    }

    /// The warden, to close its gate.
    #[must_use]
    pub fn warden(&self) -> &Warden {
        &self.warden
    }

    /// The server inside.
    #[must_use]
    pub fn handler(&self) -> &H {
        &self.handler
    }

    pub(super) async fn guard_call(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Returned {
        let caller = (self.name)(&context);
        let call = Call {
            tool: &request.name,
            caller: &caller,
            arguments: request.arguments.as_ref(),
            idempotency_key: idempotency_key(&request, &context),
        };
        let arrived = match self.warden.arrive(&call) {
            Ok(arrived) => arrived,
            Err(refusal) => return Ok(refused(&refusal).into()),
        };
        let (handler, cancelled) = (Arc::clone(&self.handler), context.ct.clone().cancelled_owned());
        let outcome = arrived.run(cancelled, move |effect| async move {
            if let Some(effect) = effect {
                context.extensions.insert(effect);
            }
            handler.call_tool(request, context).await
        });
        match outcome.await {
            CallOutcome::Answered(returned) | CallOutcome::Replayed(returned) => returned,
            CallOutcome::Refused(refusal) => Ok(refused(&refusal).into()),
        }
    }
}

/// From the wire it is in the context; a request that was made in this process may have it in its parameters.
fn idempotency_key<'a>(
    request: &'a CallToolRequestParams,
    context: &'a RequestContext<RoleServer>,
) -> Option<&'a Value> {
    let of = |meta: &'a JsonObject| meta.get(IDEMPOTENCY_KEY);
    of(&context.meta).or_else(|| of(request.meta.as_deref()?))
}

impl<H> Clone for Guarded<H> {
    fn clone(&self) -> Self {
        Self { handler: Arc::clone(&self.handler), warden: self.warden.clone(), name: Arc::clone(&self.name) }
    }
}

impl<H: fmt::Debug> fmt::Debug for Guarded<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("handler", &self.handler)
            .field("warden", &self.warden)
            .finish_non_exhaustive()
    }
}
