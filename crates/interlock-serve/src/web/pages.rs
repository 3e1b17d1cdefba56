//! What people see.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    extract::{Path, State},
    response::{Html, IntoResponse, Response},
};
use http::StatusCode;
use interlock_sync::store::OpId;

use super::{
    Web,
    api::away,
    chart::chart,
    html::{escape, page},
    submit::Refused,
    when::when,
};
use crate::jobs::{Done, Form, Point, Progress, State as Standing, digest, parse_id};

/// So many audits are on a page.
const SHOWN: usize = 30;

/// `GET /`.
pub(super) async fn front(State(web): State<Arc<Web>>) -> Response {
    let (Ok(queue), Ok(recent)) = (web.jobs.queue(SHOWN).await, web.jobs.recent(None, SHOWN).await) else {
        return away();
    };
    let mut body = form("", None);
    if !queue.is_empty() {
        let _ = write!(body, "<section><h2>Waiting and under way</h2><ol class=\"queue\">");
        for (id, state) in &queue {
            let (target, doing) = match state {
                Standing::Queued(asked) => (&asked.target, "waits"),
                Standing::Running(asked, progress) => (&asked.target, progress.doing.as_str()),
                Standing::Done(done) => (&done.asked.target, "ended"),
            };
            let _ = write!(
                body,
                r#"<li><a href="/audits/{id}">{}</a> <span class="quiet">{}</span></li>"#,
                escape(target),
                escape(doing)
            );
        }
        body.push_str("</ol></section>");
    }
    body.push_str("<section><h2>Past audits</h2>");
    body.push_str(&table(&recent, true));
    body.push_str("</section>");
    Html(page("Audits", &body)).into_response()
}

