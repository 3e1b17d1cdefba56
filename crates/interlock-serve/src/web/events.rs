//! An audit's progress as server-sent events: `progress` whenever it changes, `end` at its end.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::{Path, State},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use interlock_sync::store::OpId;
use serde_json::Value;

use super::{
    Web,
    api::{about, unknown},
};
use crate::jobs::{State as Standing, parse_id};

/// How often the store is asked: the worker may be in another process.
const OFTEN: Duration = Duration::from_millis(300);
/// After this long a watcher comes back by itself.
const LONGEST: u32 = 5 * 60 * 1000 / 300;

struct Watch {
    web: Arc<Web>,
    id: OpId,
    last: Value,
    left: u32,
}

pub(super) async fn events(State(web): State<Arc<Web>>, Path(id): Path<String>) -> Response {
    let Some(id) = parse_id(&id) else { return unknown() };
    if !matches!(web.jobs.state(id).await, Ok(Some(_))) {
        return unknown();
    }
    let watch = Watch { web, id, last: Value::Null, left: LONGEST };
    let events = stream::unfold(Some(watch), |watch| async move { next(watch?).await });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

async fn next(mut watch: Watch) -> Option<(Result<Event, Infallible>, Option<Watch>)> {
    loop {
        watch.left = watch.left.checked_sub(1)?;
        if let Ok(Some(state)) = watch.web.jobs.state(watch.id).await {
            let about = about(watch.id, &state);
            if about != watch.last {
                watch.last = about;
                let text = watch.last.to_string();
                let is_end = matches!(state, Standing::Done(_));
                let event = Event::default().event(if is_end { "end" } else { "progress" }).data(text);
                return Some((Ok(event), (!is_end).then_some(watch)));
            }
        }
        tokio::time::sleep(OFTEN).await;
    }
}
