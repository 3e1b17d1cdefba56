//! Idempotency: the requests as statements, and the answers read back.

use std::time::Duration;

use interlock_sync::store::{Attempt, Begun, Ending, Fence, Key, Stored};
use tokio_postgres::{Row, types::Type};

use super::{
    fault::{Effect, Failure},
    line::Line,
    wire,
};

pub(super) async fn begin(line: &Line, attempt: &Attempt) -> Result<Begun, Failure> {
    let statement = "SELECT * FROM interlock.begin_attempt($1, $2, $3, $4, $5)";
    let row = line
        .ask_one(
            Effect::Changes,
            statement,
            &[
                (&attempt.key.as_str(), Type::TEXT),
                (&&attempt.fingerprint.0[..], Type::BYTEA),
                (&&wire::id(attempt.owner)[..], Type::BYTEA),
                (&wire::micros(attempt.ttl), Type::INT8),
                (&wire::micros(attempt.keep), Type::INT8),
            ],
        )
        .await?;
    let fence = || wire::unsigned(&row, "fence").map(Fence);
    Ok(match wire::column(&row, "verdict")? {
        "reserved" => Begun::Reserved { fence: fence()? },
        "running" => Begun::Running { retry_after: wire::wait(&row, "wait")? },
        "completed" => Begun::Ended(Stored { ending: Ending::Completed(answer(&row)?) }),
        "failed" => Begun::Ended(Stored { ending: Ending::Failed(answer(&row)?) }),
        "mismatch" => Begun::Mismatch,
        "in-doubt" => Begun::InDoubt { fence: fence()? },
        _ => return Err(Failure::nonsense("PostgreSQL answered an attempt with a word that is not known")),
    })
}

pub(super) async fn dispatch(line: &Line, key: &Key, fence: Fence, ttl: Duration) -> Result<bool, Failure> {
    let statement = "SELECT interlock.dispatch_attempt($1, $2, $3) AS held";
    line.ask_whether(
        statement,
        &[(&key.as_str(), Type::TEXT), (&wire::token(fence.0), Type::INT8), (&wire::micros(ttl), Type::INT8)],
    )
    .await
}

pub(super) async fn finish(
    line: &Line,
    key: &Key,
    fence: Fence,
    ending: &Ending,
    keep: Duration,
) -> Result<bool, Failure> {
    let (phase, answer) = match ending {
        Ending::Completed(answer) => ("completed", answer),
        Ending::Failed(answer) => ("failed", answer),
    };
    let statement = "SELECT interlock.finish_attempt($1, $2, $3, $4, $5) AS held";
    line.ask_whether(
        statement,
        &[
            (&key.as_str(), Type::TEXT),
            (&wire::token(fence.0), Type::INT8),
            (&phase, Type::TEXT),
            (answer, Type::BYTEA),
            (&wire::micros(keep), Type::INT8),
        ],
    )
    .await
}

fn answer(row: &Row) -> Result<Vec<u8>, Failure> {
    wire::column(row, "answer")
}
