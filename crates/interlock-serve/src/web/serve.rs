//! Connections: so many at once, each for so long. Whoever sends slowly or does not read is cut off.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time,
};

use super::Peer;

/// At most so many connections are open.
const CONNECTIONS: usize = 512;
/// How long the head of a request may take, and so how long a connection may stay without one.
const HEAD: Duration = Duration::from_secs(10);
/// How long a connection may be used: as long as somebody may watch an audit, or upload an archive over a slow line.
const AGE: Duration = Duration::from_secs(10 * 60);
/// How long the answer that is under way then may take.
const LAST: Duration = Duration::from_secs(2);
/// How long nothing is accepted after the system could not give a connection, because it has no more files.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts until told to stop, then ends what is under way.
pub(super) async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let (told, tell) = watch::channel(false);
    let mut open = JoinSet::new();
    loop {
        // A place first: while there is none, clients wait in the system's own line.
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            Some((listener.accept().await, place))
        };
        let (stream, peer, place) = tokio::select! {
            () = &mut stop => break,
            Some(_) = open.join_next() => continue,
            accepted = accepted => match accepted {
                Some((Ok((stream, peer)), place)) => (stream, peer, place),
                Some((Err(_), _)) => {
                    time::sleep(PAUSE).await;
                    continue;
                }
                None => break,
            },
        };
        let (router, tell) = (router.clone(), tell.clone());
        open.spawn(async move {
            answer(stream, peer, router, tell).await;
            drop(place);
        });
    }
    drop(listener);
    let _ = told.send(true);
    let _ = time::timeout(LAST, async { while open.join_next().await.is_some() {} }).await;
}

/// Answers on one connection.
async fn answer(stream: TcpStream, peer: SocketAddr, router: Router, mut stopped: watch::Receiver<bool>) {
    let router = router.layer(Extension(Peer(peer)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(32 << 10)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    tokio::select! {
        _ = &mut connection => return,
        () = time::sleep(AGE) => {}
        _ = stopped.wait_for(|is_stopped| *is_stopped) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = time::timeout(LAST, connection).await;
}
