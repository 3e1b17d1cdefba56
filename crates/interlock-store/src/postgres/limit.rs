//! Rate limits and in-flight limits: the requests as statements, and the answers read back.

use std::time::Duration;

use interlock_sync::store::{Key, OpId, PermitAnswer, PermitRequest, Quota, Taken};
use tokio_postgres::types::Type;

use super::{
    fault::{Effect, Failure},
    line::Line,
    wire,
};

pub(super) async fn take(line: &Line, key: &Key, quota: &Quota, cost: u32) -> Result<Taken, Failure> {
    let (most, statement) = match *quota {
        Quota::Bucket { burst, .. } => (burst, "SELECT * FROM interlock.take_bucket($1, $2, $3, $4)"),
        Quota::Log { limit, .. } => (limit, "SELECT * FROM interlock.take_log($1, $2, $3, $4)"),
    };
    // Whatever is stored, more than the whole is never granted.
    if cost > most.get() {
        return Ok(Taken::Refused { retry_after: None });
    }
    let [first, second, third] = numbers(quota, cost);
    let row = line
        .ask_one(
            Effect::Changes,
            statement,
            &[(&key.as_str(), Type::TEXT), (&first, Type::INT8), (&second, Type::INT8), (&third, Type::INT8)],
        )
        .await?;
    Ok(if wire::column(&row, "granted")? {
        Taken::Granted { remaining: wire::small(&row, "remaining")? }
    } else {
        Taken::Refused { retry_after: Some(wire::wait(&row, "wait")?) }
    })
}

/// What the functions for a kind of quota are given.
pub(super) fn numbers(quota: &Quota, cost: u32) -> [i64; 3] {
    match *quota {
        Quota::Bucket { burst, .. } => {
            let pace = quota.interval_micros().max(1);
            [1, burst.get(), cost].map(|times| wire::micros_times(pace, times))
        }
        Quota::Log { limit, window } => [i64::from(limit.get()), wire::micros(window), i64::from(cost)],
    }
}

pub(super) async fn acquire_permit(line: &Line, request: &PermitRequest) -> Result<PermitAnswer, Failure> {
    let statement = "SELECT * FROM interlock.acquire_permit($1, $2, $3, $4)";
    let row = line
        .ask_one(
            Effect::Changes,
            statement,
            &[
                (&request.key.as_str(), Type::TEXT),
                (&&wire::id(request.holder)[..], Type::BYTEA),
                (&i64::from(request.limit), Type::INT8),
                (&wire::micros(request.ttl), Type::INT8),
            ],
        )
        .await?;
    let in_use = wire::small(&row, "in_use")?;
    Ok(if wire::column(&row, "granted")? {
        PermitAnswer::Granted { in_use }
    } else {
        PermitAnswer::Full { in_use, retry_after: wire::wait(&row, "wait")? }
    })
}

pub(super) async fn renew_permit(
    line: &Line,
    key: &Key,
    holder: OpId,
    ttl: Duration,
) -> Result<bool, Failure> {
    let statement = "SELECT interlock.renew_permit($1, $2, $3) AS held";
    line.ask_whether(
        statement,
        &[
            (&key.as_str(), Type::TEXT),
            (&&wire::id(holder)[..], Type::BYTEA),
            (&wire::micros(ttl), Type::INT8),
        ],
    )
    .await
}

pub(super) async fn release_permit(line: &Line, key: &Key, holder: OpId) -> Result<bool, Failure> {
    let statement = "SELECT interlock.release_permit($1, $2) AS held";
    let (key, holder) = (key.as_str(), wire::id(holder));
    line.ask_whether(statement, &[(&key, Type::TEXT), (&&holder[..], Type::BYTEA)]).await
}
