//! Streamable HTTP: one endpoint for both eras of the protocol.

mod body;
mod check;
mod cors;
mod crowd;
mod events;
mod get;
mod options;
mod post;
mod stall;

use std::{convert::Infallible, future::Future, io, pin::pin, sync::Arc, time::Duration};

use ::http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

pub use self::options::Options;
use self::{
    body::{Body, plain},
    crowd::{Begun, Crowd, Kept, Member},
    stall::Impatient,
};
use crate::{
    event::Event,
    identity::PeerCertificate,
    session::{Engine, Passes},
};

/// What all connections share.
pub(crate) struct Desk {
    engine: Arc<Engine>,
    options: Options,
    /// What makes ids of sessions that other replicas can read, if they shall.
    passes: Option<Passes>,
    /// Bytes of bodies that may be held at once, in units of 1024.
    room: Arc<Semaphore>,
    /// Requests that may be worked on at once.
    places: Arc<Semaphore>,
}

/// After an accept that failed for want of something that comes back, such as file descriptors.
const PAUSE: Duration = Duration::from_millis(50);
/// How many bytes of bodies may be held at once.
const BODIES: usize = 256 << 20;

/// Serves clients over HTTP until `shutdown` ends, and then until those requests are answered that were being worked on.
///
/// # Errors
///
/// None at present: a connection that cannot be accepted is one client's trouble.
pub async fn http<S>(
    engine: Arc<Engine>,
    listener: TcpListener,
    options: Options,
    shutdown: S,
) -> io::Result<()>
where
    S: Future<Output = ()>,
{
    let most = u32::try_from(options.limits.connections).unwrap_or(u32::MAX).max(1);
    let connections = Arc::new(Semaphore::new(most as usize));
    let desk = Arc::new(Desk {
        engine: Arc::clone(&engine),
        passes: options.session_key.as_ref().map(|key| Passes::new(key.bytes())),
        room: Arc::new(Semaphore::new(BODIES.max(options.limits.body) >> 10)),
        places: Arc::new(Semaphore::new(options.limits.requests.clamp(1, Semaphore::MAX_PERMITS))),
        options,
    });
    let sweeper = tokio::spawn(sweep(Arc::clone(&engine), desk.options.limits.idle));
    let (close, closing) = watch::channel(false);
    let crowd = Crowd::new(desk.options.limits.idle_per_address);
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // While one waits for a place, the others stay in the system's own line.
        let place = tokio::select! {
            biased;
            () = &mut shutdown => break,
            place = place(&connections, &crowd) => place,
        };
        let member = crowd.enter(peer.ip());
        let _ = stream.set_nodelay(true);
        // Whoever serves it must also be the one who is woken for it.
        let Ok(stream) = stream.into_std() else { continue };
        let (serving, closing) = (Arc::clone(&desk), closing.clone());
        desk.options.lanes.spawn(async move {
            if let Ok(stream) = TcpStream::from_std(stream) {
                tokio::select! {
                    () = accepted_connection(serving, stream, &member, closing) => {}
                    // Others need its place, and nothing was asked on it.
                    () = member.dismissed() => {}
                }
            }
            drop(place);
        });
    }
    sweeper.abort();
    drop(listener);
    close.send_replace(true);
    engine.close();
    let _ = connections.acquire_many(most).await;
    Ok(())
}

/// A place for one more connection; one on which nothing is asked makes room for it if it has to.
async fn place(connections: &Arc<Semaphore>, crowd: &Crowd) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = Arc::clone(connections).try_acquire_owned() {
        return Some(place);
    }
    let mut is_made = crowd.make_room();
    let mut free = pin!(Arc::clone(connections).acquire_owned());
    loop {
        tokio::select! {
            biased;
            place = &mut free => return place.ok(),
            () = crowd.grown(), if !is_made => is_made = crowd.make_room(),
        }
    }
}

/// Ends sessions whose clients are gone without a word.
async fn sweep(engine: Arc<Engine>, idle: Duration) {
    let mut ticks = tokio::time::interval(idle.min(Duration::from_secs(60)).max(Duration::from_millis(100)));
    loop {
        ticks.tick().await;
        engine.sessions.sweep(idle);
    }
}

async fn accepted_connection(
    desk: Arc<Desk>,
    stream: TcpStream,
    member: &Arc<Member>,
    closing: watch::Receiver<bool>,
) {
    match desk.options.tls.clone() {
        None => connection(desk, stream, None, member, closing).await,
        Some(tls) => {
            if let Ok((stream, peer)) = tls.accept(stream).await {
                connection(desk, stream, peer, member, closing).await;
            }
        }
    }
}

async fn connection<C>(
    desk: Arc<Desk>,
    stream: C,
    peer: Option<PeerCertificate>,
    member: &Arc<Member>,
    mut closing: watch::Receiver<bool>,
) where
    C: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let slow = desk.options.limits.slow;
    let peer = Arc::new(peer);
    let stream = TokioIo::new(Impatient::new(stream, slow));
    let service = service_fn(|request: Request<Incoming>| {
        let (desk, peer, begun) = (Arc::clone(&desk), Arc::clone(&peer), member.begin());
        async move {
            let answer = answer(&desk, request, (*peer).as_ref(), &begun).await;
            Ok::<_, Infallible>(answer.map(|body| Kept::new(body, begun.into_busy())))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(slow)
        .max_buf_size(64 << 10)
        .serve_connection(stream, service);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = &mut connection => {}
        () = closed(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Waits until the listener closes. Never comes back if it is gone: then nobody will.
async fn closed(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closing| *closing).await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn answer(
    desk: &Arc<Desk>,
    request: Request<Incoming>,
    peer: Option<&PeerCertificate>,
    begun: &Begun,
) -> Response<Body> {
    if request.uri().path() != desk.options.path {
        let is_asked = matches!(*request.method(), Method::GET | Method::HEAD);
        if let Some(document) = desk.options.identify.metadata(request.uri().path()).filter(|_| is_asked) {
            return if begun.is_under_way() { cors::public(document) } else { body::busy() };
        }
        return plain(StatusCode::NOT_FOUND, "there is nothing here");
    }
    let allowed = check::host(&request).and_then(|()| check::origin(&desk.options, request.headers()));
    let origin: Option<HeaderValue> = match allowed {
        Ok(origin) => origin.cloned(),
        Err((reason, refusal)) => {
            desk.engine.watch().note(&Event::TurnedAway { reason, words: "" });
            return *refusal;
        }
    };
    // A browser asks without a credential whether it may ask with one.
    if let Some(preflight) = origin.as_ref().and_then(|origin| cors::preflight(&request, origin)) {
        return preflight;
    }
    let mut response = identified(desk, request, peer, begun).await;
    if let Some(origin) = origin {
        cors::share(response.headers_mut(), origin);
    }
    response
}

async fn identified(
    desk: &Arc<Desk>,
    request: Request<Incoming>,
    peer: Option<&PeerCertificate>,
    begun: &Begun,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let caller = match desk.options.identify.identify(&parts, peer) {
        Ok(caller) => caller,
        Err(denied) => {
            let words = denied.to_string();
            desk.engine.watch().note(&Event::TurnedAway { reason: denied.name(), words: &words });
            return denied.response().map(|body| Either::Left(Full::new(body)));
        }
    };
    match parts.method {
        Method::POST => post::answer(desk, &parts, body, caller, begun).await,
        _ if !begun.is_under_way() => body::busy(),
        Method::GET => get::answer(desk, &parts, &caller),
        Method::DELETE => get::end(desk, &parts, &caller),
        _ => body::only("GET, POST, DELETE"),
    }
}
