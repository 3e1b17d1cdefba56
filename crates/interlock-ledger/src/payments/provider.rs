//! The provider: keeps charges in memory, knows idempotency keys, and can be told to misbehave.
//!
//! `POST /charges` makes a charge, `GET /charges` lists them, `POST /faults` sets what goes wrong with the next ones.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use super::{Charge, Charged};

/// What goes wrong. Counts are used up by the charges that they befall.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Faults {
    /// So many charges are made and not answered: the connection is cut.
    pub drop_replies: u32,
    /// Charges are answered so much later than they are made.
    pub delay_ms: u64,
    /// So many are answered with an error and not made.
    pub fail_next: u32,
}

#[derive(Default)]
struct Provider {
    made: Vec<Charged>,
    by_key: HashMap<String, Charged>,
    faults: Faults,
}

type Shared = Arc<Mutex<Provider>>;

/// Serves until the future is dropped; `faults` is what goes wrong until somebody says otherwise.
///
/// # Errors
///
/// When the listener fails.
pub async fn serve(listener: TcpListener, faults: Faults) -> io::Result<()> {
    let routes = Router::new()
        .route("/charges", get(list).post(charge))
        .route("/faults", post(misbehave))
        .with_state(Arc::new(Mutex::new(Provider { faults, ..Provider::default() })));
    axum::serve(listener, routes).await
}

async fn list(State(provider): State<Shared>) -> Json<Vec<Charged>> {
    Json(enter(&provider).made.clone())
}

async fn misbehave(State(provider): State<Shared>, Json(faults): Json<Faults>) -> Json<Faults> {
    enter(&provider).faults = faults.clone();
    Json(faults)
}

async fn charge(State(provider): State<Shared>, Json(charge): Json<Charge>) -> Response {
    let (answer, is_dropped, delay) = {
        let mut provider = enter(&provider);
        if used_up(&mut provider.faults.fail_next) {
            return (StatusCode::INTERNAL_SERVER_ERROR, "on request").into_response();
        }
        let answer = provider.charge(charge);
        let is_dropped = used_up(&mut provider.faults.drop_replies);
        (answer, is_dropped, Duration::from_millis(provider.faults.delay_ms))
    };
    tokio::time::sleep(delay).await;
    if is_dropped {
        // A body that fails makes the server cut the connection.
        let cut = std::iter::once(Err::<Bytes, _>(io::Error::other("cut on request")));
        return Body::from_stream(futures_util::stream::iter(cut)).into_response();
    }
    answer
}

impl Provider {
    fn charge(&mut self, charge: Charge) -> Response {
        if charge.amount <= 0 {
            return (StatusCode::UNPROCESSABLE_ENTITY, "the amount must be positive").into_response();
        }
        let key = charge.idempotency_key.clone();
        if let Some(earlier) = key.as_ref().and_then(|key| self.by_key.get(key)) {
            if earlier.charge != charge {
                return (StatusCode::CONFLICT, "the key was used for another charge").into_response();
            }
            return Json(earlier.clone()).into_response();
        }
        let charged = Charged { charge_id: format!("charge-{}", self.made.len() + 1), charge };
        self.made.push(charged.clone());
        if let Some(key) = key {
            self.by_key.insert(key, charged.clone());
        }
        Json(charged).into_response()
    }
}

/// The provider. Nothing is left half done in it, so a panic elsewhere did not spoil it.
fn enter(provider: &Shared) -> MutexGuard<'_, Provider> {
    provider.lock().unwrap_or_else(PoisonError::into_inner)
}

fn used_up(count: &mut u32) -> bool {
    let is_left = *count > 0;
    *count = count.saturating_sub(1);
    is_left
}
