//! One number that everybody adds to, in PostgreSQL: 32 callers of our store beside 32 clients of `pgbench`.

use std::{io::Write, path::PathBuf, process::Command, time::Instant};

use anyhow::{Context, Result, ensure};
use interlock_store::{Options, open};
use interlock_sync::store::Key;
use interlock_testkit::service::Postgres;
use tokio::runtime::Runtime;

use crate::{
    row::Row,
    sample::in_turn,
    sqlite::{make, together},
};

const ROUNDS: usize = 5;
const CLIENTS: usize = 32;
const SECONDS: f64 = 2.0;

/// The rows.
pub(crate) fn run() -> Result<Vec<Row>> {
    let server = Postgres::start()?;
    server
        .query("CREATE TABLE hot (id int PRIMARY KEY, n bigint NOT NULL); INSERT INTO hot VALUES (1, 0)")?;
    let pgbench =
        PathBuf::from(server.query("SELECT setting FROM pg_config WHERE name = 'BINDIR'")?).join("pgbench");
    let mut script = tempfile::NamedTempFile::new()?;
    writeln!(script, "UPDATE hot SET n = n + 1 WHERE id = 1;")?;
    let script = script.into_temp_path();

    let both = Runtime::new()?.block_on(async {
        let store = open(&server.url(), &Options::default()).await?;
        let keys = vec![Key::new("hot")?; CLIENTS];
        make(&*store, keys.first().context("there are no callers")?).await?;
        let ours = async || {
            let start = Instant::now();
            let (mut samples, mut sum) = (0.0, 0.0);
            while start.elapsed().as_secs_f64() < SECONDS {
                sum += together(&store, &keys, 100).await?;
                samples += 1.0;
            }
            Ok(sum / samples)
        };
        in_turn(ROUNDS, ours, async || tokio::task::block_in_place(|| bench(&pgbench, &server, &script)))
            .await
    })?;
    let version = Command::new(&pgbench).arg("--version").output()?.stdout;
    let version = String::from_utf8_lossy(&version)
        .split_whitespace()
        .nth(2)
        .unwrap_or("of unknown version")
        .to_owned();
    let what = "PostgreSQL, 32 callers add to one record".to_owned();
    Ok(vec![Row { what, both, peer: format!("pgbench, 32 clients UPDATE one row {version}"), unit: "/s" }])
}

/// Transactions per second, the time to connect left out, with statements that are prepared once.
fn bench(pgbench: &PathBuf, server: &Postgres, script: &std::path::Path) -> Result<f64> {
    let mut command = Command::new(pgbench);
    command.args([
        "--no-vacuum",
        "--protocol=prepared",
        "--jobs=2",
        "--username=postgres",
        "--host=127.0.0.1",
    ]);
    command.arg(format!("--client={CLIENTS}")).arg(format!("--time={SECONDS}"));
    command.arg(format!("--port={}", server.address().port())).arg("--file").arg(script).arg("postgres");
    let output = command.output().context("pgbench could not be started")?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "pgbench failed: {}", String::from_utf8_lossy(&output.stderr));
    let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")).context("pgbench said no rate")?;
    rate.split(' ').next().and_then(|number| number.parse().ok()).context("pgbench's rate is no number")
}
