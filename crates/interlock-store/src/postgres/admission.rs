//! Admissions: the requests as statements, and the answers read back.

use std::time::Duration;

use interlock_sync::store::{Admission, Admitted, Ending, Fence, Key, Quota, Settlement, Stored, WaitsOn};
use tokio_postgres::{Row, types::Type};

use super::{
    durable::{Durable, LATER},
    fault::{Effect, Failure},
    limit,
    line::Line,
    wire,
};

pub(super) async fn admit(
    line: &Line,
    durable: &Durable,
    admission: &Admission,
) -> Result<Admitted, Failure> {
    let Admission { charges, places, locks, once, .. } = admission;
    let kind = |quota: &Quota| match quota {
        Quota::Bucket { .. } => "bucket",
        Quota::Log { .. } => "log",
    };
    let numbers: Vec<_> = charges.iter().map(|charge| limit::numbers(&charge.quota, 1)).collect();
    let statement = format!(
        "SELECT a.* FROM {LATER}, LATERAL interlock.admit(
        $1, $2, $3, $4, $5 AND l.is_later, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) a"
    );
    let row = line
        .ask_one(
            Effect::Changes,
            &statement,
            &[
                (&&wire::id(admission.call)[..], Type::BYTEA),
                (&wire::micros(admission.ttl), Type::INT8),
                (&wire::micros(admission.patience), Type::INT8),
                (&wire::micros(admission.remember), Type::INT8),
                (&admission.is_again, Type::BOOL),
                (&texts(charges.iter().map(|charge| &charge.key)), Type::TEXT_ARRAY),
                (&charges.iter().map(|charge| kind(&charge.quota)).collect::<Vec<_>>(), Type::TEXT_ARRAY),
                (&numbers.iter().map(|[first, ..]| *first).collect::<Vec<_>>(), Type::INT8_ARRAY),
                (&numbers.iter().map(|[_, second, _]| *second).collect::<Vec<_>>(), Type::INT8_ARRAY),
                (&numbers.iter().map(|[.., third]| *third).collect::<Vec<_>>(), Type::INT8_ARRAY),
                (&texts(places.iter().map(|places| &places.key)), Type::TEXT_ARRAY),
                (&places.iter().map(|places| i64::from(places.limit)).collect::<Vec<_>>(), Type::INT8_ARRAY),
                (&texts(locks.iter().map(|wish| &wish.key)), Type::TEXT_ARRAY),
                (&locks.iter().map(|wish| wish.is_shared).collect::<Vec<_>>(), Type::BOOL_ARRAY),
                (&once.as_ref().map(|once| once.key.as_str()), Type::TEXT),
                (&once.as_ref().map(|once| &once.fingerprint.0[..]), Type::BYTEA),
                (&once.as_ref().map(|once| wire::micros(once.keep)), Type::INT8),
                (&admission.reader.as_ref().map(Key::as_str), Type::TEXT),
                (&texts(&admission.observes), Type::TEXT_ARRAY),
                (&texts(&admission.requires_fresh), Type::TEXT_ARRAY),
            ],
        )
        .await?;
    let admitted = admitted(&row, admission)?;
    // What is not a grant need not survive a crash of the server, and neither need one that keeps nobody out.
    let keeps = !admission.locks.is_empty() || admission.once.is_some();
    if keeps && matches!(admitted, Admitted::Granted { .. }) {
        durable.reached().await?;
    }
    Ok(admitted)
}

fn texts<'a>(keys: impl IntoIterator<Item = &'a Key>) -> Vec<&'a str> {
    keys.into_iter().map(Key::as_str).collect()
}

