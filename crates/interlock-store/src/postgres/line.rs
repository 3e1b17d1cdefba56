//! One statement on one connection: within its time, again when others were in the way, and never with a connection whose state
//! is unknown.

use std::{fmt, time::Duration};

use deadpool_postgres::{ClientWrapper, Object, Pool};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep_until, timeout, timeout_at},
};
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

use super::{
    fault::{Effect, Failure},
    migrate::Schema,
    security::Security,
    wire,
};

/// A parameter of a statement, with its type: so it needs not be prepared first, and one round trip does.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// How often a statement is sent again that the server undid because of others.
const RETRIES: u32 = 12;
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// How often, and how long each time, it is tried to stop a statement that nobody waits for any more.
const STOP_ATTEMPTS: u32 = 5;
const STOP_PATIENCE: Duration = Duration::from_secs(1);

/// Longer than anybody waits, and short enough to be added to any moment.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The way to the server.
pub(super) struct Line {
    pub(super) pool: Pool,
    security: Security,
    pub(super) schema: Schema,
    timeout: Duration,
}

impl Line {
    pub(super) fn new(pool: Pool, security: Security, schema: Schema, timeout: Duration) -> Self {
        Self { pool, security, schema, timeout: timeout.min(LONGEST_TIMEOUT) }
    }

    /// When an operation that starts now has to be over.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// Runs a statement, in which `interlock.` stands for the schema.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits for a connection, nothing was sent. Dropped later, the statement may take effect; its connection
    /// is closed.
    pub(super) async fn ask(
        &self,
        effect: Effect,
        statement: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Failure> {
        let statement = self.schema.qualify(statement);
        let deadline = self.deadline();
        let mut retries = 0;
        loop {
            match self.ask_once(effect, &statement, params, deadline).await {
                Err(failure) if failure.is_passing_conflict() && retries < RETRIES => {
                    let resume = Instant::now() + pause(retries);
                    if resume >= deadline {
                        return Err(failure);
                    }
                    retries += 1;
                    sleep_until(resume).await;
                }
                answer => return answer,
            }
        }
    }

    /// Runs a statement that answers with one row.
    pub(super) async fn ask_one(
        &self,
        effect: Effect,
        statement: &str,
        params: &[Param<'_>],
    ) -> Result<Row, Failure> {
        let row = self.ask(effect, statement, params).await?.pop();
        row.ok_or_else(|| Failure::nonsense("PostgreSQL answered with no row"))
    }

    /// Runs a statement that changes something only if it is held still, and says so in the column `held`.
    pub(super) async fn ask_whether(&self, statement: &str, params: &[Param<'_>]) -> Result<bool, Failure> {
        wire::column(&self.ask_one(Effect::Changes, statement, params).await?, "held")
    }

    async fn ask_once(
        &self,
        effect: Effect,
        statement: &str,
        params: &[Param<'_>],
        deadline: Instant,
    ) -> Result<Vec<Row>, Failure> {
        let waited = timeout_at(deadline, self.pool.get()).await.map_err(|_| Failure::waiting())?;
        let borrowed = Borrowed(Some(waited.map_err(Failure::connecting)?), self.security.clone());
        // It is there until it is given back.
        let Some(client) = &borrowed.0 else { return Err(Failure::waiting()) };
        match timeout_at(deadline, client.query_typed(statement, params)).await {
            Ok(Ok(rows)) => {
                borrowed.give_back();
                Ok(rows)
            }
            Ok(Err(error)) => {
                let failure = Failure::answering(error, effect);
                if failure.leaves_connection_usable() {
                    borrowed.give_back();
                }
                Err(failure)
            }
            Err(_elapsed) => Err(Failure::late(effect)),
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("schema", &self.schema)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A connection on which a statement is under way. Only [`give_back`](Self::give_back) returns it to the pool: when a future is
/// dropped or its time is up, the next borrower would wait behind a statement that is not its own.
struct Borrowed(Option<Object>, Security);

impl Borrowed {
    fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some(client) = self.0.take() else { return };
        let client = Object::take(client);
        // Outside a runtime nothing can be sent: the connection just closes.
        if let (false, Ok(runtime)) = (client.is_closed(), Handle::try_current()) {
            runtime.spawn(stop(client, self.1.clone()));
        }
    }
}

/// Stops the statement on a connection that nobody will use again. One that waits for a lock does not notice that its client
/// has gone, and would keep a process of the server busy until the lock is free.
///
/// A request to stop that overtakes its statement is lost. So it is repeated until an empty statement is answered, which is
/// when those before it are over.
async fn stop(client: ClientWrapper, security: Security) {
    let token = client.cancel_token();
    for _ in 0..STOP_ATTEMPTS {
        // It is a courtesy: nobody is left to hear that it failed.
        let _ = timeout(STOP_PATIENCE, security.cancel(&token)).await;
        if timeout(STOP_PATIENCE, client.batch_execute("")).await.is_ok() {
            return;
        }
    }
}

/// Full jitter: anything up to a bound that doubles, so that those who were in each other's way do not meet again.
fn pause(retries: u32) -> Duration {
    let bound = SHORTEST_PAUSE.saturating_mul(1 << retries.min(16)).min(LONGEST_PAUSE);
    // Without chance from the operating system it is the bound: still a pause.
    let share = getrandom::u32().map_or(1.0, |chance| f64::from(chance) / f64::from(u32::MAX));
    bound.mul_f64(share)
}
