//! The layer, and what it is made of.

use std::{fmt, sync::Arc};

use http::request::Parts;
use tower_layer::Layer;

use super::service::Limited;
use crate::adapt::{CallerName, Warden};

pub(super) type Name = dyn Fn(&Parts) -> CallerName + Send + Sync;

/// Gate, rate and calls in flight per caller, for any tower service that takes HTTP requests.
///
/// A request's path is its tool: the pattern `/mcp*` is for all paths that begin so, `*` for all. A request counts as in flight until
/// its response's body has ended or was dropped, which for a stream of events is long after the head was sent.
///
/// | refused because | status |
/// |---|---|
/// | called too often, or too many in flight | 429 |
/// | the gate is closed, or the store is away | 503 |
///
/// Both carry `Retry-After`, in whole seconds, and have an empty body; the [`CallRefusal`](crate::adapt::CallRefusal) itself is in the
/// response's extensions, for whoever wants to write one.
///
/// Where clients speak MCP, a refusal with a status is not shown to the model. Use this to keep floods out, and `Guarded` for limits
/// that a model should heed.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::{convert::Infallible, time::Duration};
/// use http::{Request, Response, StatusCode, request::Parts};
/// use interlock_sync::{adapt::{CallerName, Policy, Rule, Warden, tower::LimitLayer}, store::Quota};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// let policy = Policy::builder().rule(Rule::of("/mcp*").rate(Quota::log(1, Duration::from_secs(60))?)).build()?;
/// // Put there by whoever checked the token.
/// let caller = |parts: &Parts| parts.extensions.get::<CallerName>().cloned().unwrap_or("nobody".into());
/// let service = ServiceBuilder::new()
///     .layer(LimitLayer::new(Warden::new(policy), caller)?)
///     .service(service_fn(async |_: Request<String>| Ok::<_, Infallible>(Response::new(String::new()))));
///
/// let request = || Request::post("/mcp").body(String::new());
/// assert_eq!(service.clone().oneshot(request()?).await?.status(), StatusCode::OK);
/// let refused = service.clone().oneshot(request()?).await?;
/// assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
/// assert!(refused.headers().contains_key("retry-after"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LimitLayer {
    warden: Warden,
    name: Arc<Name>,
}

/// The policy asks for what cannot be had without reading the body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rule `{rule}` has a lock, an idempotency key or a timeout, which a layer before the body cannot apply: it knows the gate, rates \
     and in-flight limits"
)]
pub struct BeyondLimits {
    /// Which rule.
    pub rule: String,
}

impl LimitLayer {
    /// Puts a warden before services. `caller` says whose request it is, from what is known before the body: what stands in a header is
    /// what the caller chose to write, so it should be verified before.
    ///
    /// # Errors
    ///
    /// If a rule asks for more than rates and calls in flight, rather than letting it go unheeded.
    pub fn new(
        warden: Warden,
        caller: impl Fn(&Parts) -> CallerName + Send + Sync + 'static,
    ) -> Result<Self, BeyondLimits> {
        match warden.rule_beyond_limits() {
            Some(rule) => Err(BeyondLimits { rule }),
            None => Ok(Self { warden, name: Arc::new(caller) }),
        }
    }

    /// The warden, to close its gate.
    #[must_use]
    pub fn warden(&self) -> &Warden {
        &self.warden
    }
}

impl<S> Layer<S> for LimitLayer {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Limited::new(inner, self.warden.clone(), Arc::clone(&self.name))
    }
}

impl fmt::Debug for LimitLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitLayer").field("warden", &self.warden).finish_non_exhaustive()
    }
}
