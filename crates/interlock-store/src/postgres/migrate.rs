//! Brings the schema of a namespace up to date, once, however many processes open it at the same moment.

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Object, Pool, PoolError};
use tokio::time::timeout;
use tokio_postgres::{GenericClient, IsolationLevel, types::Type};

/// The changes from each version of the schema to the next. Those that were released are never edited: a new one is added.
///
/// Processes of the version before go on while a new one is applied, so it keeps the functions that they call.
const MIGRATIONS: &[&[&str]] = &[
    &[
        include_str!("schema/tables.sql"),
        include_str!("schema/common.sql"),
        include_str!("schema/leases.sql"),
        include_str!("schema/records.sql"),
        include_str!("schema/limits.sql"),
        include_str!("schema/attempts.sql"),
        include_str!("schema/upkeep.sql"),
    ],
    &[include_str!("schema/admission_tables.sql"), include_str!("schema/admissions.sql")],
    &[include_str!("schema/ops.sql")],
    &[include_str!("schema/given_back.sql")],
    &[include_str!("schema/awaited.sql")],
];

/// How long a migration may take, or the one of another process that this one waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What all migrations of a database lock: `interlock`, as a number.
const LOCK: i64 = i64::from_be_bytes(*b"intrlock");

/// The longest namespace that is legible in the name of its schema, which has at most 63 bytes.
const LEGIBLE: usize = 63 - "interlock_".len();

/// Why a schema is not as needed.
#[derive(Debug, thiserror::Error)]
pub(super) enum MigrateError {
    #[error("no connection could be made")]
    Connect(#[from] PoolError),
    #[error("the schema could not be looked at or changed")]
    Sql(#[from] tokio_postgres::Error),
    #[error("the server did not answer in time")]
    Late,
    #[error(
        "the schema `{schema}` has version {found}, and this program knows none later than {known}: use a newer one"
    )]
    Newer { schema: String, found: i32, known: i32 },
    #[error("the schema `{schema}` belongs to the namespace `{found}`")]
    Foreign { schema: String, found: String },
    #[error("the database has the encoding {0}; keys can hold any text, which needs UTF8")]
    Encoding(String),
    #[error(
        "transactions of this role or database are `{0}` unless told otherwise; set `default_transaction_isolation` to `read committed`"
    )]
    Isolation(String),
}

/// The name of the schema of a namespace.
#[derive(Debug, Clone)]
pub(super) struct Schema(String);

impl Schema {
    /// The statement with this schema in the place of `interlock.`.
    pub(super) fn qualify(&self, statement: &str) -> String {
        // A namespace is letters, digits, `_` and `-`: nothing that could end a quoted name.
        statement.replace("interlock.", &format!("\"{}\".", self.0))
    }

    /// The channel on which it is told what was given back: of the same name.
    pub(super) fn channel(&self) -> &str {
        &self.0
    }

    /// The name: `interlock_` and the namespace. One that is too long for that is told by its hash, behind a sign that no
    /// namespace has.
    async fn of(namespace: &str, client: &Object) -> Result<Self, MigrateError> {
        if namespace.len() <= LEGIBLE {
            return Ok(Self(format!("interlock_{namespace}")));
        }
        let hash = "SELECT left(encode(sha256(convert_to($1, 'UTF8')), 'hex'), 48)";
        let row = client.query_typed_one(hash, &[(&namespace, Type::TEXT)]).await?;
        Ok(Self(format!("interlock#{}", row.try_get::<_, &str>(0)?)))
    }
}

/// The schema of a namespace, made or brought up to date if it is not.
pub(super) async fn up_to_date(
    pool: &Pool,
    namespace: &str,
    patience: Duration,
) -> Result<Schema, MigrateError> {
    let looked = timeout(patience, async {
        let client = pool.get().await?;
        check_server(&client).await?;
        let schema = Schema::of(namespace, &client).await?;
        let version = version(&**client, &schema, namespace).await?;
        Ok::<_, MigrateError>((client, schema, version))
    });
    let (client, schema, version) = looked.await.map_err(|_| MigrateError::Late)??;
    if version < latest() {
        // A connection that is given up in the middle of this is closed, and the server undoes what it had begun.
        let mut client = Object::take(client);
        let migrated = timeout(patience.max(PATIENCE), migrate(&mut client, &schema, namespace));
        migrated.await.map_err(|_| MigrateError::Late)??;
    }
    Ok(schema)
}

/// What the functions rely on.
async fn check_server(client: &Object) -> Result<(), MigrateError> {
    let settings = "SELECT current_setting('server_encoding'), current_setting('transaction_isolation')";
    let row = client.query_typed_one(settings, &[]).await?;
    let (encoding, isolation): (String, String) = (row.try_get(0)?, row.try_get(1)?);
    match (encoding.as_str(), isolation.as_str()) {
        ("UTF8", "read committed") => Ok(()),
        ("UTF8", _) => Err(MigrateError::Isolation(isolation)),
        _ => Err(MigrateError::Encoding(encoding)),
    }
}

/// The version that is there, 0 if none is.
async fn version(client: &impl GenericClient, schema: &Schema, namespace: &str) -> Result<i32, MigrateError> {
    // Not `to_regclass`: it answers from what the session has cached, and would not see what was made while this waited for the lock.
    let there = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'about')";
    if !client.query_typed_one(there, &[(&schema.0, Type::TEXT)]).await?.try_get(0)? {
        return Ok(0);
    }
    let ask = schema.qualify("SELECT version, namespace FROM interlock.about");
    let row = client.query_typed_one(&ask, &[]).await?;
    let (found, owner): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    let schema = schema.0.clone();
    if owner != namespace {
        return Err(MigrateError::Foreign { schema, found: owner });
    }
    if found > latest() {
        return Err(MigrateError::Newer { schema, found, known: latest() });
    }
    Ok(found)
}

/// Applies what is missing, all or nothing.
async fn migrate(client: &mut ClientWrapper, schema: &Schema, namespace: &str) -> Result<(), MigrateError> {
    // Only so does the look after the lock see what the holder before has done.
    let transaction =
        client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await?;
    transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
    let from = version(&*transaction, schema, namespace).await?;
    if from == latest() {
        return Ok(());
    }
    // Asked first, because `IF NOT EXISTS` wants the right to make one also where there is one.
    let there = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)";
    if !transaction.query_typed_one(there, &[(&schema.0, Type::TEXT)]).await?.try_get::<_, bool>(0)? {
        transaction.batch_execute(&format!("CREATE SCHEMA \"{}\"", schema.0)).await?;
    }
    let steps = MIGRATIONS.iter().skip(usize::try_from(from).unwrap_or_default());
    for file in steps.flat_map(|step| step.iter()) {
        transaction.batch_execute(&schema.qualify(file)).await?;
    }
    transaction.batch_execute(&schema.qualify("DELETE FROM interlock.about")).await?;
    let now = schema.qualify("INSERT INTO interlock.about VALUES ($1, $2)");
    transaction.execute_typed(&now, &[(&latest(), Type::INT4), (&namespace, Type::TEXT)]).await?;
    transaction.commit().await?;
    Ok(())
}

fn latest() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}
