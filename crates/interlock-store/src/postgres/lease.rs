//! Leases: the requests as statements, and the answers read back.

use std::time::Duration;

use interlock_sync::store::{Fence, Key, LeaseAnswer, LeaseRequest};
use tokio_postgres::types::Type;

use super::{
    fault::{Effect, Failure},
    line::Line,
    wire,
};

pub(super) async fn acquire(line: &Line, request: &LeaseRequest) -> Result<LeaseAnswer, Failure> {
    let statement = "SELECT * FROM interlock.acquire_lease($1, $2, $3)";
    let row = line
        .ask_one(
            Effect::Changes,
            statement,
            &[
                (&request.key.as_str(), Type::TEXT),
                (&&wire::id(request.owner)[..], Type::BYTEA),
                (&wire::micros(request.ttl), Type::INT8),
            ],
        )
        .await?;
    let fence = Fence(wire::unsigned(&row, "fence")?);
    Ok(if wire::column(&row, "granted")? {
        LeaseAnswer::Granted { fence }
    } else {
        LeaseAnswer::Held { fence, retry_after: wire::wait(&row, "wait")? }
    })
}

/// Prolongs a lease, or without more time gives it back.
pub(super) async fn renew(
    line: &Line,
    key: &Key,
    fence: Fence,
    ttl: Option<Duration>,
) -> Result<bool, Failure> {
    let statement = "SELECT interlock.renew_lease($1, $2, $3) AS held";
    line.ask_whether(
        statement,
        &[
            (&key.as_str(), Type::TEXT),
            (&wire::token(fence.0), Type::INT8),
            (&ttl.map(wire::micros), Type::INT8),
        ],
    )
    .await
}
