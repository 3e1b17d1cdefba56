//! Idempotency: the requests as statements, and the answers read back.

use std::time::Duration;

use interlock_sync::store::{Attempt, Begun, Doubt, Ending, Fence, Key, Stored};
use tokio_postgres::{Row, types::Type};

use super::{
    fault::{Effect, Failure},
    line::{Line, Param},
    record::behind_all,
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

pub(super) async fn in_doubt(
    line: &Line,
    prefix: &str,
    after: Option<&Key>,
    limit: usize,
) -> Result<Vec<Doubt>, Failure> {
    // No key has control characters, and PostgreSQL has no NUL to look for.
    if prefix.contains(char::is_control) {
        return Ok(vec![]);
    }
    let statement = "SELECT t.key, t.fence, t.until FROM interlock.attempts t, (SELECT interlock.clock() AS now) c \
        WHERE t.phase = 'dispatched' AND t.until <= c.now AND t.forget > c.now \
        AND t.key >= $1 AND ($2::text IS NULL OR t.key < $2) AND ($3::text IS NULL OR t.key > $3) ORDER BY t.key LIMIT $4";
    let (behind, after) = (behind_all(prefix), after.map(Key::as_str));
    let limit = wire::count(limit as u64);
    let params: [Param<'_>; 4] =
        [(&prefix, Type::TEXT), (&behind, Type::TEXT), (&after, Type::TEXT), (&limit, Type::INT8)];
    let rows = line.ask(Effect::Reads, statement, &params).await?;
    let doubt = |row: &Row| {
        let fence = Fence(wire::unsigned(row, "fence")?);
        Ok(Doubt { key: wire::key(row, "key")?, fence, since: wire::moment(row, "until")? })
    };
    rows.iter().map(doubt).collect()
}

fn answer(row: &Row) -> Result<Vec<u8>, Failure> {
    wire::column(row, "answer")
}
