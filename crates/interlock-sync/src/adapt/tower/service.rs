//! The service that the layer makes of another.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{HeaderValue, Request, Response, StatusCode, header::RETRY_AFTER};
use http_body::Body;
use tower_service::Service;

use super::{body::HeldBody, layer::Name};
use crate::adapt::{Call, CallRefusal, RefusalReason, Warden};

/// A service behind a [`LimitLayer`](super::LimitLayer).
#[derive(Clone)]
pub struct Limited<S> {
    inner: S,
    warden: Warden,
    name: Arc<Name>,
}

impl<S> Limited<S> {
    pub(super) fn new(inner: S, warden: Warden, name: Arc<Name>) -> Self {
        Self { inner, warden, name }
    }
}

impl<S, B, R> Service<Request<B>> for Limited<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
    R: Body + Default + Send + 'static,
{
    type Response = Response<HeldBody<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    /// Always ready. The service inside is asked when it is the request's turn: being ready can mean to hold a place there, and a
    /// request that waits or is refused shall hold none.
    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    /// # Cancel safety
    ///
    /// Dropping the future drops the one inside first, and then gives back what the request held.
    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let caller = (self.name)(&parts);
        let call = Call { tool: parts.uri.path(), caller: &caller, arguments: None, idempotency_key: None };
        let arrived = self.warden.arrive(&call);
        let mut inner = self.inner.clone();
        Box::pin(async move {
            let held = match arrived {
                Ok(arrived) => arrived.hold().await,
                Err(refusal) => Err(refusal),
            };
            let held = match held {
                Ok(held) => held,
                Err(refusal) => return Ok(refused(refusal)),
            };
            poll_fn(|context| inner.poll_ready(context)).await?;
            let response = inner.call(Request::from_parts(parts, body)).await?;
            Ok(response.map(|body| {
                let is_over = body.is_end_stream();
                HeldBody::new(body, (!is_over).then_some(held))
            }))
        })
    }
}

/// The refusal as a response.
fn refused<R: Default>(refusal: CallRefusal) -> Response<HeldBody<R>> {
    // When nobody can say, a second is soon enough to be of use and late enough not to be a burden.
    let wait = refusal.retry_after().map_or(1, |wait| wait.as_millis().div_ceil(1_000).max(1));
    let mut response = Response::new(HeldBody::default());
    *response.status_mut() = match refusal.reason {
        RefusalReason::Rate { .. } | RefusalReason::InFlight { .. } => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(u64::try_from(wait).unwrap_or(u64::MAX)));
    response.extensions_mut().insert(refusal);
    response
}

impl<S: fmt::Debug> fmt::Debug for Limited<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited")
            .field("inner", &self.inner)
            .field("warden", &self.warden)
            .finish_non_exhaustive()
    }
}
