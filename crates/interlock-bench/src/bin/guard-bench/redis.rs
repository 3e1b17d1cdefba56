//! How often the guard goes to Redis and back for one call: a wire in between counts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use anyhow::{Context, Result};
use interlock_testkit::service::Redis;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Builder,
};

use crate::{Row, client::Client, peers::Peers};

const CALLS: u64 = 1_000;

pub(crate) async fn run(peers: &Peers) -> Result<Vec<Row>> {
    let redis = Redis::start()?;
    let trips = Arc::new(AtomicU64::new(0));
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let url = format!("redis://{}/", listener.local_addr()?);
    let server = redis.url().trim_start_matches("redis://").trim_end_matches('/').to_owned();
    // On a thread of its own: this one waits for the guard, which waits for its store.
    listener.set_nonblocking(true)?;
    let (runtime, counted) = (Builder::new_current_thread().enable_all().build()?, Arc::clone(&trips));
    thread::spawn(move || {
        runtime.block_on(async { count(TcpListener::from_std(listener)?, server, counted).await })
    });
    let echo = peers.echo()?;
    let guard = peers.guard(&echo.url, &url)?;
    let mut client = Client::connect(&guard.url).await?;
    for _ in 0..10 {
        client.call("echo", r#"{"text":"hello","key":"one"}"#).await?;
    }
    let before = trips.load(Ordering::Relaxed);
    for _ in 0..CALLS {
        client.call("echo", r#"{"text":"hello","key":"one"}"#).await?;
    }
    let after = trips.load(Ordering::Relaxed);
    Ok(vec![Row {
        what: "Redis, round trips for a call".to_owned(),
        ours: (after - before) as f64 / CALLS as f64,
        peer: 2.0,
        name: "one to admit and one to settle".to_owned(),
        unit: "",
    }])
}

async fn count(listener: TcpListener, server: String, trips: Arc<AtomicU64>) -> Result<()> {
    loop {
        let (client, _) = listener.accept().await?;
        let server = TcpStream::connect(&server).await.context("Redis is there")?;
        tokio::spawn(carry(client, server, Arc::clone(&trips)));
    }
}

/// Whenever the client speaks after the server has, that is another round trip.
async fn carry(mut client: TcpStream, mut server: TcpStream, trips: Arc<AtomicU64>) -> Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    let mut is_clients_turn = true;
    loop {
        tokio::select! {
            read = client.read_buf(&mut asked) => {
                if read? == 0 {
                    return Ok(());
                }
                if std::mem::take(&mut is_clients_turn) {
                    trips.fetch_add(1, Ordering::Relaxed);
                }
                server.write_all(&asked).await?;
                asked.clear();
            }
            read = server.read_buf(&mut answered) => {
                if read? == 0 {
                    return Ok(());
                }
                is_clients_turn = true;
                client.write_all(&answered).await?;
                answered.clear();
            }
        }
    }
}
