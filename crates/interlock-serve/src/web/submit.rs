//! Asking for an audit: by the form, as JSON, or with an archive as the body.

use std::sync::Arc;

use axum::{
    Extension, Json,
    body::Bytes,
    extract::{RawQuery, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header};
use interlock_sync::store::{OpId, Taken};
use serde::Deserialize;

use super::{Caller, Web, failure, pages};
use crate::{
    jobs::{Asked, Submitted},
    tally::Tally,
    work::now,
};

/// A name of an archive is shown up to here.
const LONGEST_NAME: usize = 120;

/// Why an audit is not queued.
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) why: String,
    retry_after: Option<u64>,
}

impl Refused {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, why: why.into(), retry_after: None }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = failure(self.status, &self.why);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    target: String,
}

/// `POST /api/audits`: JSON with a target, or an archive.
pub(super) async fn api(
    State(web): State<Arc<Web>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let asked = match kind.as_str() {
        "application/json" => match serde_json::from_slice::<Wish>(&body) {
            Ok(wish) => ask(&web, &caller, &wish.target, None).await,
            Err(error) => {
                Err(Refused::new(StatusCode::BAD_REQUEST, format!("the body is not understood: {error}")))
            }
        },
        // Each of these makes a browser ask first, from another site: they are none of the three that a form can send.
        "application/gzip"
        | "application/x-gzip"
        | "application/zip"
        | "application/x-tar"
        | "application/octet-stream" => {
            let name = query.and_then(|query| parameter(&query, "name")).unwrap_or_default();
            ask(&web, &caller, &name, Some(body.to_vec())).await
        }
        _ => Err(Refused::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "send application/json with a target, or an archive as application/gzip, application/zip or application/x-tar",
        )),
    };
    match asked {
        Ok(id) => {
            let place = format!("/api/audits/{id}");
            let about = super::api::links(id, "queued");
            (StatusCode::CREATED, [(header::LOCATION, place)], Json(about)).into_response()
        }
        Err(refused) => refused.into_response(),
    }
}

/// `POST /audits`: the form without a script.
pub(super) async fn form(
    State(web): State<Arc<Web>>,
    Extension(caller): Extension<Caller>,
    body: Bytes,
) -> Response {
    let target =
        std::str::from_utf8(&body).ok().and_then(|text| parameter(text, "target")).unwrap_or_default();
    match ask(&web, &caller, target.trim(), None).await {
        Ok(id) => (StatusCode::SEE_OTHER, [(header::LOCATION, format!("/audits/{id}"))]).into_response(),
        Err(refused) => pages::refused(&target, &refused),
    }
}

async fn ask(
    web: &Web,
    Caller(caller): &Caller,
    target: &str,
    upload: Option<Vec<u8>>,
) -> Result<OpId, Refused> {
    let target = if let Some(upload) = &upload {
        if !is_archive(upload) {
            Tally::count(&web.tally.refused);
            return Err(Refused::new(StatusCode::BAD_REQUEST, "it is no tar, tar.gz or zip archive"));
        }
        let name: String = target.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
        format!("archive:{}", if name.is_empty() { "unnamed" } else { &name })
    } else {
        if let Err(why) = web.allowed.judge(target) {
            Tally::count(&web.tally.refused);
            return Err(Refused::new(StatusCode::UNPROCESSABLE_ENTITY, why.to_string()));
        }
        target.to_owned()
    };
    let away = |_| Refused::new(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer; try again");
    if let Taken::Refused { retry_after, .. } = web.limits.take(caller).await.map_err(away)? {
        Tally::count(&web.tally.limited);
        let seconds = retry_after.map_or(60, |time| time.as_secs().max(1));
        let mut refused = Refused::new(
            StatusCode::TOO_MANY_REQUESTS,
            format!("too many audits were asked for; try again in {seconds} s"),
        );
        refused.retry_after = Some(seconds);
        return Err(refused);
    }
    let asked = Asked { target, caller: caller.clone(), at: now(), uploaded: upload.is_some() };
    let away = |_| Refused::new(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer; try again");
    match web.jobs.submit(&asked, upload).await.map_err(away)? {
        Submitted::Queued(id) => {
            Tally::count(&web.tally.queued);
            web.wake.notify_one();
            Ok(id)
        }
        Submitted::Full { in_use } => {
            Tally::count(&web.tally.limited);
            let why = format!("{in_use} of your audits have not ended; wait for one of them");
            let mut refused = Refused::new(StatusCode::TOO_MANY_REQUESTS, why);
            refused.retry_after = Some(10);
            Err(refused)
        }
    }
}

/// Whether it begins as an archive does; what is in it is the worker's business.
fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
        || bytes.starts_with(b"PK\x03\x04")
        || bytes.get(257..262) == Some(b"ustar")
}

/// A value of a query or a form.
pub(super) fn parameter(text: &str, wanted: &str) -> Option<String> {
    form_urlencoded::parse(text.as_bytes())
        .find(|(name, _)| name == wanted)
        .map(|(_, value)| value.into_owned())
}
