//! The admin listener: read-only, on an address of its own, for people beside the guard and for what collects its numbers.
//!
//! | path | what |
//! |---|---|
//! | `/` | the live page |
//! | `/state.json` | what it shows |
//! | `/doubts.json` | the calls of which nobody knows whether they took effect |
//! | `/metrics` | for Prometheus |
//! | `/health` | the process answers |
//! | `/ready` | calls are taken; if not, 503 and what is missing |

mod origin;
mod serve;

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::State,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use http::{HeaderValue, Method, Request, StatusCode, header};
use serde_json::json;
use tokio::{net::TcpListener, sync::Mutex, time::Instant};

use super::{
    hub::Ops,
    live::{POLICY, page},
};

use self::origin::Allowed;

/// How long a state that was made for one viewer is shown to the others.
const SHARED: Duration = Duration::from_millis(400);

struct Admin {
    ops: Arc<Ops>,
    allowed: Allowed,
    last: Mutex<Option<(Instant, axum::body::Bytes)>>,
}

impl Ops {
    /// Answers on the admin listener until told to stop.
    pub async fn serve_admin(self: Arc<Self>, listener: TcpListener, stop: impl Future<Output = ()>) {
        let address = listener.local_addr().unwrap_or_else(|_| SocketAddr::from(([0, 0, 0, 0], 0)));
        let connections = self.admin.connections;
        serve::serve(listener, router(self, address), connections, stop).await;
    }
}

fn router(ops: Arc<Ops>, address: SocketAddr) -> Router {
    let allowed = Allowed::new(address.ip(), &ops.admin.hosts);
    let admin = Arc::new(Admin { ops, allowed, last: Mutex::new(None) });
    Router::new()
        .route("/", get(show_page))
        .route("/state.json", get(state))
        .route("/doubts.json", get(doubts))
        .route("/metrics", get(metrics))
        .route("/health", get(async || Json(json!({"alive": true}))))
        .route("/ready", get(ready))
        .fallback(async || {
            (StatusCode::NOT_FOUND, "there are /, /state.json, /doubts.json, /metrics, /health and /ready\n")
        })
        .layer(middleware::from_fn_with_state(Arc::clone(&admin), check))
        .with_state(admin)
}

/// Lets nobody in who comes from another site, and says to browsers what they may do with an answer.
async fn check(State(admin): State<Arc<Admin>>, request: Request<axum::body::Body>, next: Next) -> Response {
    let mut response = if !matches!(*request.method(), Method::GET | Method::HEAD) {
        (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")], "nothing can be changed here\n")
            .into_response()
    } else if let Err(reason) = admin.allowed.check(request.headers()) {
        (StatusCode::FORBIDDEN, format!("{reason}\n")).into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static("default-src 'none'"));
    response
}

async fn show_page() -> impl IntoResponse {
    let policy = HeaderValue::from_str(&POLICY).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    (
        [
            (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (header::CONTENT_SECURITY_POLICY, policy),
        ],
        page(),
    )
}

/// The state, made at most every [`SHARED`]: many viewers cost no more than one.
async fn state(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    let mut last = admin.last.lock().await;
    let body = match &*last {
        Some((made, body)) if made.elapsed() < SHARED => body.clone(),
        _ => {
            let body = serde_json::to_vec(&admin.ops.state().await).unwrap_or_default();
            let body = axum::body::Bytes::from(body);
            *last = Some((Instant::now(), body.clone()));
            body
        }
    };
    ([(header::CONTENT_TYPE, "application/json")], body)
}

async fn doubts(State(admin): State<Arc<Admin>>) -> Response {
    match admin.ops.doubts.ask().await {
        Ok(listed) => Json(listed).into_response(),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
    }
}

async fn metrics(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], admin.ops.metrics())
}

async fn ready(State(admin): State<Arc<Admin>>) -> impl IntoResponse {
    let readiness = admin.ops.readiness().await;
    (if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, Json(readiness))
}