/// The form, with what was asked and why it was refused.
fn form(target: &str, refused: Option<&str>) -> String {
    let refused = refused
        .map(|why| format!(r#"<p class="refused" role="alert">{}</p>"#, escape(why)))
        .unwrap_or_default();
    format!(
        r#"<section class="ask"><h1>Audit an MCP server</h1>
<form method="post" action="/audits" id="ask"><label for="target">Git address or package</label>
<div class="row"><input id="target" name="target" value="{}" required maxlength="500" autocomplete="off" spellcheck="false" placeholder="https://…/OWNER/NAME#REF:FOLDER, npm:NAME@VERSION or pypi:NAME@VERSION"><button>Audit</button></div></form>
{refused}
<div class="drop" id="drop"><label for="archive">or drop an archive (.tar.gz, .zip) here, or choose one:</label> <input type="file" id="archive" accept=".tar,.gz,.tgz,.zip"><p id="upload" role="status"></p></div>
<p class="quiet">Its sources are read for races between tool calls. Nothing of it is ever run here.</p></section>"#,
        escape(target)
    )
}

/// The form again, with the reason.
pub(super) fn refused(target: &str, refused: &Refused) -> Response {
    (refused.status, Html(page("Not audited", &form(target, Some(&refused.why))))).into_response()
}

/// `GET /audits/ID`.
pub(super) async fn audit(State(web): State<Arc<Web>>, Path(id): Path<String>) -> Response {
    let Some(id) = parse_id(&id) else { return missing() };
    let state = match web.jobs.state(id).await {
        Ok(Some(state)) => state,
        Ok(None) => return missing(),
        Err(_) => return away(),
    };
    match state {
        Standing::Queued(asked) => {
            let progress = Progress { doing: "waits for a worker".to_owned(), ..Progress::default() };
            Html(under_way(id, &asked.target, &progress)).into_response()
        }
        Standing::Running(asked, progress) => Html(under_way(id, &asked.target, &progress)).into_response(),
        Standing::Done(done) => {
            let Ok(history) = web.jobs.history(&done.asked.target, SHOWN).await else { return away() };
            Html(ended(id, &done, &history)).into_response()
        }
    }
}

fn under_way(id: OpId, target: &str, progress: &Progress) -> String {
    let Progress { step, of, doing } = progress;
    let body = format!(
        r#"<section class="watch" id="watch" data-events="/api/audits/{id}/events"><h1>{}</h1>
<progress id="bar" max="{}" value="{step}"></progress>
<p role="status" id="doing">{}</p></section>
<noscript><p>Reload the page to see how far it is.</p></noscript>"#,
        escape(target),
        (*of).max(1),
        escape(doing)
    );
    page(target, &body)
}

fn ended(id: OpId, done: &Done, history: &[Point]) -> String {
    let target = &done.asked.target;
    let digest = digest(target);
    let mut body = format!("<section><h1>{}</h1>", escape(target));
    if let Some(failure) = &done.failure {
        let _ = write!(body, r#"<p class="refused" id="ended">There is no report: {}</p>"#, escape(failure));
    } else {
        let (grade, score) = match (&done.grade, done.score) {
            (Some(grade), Some(score)) => (escape(grade), format!("{score} of 100")),
            _ => ("–".to_owned(), "not graded; the report says why".to_owned()),
        };
        let _ = write!(
            body,
            r#"<p class="score" id="ended"><strong class="grade grade-{}">{grade}</strong> <span>{score}</span></p><p>{}</p><p class="forms"><a class="open" id="open" href="/audits/{id}/report.html">Open the report</a>"#,
            grade.to_lowercase(),
            escape(&findings(done))
        );
        for form in Form::ALL.iter().skip(1) {
            let _ = write!(
                body,
                r#" <a href="/audits/{id}/report.{0}" download="interlock-audit.{0}">{0}</a>"#,
                form.ending()
            );
        }
        body.push_str("</p>");
    }
    let took = done.took as f64 / 1000.0;
    let tries = if done.tries > 1 { format!(", at try {}", done.tries) } else { String::new() };
    let _ = write!(
        body,
        r#"<p class="quiet">Ended {} after {took:.1} s{tries}.</p></section>"#,
        when(done.ended)
    );
    let _ = write!(
        body,
        r#"<section><h2>Badge</h2><p><img src="/badges/{digest}.svg" alt="the last score" height="20"> <code>/badges/{digest}.svg</code></p></section>"#
    );
    if history.len() > 1 {
        let _ = write!(
            body,
            r#"<section><h2><a href="/targets/{digest}">Its audits</a></h2>{}{}</section>"#,
            chart(history),
            table(history, false)
        );
    }
    page(target, &body)
}

/// `GET /targets/DIGEST`.
pub(super) async fn target(State(web): State<Arc<Web>>, Path(digest): Path<String>) -> Response {
    let is_digest = digest.len() == 24 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let history = match web.jobs.history_of(if is_digest { &digest } else { "none" }, 200).await {
        Ok(history) => history,
        Err(_) => return away(),
    };
    let Some(last) = history.first() else { return missing() };
    let name = &last.done.asked.target;
    let body =
        format!("<section><h1>{}</h1>{}{}</section>", escape(name), chart(&history), table(&history, false));
    Html(page(name, &body)).into_response()
}

fn findings(done: &Done) -> String {
    let words = ["critical", "high", "medium", "low"].iter().filter_map(|severity| {
        let count = done.findings.get(*severity)?;
        Some(format!("{count} {severity}"))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "nothing found".to_owned() } else { words.join(", ") }
}

fn table(points: &[Point], with_target: bool) -> String {
    if points.is_empty() {
        return "<p class=\"quiet\">None yet.</p>".to_owned();
    }
    let head = if with_target { "<th>Target</th>" } else { "" };
    let mut out = format!(
        "<div class=\"wide\"><table><thead><tr>{head}<th>Score</th><th>Findings</th><th>Ended</th></tr></thead><tbody>"
    );
    for Point { id, done } in points {
        let score = match (&done.failure, done.score, &done.grade) {
            (Some(_), ..) => "failed".to_owned(),
            (None, Some(score), Some(grade)) => format!("{} {score}", escape(grade)),
            _ => "not graded".to_owned(),
        };
        let target = if with_target {
            format!(r#"<td><a href="/audits/{id}">{}</a></td>"#, escape(&done.asked.target))
        } else {
            String::new()
        };
        let score = if with_target { score } else { format!(r#"<a href="/audits/{id}">{score}</a>"#) };
        let findings = if done.failure.is_some() { String::new() } else { escape(&findings(done)) };
        let _ =
            write!(out, "<tr>{target}<td>{score}</td><td>{findings}</td><td>{}</td></tr>", when(done.ended));
    }
    out.push_str("</tbody></table></div>");
    out
}

fn missing() -> Response {
    let body = "<section><h1>There is no such audit</h1><p><a href=\"/\">All audits</a></p></section>";
    (StatusCode::NOT_FOUND, Html(page("Not here", body))).into_response()
}