fn admitted(row: &Row, admission: &Admission) -> Result<Admitted, Failure> {
    let waits = |on| {
        let (ahead, retry_after) = (wire::small(row, "ahead")?, wire::wait(row, "wait")?);
        Ok(Admitted::Waits { on, ahead, retry_after })
    };
    let ended = |ending: fn(Vec<u8>) -> Ending| {
        Ok(Admitted::Ended(Stored { ending: ending(wire::column(row, "answer")?) }))
    };
    match wire::column(row, "verdict")? {
        "granted" => Ok(Admitted::Granted { fence: Fence(wire::unsigned(row, "fence")?) }),
        "too-often" => {
            let key = first(wanted(row, &admission.charges, |charge| &charge.key)?)?;
            Ok(Admitted::TooOften { key, retry_after: Some(wire::wait(row, "wait")?) })
        }
        "locks" => waits(WaitsOn::Locks(wanted(row, &admission.locks, |wish| &wish.key)?)),
        "place" => waits(WaitsOn::Place(first(wanted(row, &admission.places, |places| &places.key)?)?)),
        "same" => {
            let once = admission.once.as_ref().ok_or_else(unasked)?;
            waits(WaitsOn::Same(once.key.clone()))
        }
        "stale" => {
            let keys = wanted(row, &admission.requires_fresh, |key| key)?;
            let had: Vec<bool> = wire::column(row, "had")?;
            Ok(Admitted::Stale { keys: keys.into_iter().zip(had).collect() })
        }
        "completed" => ended(Ending::Completed),
        "failed" => ended(Ending::Failed),
        "mismatch" => Ok(Admitted::Mismatch),
        "in-doubt" => Ok(Admitted::InDoubt),
        _ => Err(Failure::nonsense("PostgreSQL answered an admission with a word that is not known")),
    }
}

/// The keys that an answer is about, which it tells by their places in what was asked, counted from 1.
fn wanted<T>(row: &Row, asked: &[T], key: impl Fn(&T) -> &Key) -> Result<Vec<Key>, Failure> {
    let nth = |place: i64| {
        let at = usize::try_from(place - 1).ok();
        at.and_then(|at| asked.get(at)).map(|asked| key(asked).clone()).ok_or_else(unasked)
    };
    wire::column::<Vec<i64>>(row, "wanted")?.into_iter().map(nth).collect()
}

fn first(keys: Vec<Key>) -> Result<Key, Failure> {
    keys.into_iter().next().ok_or_else(unasked)
}

fn unasked() -> Failure {
    Failure::nonsense("PostgreSQL answered an admission about a key that was not asked for")
}

pub(super) async fn prolong(line: &Line, settlement: &Settlement, ttl: Duration) -> Result<bool, Failure> {
    let Some(Fence(fence)) = settlement.fence else { return Ok(false) };
    let statement = "SELECT interlock.prolong($1, $2, $3, $4, $5, $6) AS held";
    line.ask_whether(
        statement,
        &[
            (&&wire::id(settlement.call)[..], Type::BYTEA),
            (&wire::token(fence), Type::INT8),
            (&wire::micros(ttl), Type::INT8),
            (&texts(&settlement.places), Type::TEXT_ARRAY),
            (&texts(&settlement.locks), Type::TEXT_ARRAY),
            (&settlement.once.as_ref().map(|(key, ..)| key.as_str()), Type::TEXT),
        ],
    )
    .await
}

/// Whether it was held still, and what of it others stand in line for.
pub(super) async fn settle(
    line: &Line,
    durable: &Durable,
    settlement: &Settlement,
) -> Result<(bool, Vec<String>), Failure> {
    let once = settlement.once.as_ref();
    let (phase, answer) = match once.and_then(|(_, ending, _)| ending.as_ref()) {
        Some(Ending::Completed(answer)) => (Some("completed"), Some(answer.as_slice())),
        Some(Ending::Failed(answer)) => (Some("failed"), Some(answer.as_slice())),
        None => (None, None),
    };
    let statement = format!(
        "SELECT s.* FROM {LATER}, LATERAL interlock.settle_and_tell(
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 AND l.is_later, $12) s"
    );
    let row = line
        .ask_one(
            Effect::Changes,
            &statement,
            &[
                (&&wire::id(settlement.call)[..], Type::BYTEA),
                (&settlement.fence.map(|fence| wire::token(fence.0)), Type::INT8),
                (&texts(&settlement.places), Type::TEXT_ARRAY),
                (&texts(&settlement.locks), Type::TEXT_ARRAY),
                (&once.map(|(key, ..)| key.as_str()), Type::TEXT),
                (&phase, Type::TEXT),
                (&answer, Type::BYTEA),
                (&once.map(|(.., keep)| wire::micros(*keep)), Type::INT8),
                (&settlement.reader.as_ref().map(Key::as_str), Type::TEXT),
                (&texts(&settlement.changes), Type::TEXT_ARRAY),
                (&settlement.is_success, Type::BOOL),
                (&wire::micros(settlement.remember), Type::INT8),
            ],
        )
        .await?;
    // A place in line is lost by silence within seconds. What was held would stay for as long as calls may take.
    if settlement.fence.is_some() || settlement.once.is_some() {
        durable.reached().await?;
    }
    Ok((wire::column(&row, "held")?, wire::column(&row, "awaited")?))
}
