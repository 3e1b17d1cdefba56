//! HTTP/2, agreed on by TLS or known beforehand: a stream for each call on one connection, the last frames of all of them in one write.

use std::{collections::BTreeMap, future::poll_fn, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use h2::client::{self, SendRequest};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    sync::watch,
    task::JoinSet,
    time::timeout,
};

use super::{
    Address, BEFORE_THE_LAST_BYTE, body,
    head::Head,
    wire::{self, Wire},
};
use crate::{
    clock::Instant,
    connect::{Exchange, Incoming, LONGEST, Reply, Request, message, silence},
    trouble::Trouble,
};

/// More than the bodies of all calls that are sent together.
const ROOM: usize = 4 << 20;

/// Requests whose heads are there before, and whose bodies leave together.
pub(super) async fn together(
    address: &Address,
    requests: &[Request],
    parts: Vec<(Head, String)>,
    patience: Duration,
) -> Result<Vec<Exchange>, Trouble> {
    let stream = wire::open(address, wire::HTTP2).await?;
    let (wire, gate, mut carriers) = gated(stream);
    let (sender, connection) = timeout(patience, client::handshake(wire))
        .await
        .map_err(|_| Trouble::Silent(patience))?
        .map_err(unreadable)?;
    carriers.spawn(async move {
        let _ = connection.await;
    });
    exchange(sender, address, requests, parts, (patience, gate)).await
}

/// A connection whose outgoing bytes stop at a gate: whatever has gathered there when it opens leaves in one write. HTTP/2 itself writes
/// frames as they come. The tasks that carry the bytes end when they are dropped.
fn gated(stream: Box<dyn Wire>) -> (DuplexStream, watch::Sender<bool>, JoinSet<()>) {
    let (ours, theirs) = tokio::io::duplex(ROOM);
    let (mut incoming, mut outgoing) = tokio::io::split(stream);
    let (mut written, mut read) = tokio::io::split(theirs);
    let (gate, mut is_open) = watch::channel(true);
    let mut carriers = JoinSet::new();
    carriers.spawn(async move {
        let _ = tokio::io::copy(&mut incoming, &mut read).await;
        let _ = read.shutdown().await;
    });
    carriers.spawn(async move {
        let mut bytes = BytesMut::new();
        while matches!(written.read_buf(&mut bytes).await, Ok(1..)) {
            if is_open.wait_for(|is_open| *is_open).await.is_err() {
                return;
            }
            while let Some(Ok(1..)) = written.read_buf(&mut bytes).now_or_never() {}
            if outgoing.write_all(&bytes).await.is_err() || outgoing.flush().await.is_err() {
                return;
            }
            bytes.clear();
        }
    });
    (ours, gate, carriers)
}

async fn exchange(
    sender: SendRequest<Bytes>,
    address: &Address,
    requests: &[Request],
    parts: Vec<(Head, String)>,
    (patience, gate): (Duration, watch::Sender<bool>),
) -> Result<Vec<Exchange>, Trouble> {
    let mut sender = sender.ready().await.map_err(unreadable)?;
    let mut open = Vec::new();
    for ((head, body), request) in parts.into_iter().zip(requests) {
        poll_fn(|context| sender.poll_ready(context)).await.map_err(unreadable)?;
        let uri = format!("{}://{}{}", address.scheme(), address.authority(), address.path);
        let mut builder = http::Request::post(uri);
        for (name, value) in head.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
            builder = builder.header(name.to_ascii_lowercase(), value);
        }
        let request_head = builder.body(()).map_err(|error| Trouble::Unreadable(error.to_string()))?;
        let (response, stream) = sender.send_request(request_head, false).map_err(unreadable)?;
        open.push((response, stream, Bytes::from(body), request.id));
    }
    // The heads go first; then the bodies gather at the gate.
    tokio::time::sleep(BEFORE_THE_LAST_BYTE).await;
    gate.send_replace(false);
    for (_, stream, body, _) in &mut open {
        stream.send_data(std::mem::take(body), true).map_err(unreadable)?;
    }
    tokio::time::sleep(BEFORE_THE_LAST_BYTE).await;
    let sent = Instant::now();
    gate.send_replace(true);
    let mut tasks = JoinSet::new();
    for (index, (response, _stream, _, id)) in open.into_iter().enumerate() {
        tasks.spawn(async move {
            let answer = match timeout(patience, receive(response, id)).await {
                Err(_) => Err(silence(patience)),
                Ok(Err(error)) => Err(error),
                Ok(Ok(answer)) => Ok(answer),
            };
            (index, Exchange { sent, answer })
        });
    }
    let mut done = BTreeMap::new();
    while let Some(finished) = tasks.join_next().await {
        let (index, exchange) = finished.map_err(|error| Trouble::Unreadable(error.to_string()))?;
        done.insert(index, exchange);
    }
    Ok(done.into_values().collect())
}

async fn receive(response: client::ResponseFuture, id: i64) -> Result<(Instant, Reply), String> {
    let response = response.await.map_err(|error| error.to_string())?;
    let status = response.status();
    let mut stream = response.into_body();
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.data().await {
        let chunk = chunk.map_err(|error| error.to_string())?;
        let _ = stream.flow_control().release_capacity(chunk.len());
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LONGEST {
            return Err(Trouble::TooLong.to_string());
        }
    }
    let at = Instant::now();
    let mut texts: Vec<String> = vec![String::from_utf8_lossy(&bytes).into_owned()];
    texts.extend(body::events(&mut bytes));
    for text in texts {
        if let Incoming::Reply(found, reply) = message::read(text.as_bytes())
            && found == id
        {
            return Ok((at, reply));
        }
    }
    Err(format!("HTTP status {status} without a reply"))
}

fn unreadable(error: h2::Error) -> Trouble {
    Trouble::Unreadable(format!("HTTP/2: {error}"))
}
