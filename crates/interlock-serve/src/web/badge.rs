//! The last score of a target as a picture for a README.

use std::sync::Arc;

use axum::{
    extract::{Path, RawQuery, State},
    response::{IntoResponse, Response},
};
use http::header;

use super::{Web, api::away, html::escape, submit::parameter};
use crate::jobs::{Done, digest};

/// `GET /badges/DIGEST.svg`.
pub(super) async fn by_digest(State(web): State<Arc<Web>>, Path(file): Path<String>) -> Response {
    let digest = file.strip_suffix(".svg").unwrap_or_default();
    let is_digest = digest.len() == 24 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    picture(&web, if is_digest { digest } else { "none" }).await
}

/// `GET /api/badge.svg?target=…`.
pub(super) async fn by_target(State(web): State<Arc<Web>>, RawQuery(query): RawQuery) -> Response {
    let target = query.and_then(|query| parameter(&query, "target")).unwrap_or_default();
    picture(&web, &digest(&target)).await
}

async fn picture(web: &Web, digest: &str) -> Response {
    let Ok(points) = web.jobs.history_of(digest, 1).await else { return away() };
    let svg = svg(points.first().map(|point| &point.done));
    // Pages of other sites may show it, and nothing else of this server.
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CACHE_CONTROL, "no-cache"),
        (http::HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    (headers, svg).into_response()
}

/// The picture: what it is about on the left, the score on the right.
fn svg(done: Option<&Done>) -> String {
    let (words, colour) = match done {
        None => ("not audited".to_owned(), "#6e7781"),
        Some(done) if done.failure.is_some() => ("failed".to_owned(), "#6e7781"),
        Some(Done { score: Some(score), grade, .. }) => {
            let grade = grade.as_deref().unwrap_or_default();
            let colour = match score {
                90.. => "#1a7f37",
                80.. => "#4d7c0f",
                70.. => "#9a6700",
                60.. => "#bc4c00",
                _ => "#cf222e",
            };
            (format!("{grade} {score}/100").trim().to_owned(), colour)
        }
        Some(_) => ("not graded".to_owned(), "#6e7781"),
    };
    let words = escape(&words);
    // About the width of a letter at this size.
    let (left, right) = (66, 16 + 7 * words.chars().count());
    let all = left + right;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{all}" height="20" role="img" aria-label="interlock: {words}"><title>interlock: {words}</title><rect width="{left}" height="20" fill="#24292f"/><rect x="{left}" width="{right}" height="20" fill="{colour}"/><g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="33" y="14">interlock</text><text x="{}" y="14">{words}</text></g></svg>"##,
        left + right / 2
    )
}
