//! The page and the API.
//!
//! | path | what |
//! |---|---|
//! | `/` | the form, what waits and what ended last |
//! | `POST /audits` | the form's own way to ask |
//! | `/audits/ID` | one audit: its progress, then what came of it |
//! | `/targets/DIGEST` | the audits of one target, with their scores over time |
//! | `/badges/DIGEST.svg`, `/api/badge.svg?target=…` | the last score as a picture |
//! | `POST /api/audits`, `/api/audits`, `/api/audits/ID`, `…/report.FORM`, `…/events` | the same for programs; `/openapi.json` describes it |
//! | `/health`, `/ready`, `/metrics` | for whoever keeps it running |

mod api;
mod badge;
mod chart;
mod doors;
mod events;
mod html;
mod limits;
mod pages;
mod serve;
mod submit;
mod when;

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{DefaultBodyLimit, State},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::{HeaderValue, StatusCode, header};
use tokio::{net::TcpListener, sync::Notify};

pub use self::{
    doors::{Doors, Token},
    limits::Limits,
};
use crate::{jobs::Jobs, tally::Tally, target::Allowed};

/// What the pages are made of.
pub struct Web {
    /// The audits.
    pub jobs: Jobs,
    /// What may be asked for.
    pub allowed: Allowed,
    /// Who may ask.
    pub doors: Doors,
    /// How often.
    pub limits: Limits,
    /// Numbers.
    pub tally: Arc<Tally>,
    /// Wakes the workers of this process.
    pub wake: Arc<Notify>,
}

/// Whom a request comes from, as far as the connection says.
#[derive(Debug, Clone, Copy)]
struct Peer(SocketAddr);

/// Who asks: the name of a token, or an address.
#[derive(Debug, Clone)]
struct Caller(String);

impl Web {
    /// Answers until told to stop.
    pub async fn serve(self: Arc<Self>, listener: TcpListener, stop: impl Future<Output = ()>) {
        serve::serve(listener, self.router(), stop).await;
    }

    fn router(self: Arc<Self>) -> Router {
        let largest = self.limits.upload;
        Router::new()
            .route("/", get(pages::front))
            .route("/audits", post(submit::form).layer(DefaultBodyLimit::max(8 << 10)))
            .route("/audits/{id}", get(pages::audit))
            .route("/audits/{id}/{file}", get(api::report))
            .route("/targets/{digest}", get(pages::target))
            .route("/badges/{file}", get(badge::by_digest))
            .route("/api/badge.svg", get(badge::by_target))
            .route("/api/audits", get(api::list).post(submit::api).layer(DefaultBodyLimit::max(largest)))
            .route("/api/audits/{id}", get(api::audit))
            .route("/api/audits/{id}/events", get(events::events))
            .route("/api/audits/{id}/{file}", get(api::report))
            .route("/openapi.json", get(|| fixed("application/json", include_str!("openapi.json"))))
            .route("/page.css", get(|| fixed("text/css; charset=utf-8", include_str!("page.css"))))
            .route("/page.js", get(|| fixed("text/javascript; charset=utf-8", include_str!("page.js"))))
            .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
            .route("/metrics", get(metrics))
            .route("/ready", get(ready))
            .fallback(async || {
                failure(StatusCode::NOT_FOUND, "there is nothing here; /openapi.json says what there is")
            })
            .layer(middleware::from_fn_with_state(Arc::clone(&self), doors::check))
            // Before the doors: whoever asks whether the process lives has no token.
            .route("/health", get(async || axum::Json(serde_json::json!({ "alive": true }))))
            .layer(middleware::map_response(secure))
            .with_state(self)
    }
}

/// What browsers may do with an answer, unless it says so itself: run our script, apply our style, ask this server. Nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

async fn secure(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
        // With none at all a browser would also not say that our own form comes from us.
        ("referrer-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry("cross-origin-resource-policy").or_insert(HeaderValue::from_static("same-origin"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    response
}

async fn fixed(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text)
}

async fn metrics(State(web): State<Arc<Web>>) -> Response {
    match web.jobs.waiting(1000).await {
        Ok(waiting) => {
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], web.tally.expose(waiting)).into_response()
        }
        Err(_) => failure(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer"),
    }
}

async fn ready(State(web): State<Arc<Web>>) -> Response {
    match web.jobs.store().now().await {
        Ok(_) => axum::Json(serde_json::json!({ "ready": true })).into_response(),
        Err(_) => failure(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer"),
    }
}

/// A failure, for programs and for people who look at what programs get.
fn failure(status: StatusCode, why: &str) -> Response {
    (status, axum::Json(serde_json::json!({ "error": why }))).into_response()
}

impl std::fmt::Debug for Web {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Web")
    }
}

#[cfg(test)]
mod tests;
