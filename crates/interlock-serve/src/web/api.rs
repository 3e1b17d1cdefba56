//! What programs get.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, RawQuery, State},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use interlock_sync::store::OpId;
use serde_json::{Value, json};

use super::{Web, failure, submit::parameter};
use crate::jobs::{Done, Form, State as Standing, digest, parse_id};

/// So many past audits are listed at a time.
const LISTED: usize = 50;

/// An audit and where what belongs to it is.
pub(super) fn links(id: OpId, state: &str) -> Value {
    let reports = Form::ALL
        .map(|form| (form.ending().to_owned(), json!(format!("/api/audits/{id}/report.{}", form.ending()))));
    json!({
        "id": id.to_string(),
        "state": state,
        "url": format!("/api/audits/{id}"),
        "page": format!("/audits/{id}"),
        "events": format!("/api/audits/{id}/events"),
        "reports": Value::Object(reports.into_iter().collect()),
    })
}

/// An audit, as programs read it.
pub(super) fn about(id: OpId, state: &Standing) -> Value {
    let (name, asked) = match state {
        Standing::Queued(asked) => ("queued", asked),
        Standing::Running(asked, _) => ("running", asked),
        Standing::Done(done) => (if done.failure.is_some() { "failed" } else { "done" }, &done.asked),
    };
    let mut about = links(id, name);
    put(&mut about, "target", json!(asked.target));
    put(&mut about, "asked_at", json!(asked.at));
    put(&mut about, "badge", json!(format!("/badges/{}.svg", digest(&asked.target))));
    match state {
        Standing::Queued(_) => {}
        Standing::Running(_, progress) => put(&mut about, "progress", json!(progress)),
        Standing::Done(done) => add_end(&mut about, done),
    }
    about
}

/// Adds a member.
fn put(about: &mut Value, name: &str, value: Value) {
    if let Some(members) = about.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

fn add_end(about: &mut Value, done: &Done) {
    put(about, "ended_at", json!(done.ended));
    put(about, "took_ms", json!(done.took));
    put(about, "tries", json!(done.tries));
    put(about, "score", json!(done.score));
    put(about, "grade", json!(done.grade));
    put(about, "findings", json!(done.findings));
    if let Some(failure) = &done.failure {
        put(about, "failure", json!(failure));
        put(about, "reports", json!({}));
    }
}

/// `GET /api/audits/ID`.
pub(super) async fn audit(State(web): State<Arc<Web>>, Path(id): Path<String>) -> Response {
    let Some(id) = parse_id(&id) else { return unknown() };
    match web.jobs.state(id).await {
        Ok(Some(state)) => Json(about(id, &state)).into_response(),
        Ok(None) => unknown(),
        Err(_) => away(),
    }
}

/// `GET /api/audits?target=…&after=ID`: what ended, newest first, and what did not.
pub(super) async fn list(State(web): State<Arc<Web>>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let after = parameter(&query, "after").and_then(|id| parse_id(&id));
    let ended = match parameter(&query, "target") {
        Some(target) => web.jobs.history(&target, LISTED).await,
        None => web.jobs.recent(after, LISTED).await,
    };
    let (Ok(ended), Ok(queue)) = (ended, web.jobs.queue(LISTED).await) else { return away() };
    let ended: Vec<Value> =
        ended.into_iter().map(|point| about(point.id, &Standing::Done(point.done))).collect();
    let waiting: Vec<Value> = queue.iter().map(|(id, state)| about(*id, state)).collect();
    Json(json!({ "waiting": waiting, "ended": ended })).into_response()
}

/// `GET …/report.FORM`.
pub(super) async fn report(
    State(web): State<Arc<Web>>,
    Path((id, file)): Path<(String, String)>,
) -> Response {
    let form = Form::ALL.into_iter().find(|form| file.strip_prefix("report.") == Some(form.ending()));
    let (Some(id), Some(form)) = (parse_id(&id), form) else { return unknown() };
    // Without its end a report may be half of one.
    match web.jobs.done(id).await {
        Ok(Some(_)) => {}
        Ok(None) => return unknown(),
        Err(_) => return away(),
    }
    let text = match web.jobs.report(id, form).await {
        Ok(Some(text)) => text,
        Ok(None) => return unknown(),
        Err(_) => return away(),
    };
    let kind = match form {
        Form::Html => "text/html; charset=utf-8",
        Form::Json => "application/json",
        Form::Sarif => "application/sarif+json",
        Form::Markdown => "text/markdown; charset=utf-8",
    };
    // The page has its style inside and no script; in a sandbox even one that got in could do nothing here.
    let policy = match form {
        Form::Html => {
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; sandbox"
        }
        _ => "default-src 'none'; sandbox",
    };
    ([(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, policy)], text).into_response()
}

pub(super) fn unknown() -> Response {
    failure(StatusCode::NOT_FOUND, "there is no such audit, or it has no such report")
}

pub(super) fn away() -> Response {
    failure(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer; try again")
}
