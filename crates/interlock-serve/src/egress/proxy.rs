//! The proxy: `CONNECT host:443`, and nothing else.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};

use super::{Pass, Rules, is_public};

/// At most so many connections are open.
const CONNECTIONS: usize = 256;
/// How long a request may be.
const LONGEST_HEAD: usize = 8 << 10;
/// How long a client may take to ask, and a host to be found and to accept.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long nothing may come from either side.
const IDLE: Duration = Duration::from_secs(60);

pub(super) async fn serve(listener: TcpListener, rules: Arc<Rules>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let rules = Arc::clone(&rules);
        tokio::spawn(async move {
            let _ = answer(client, &rules).await;
            drop(place);
        });
    }
}

async fn answer(mut client: TcpStream, rules: &Rules) -> io::Result<()> {
    let opened = match timeout(PATIENCE, open(&mut client, rules)).await {
        Ok(opened) => opened,
        Err(_) => Err("504 Gateway Timeout"),
    };
    match opened {
        Ok((host, pass)) => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
            carry(client, host, &pass.left).await
        }
        Err(refusal) => {
            // Without the second line git, which first asks without its ticket, would not know that it may show it.
            let answer = format!(
                "HTTP/1.1 {refusal}\r\nProxy-Authenticate: Basic realm=\"audit\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            client.write_all(answer.as_bytes()).await
        }
    }
}

/// The connection that a client asks for, or what it is told instead.
async fn open(client: &mut TcpStream, rules: &Rules) -> Result<(TcpStream, Arc<Pass>), &'static str> {
    let head = head(client).await.map_err(|_| "400 Bad Request")?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some("CONNECT"), Some(place)) = (words.next(), words.next()) else {
        return Err("405 Method Not Allowed");
    };
    let pass = lines.find_map(|line| pass(rules, line)).ok_or("407 Proxy Authentication Required")?;
    let (host, port) = place.rsplit_once(':').ok_or("400 Bad Request")?;
    let host = host.to_ascii_lowercase();
    if port != "443" || !pass.hosts.contains(&host) {
        return Err("403 Forbidden");
    }
    let addresses = (rules.resolve)(host.clone(), 443).await.map_err(|_| "502 Bad Gateway")?;
    let is_vouched_for = rules.private.iter().any(|known| known.eq_ignore_ascii_case(&host));
    let may = |address: &SocketAddr| is_vouched_for || is_public(address.ip());
    let mut allowed = addresses.into_iter().filter(may).peekable();
    if allowed.peek().is_none() {
        return Err("403 Forbidden");
    }
    for address in allowed {
        // The address, not the name: it was this one that was judged.
        if let Ok(stream) = TcpStream::connect(address).await {
            return Ok((stream, pass));
        }
    }
    Err("502 Bad Gateway")
}

/// The ticket that a line of the request carries, if it is known.
fn pass(rules: &Rules, line: &str) -> Option<Arc<Pass>> {
    let (name, value) = line.split_once(':')?;
    let encoded =
        name.eq_ignore_ascii_case("proxy-authorization").then_some(value)?.trim().strip_prefix("Basic ")?;
    let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (_, secret) = decoded.split_once(':')?;
    rules.tickets.lock().unwrap_or_else(PoisonError::into_inner).get(secret).cloned()
}

async fn head(client: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > LONGEST_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // Byte by byte: what follows the head is not ours to read.
        head.push(client.read_u8().await?);
    }
    String::from_utf8(head).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Carries bytes both ways until one side is done, is silent for too long, or has sent too many.
async fn carry(client: TcpStream, host: TcpStream, left: &AtomicU64) -> io::Result<()> {
    let (mut client_reads, mut client_writes) = client.into_split();
    let (mut host_reads, mut host_writes) = host.into_split();
    tokio::try_join!(
        copy(&mut client_reads, &mut host_writes, left),
        copy(&mut host_reads, &mut client_writes, left),
    )?;
    Ok(())
}

async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    left: &AtomicU64,
) -> io::Result<()> {
    let mut piece = vec![0; 32 << 10];
    loop {
        let read = timeout(IDLE, from.read(&mut piece)).await??;
        let spend = |left: u64| left.checked_sub(read as u64);
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() {
            to.shutdown().await?;
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(piece.get(..read).unwrap_or_default()).await?;
    }
}
