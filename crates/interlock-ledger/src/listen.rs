//! How calls come in, over Streamable HTTP or stdio, and how a server ends: no new calls, those under way are answered, and then it is over.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use http::{
    StatusCode,
    header::{AUTHORIZATION, WWW_AUTHENTICATE},
};
use interlock_sync::adapt::rmcp::Guarded;
use rmcp::{
    ServiceExt,
    service::ServerInitializeError,
    transport::{
        async_rw::AsyncRwTransport,
        stdio_pipes,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
        },
    },
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    net::TcpListener,
    sync::oneshot,
};

use crate::{
    caller::{Caller, Tokens},
    server::LedgerServer,
};

/// Where the tools are, below the address.
pub const PATH: &str = "/mcp";

/// The longest message. A text may have 1 MiB; a longer message is still read, so that its refusal can say what is wrong.
const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// How long the connections may take to carry away the last answers.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why serving ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Without tokens anybody who reaches the address may do anything.
    #[error(
        "{0} can be reached from other machines: give at least one --token NAME=SECRET, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// The listener failed.
    #[error("failed to serve HTTP")]
    Http(#[source] io::Error),
    /// The client did not begin as MCP does.
    #[error("failed to begin a session on stdio")]
    Stdio(#[source] Box<ServerInitializeError>),
    /// A task of ours ended early.
    #[error("failed to go on serving")]
    Task(#[from] tokio::task::JoinError),
    /// The time to finish was up.
    #[error("{0} calls were still running when the time to finish was up")]
    Unfinished(usize),
}

/// Whether it is safe to listen there: without tokens only where nobody else comes.
///
/// # Errors
///
/// When others can reach it and need no token.
pub fn check(address: SocketAddr, tokens: &Tokens) -> Result<(), ListenError> {
    if tokens.is_empty() && !address.ip().is_loopback() { Err(ListenError::Open(address)) } else { Ok(()) }
}

/// Serves Streamable HTTP until told to stop; then refuses new calls, and gives those under way until `deadline` to be answered.
///
/// There are no sessions: each request stands for itself, so any process on the same state can answer it.
///
/// # Errors
///
/// When the listener fails, calls were left over, or the address is open to others without a token.
pub async fn http(
    server: Guarded<LedgerServer>,
    listener: TcpListener,
    tokens: Tokens,
    stop: impl Future<Output = ()>,
    deadline: Duration,
) -> Result<(), ListenError> {
    check(listener.local_addr().map_err(ListenError::Http)?, &tokens)?;
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST_MESSAGE);
    config = if tokens.is_empty() {
        // A web page must not be able to call us through the browser of whoever runs this.
        config.with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*"])
    } else {
        config.disable_allowed_hosts()
    };
    let gate = server.warden().gate().clone();
    let tools: StreamableHttpService<Guarded<LedgerServer>, NeverSessionManager> =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config);
    let routes =
        Router::new().nest_service(PATH, tools).layer(from_fn_with_state(Arc::new(tokens), identify));

    let (farewell, is_over) = oneshot::channel::<()>();
    let serving = axum::serve(listener, routes).with_graceful_shutdown(async {
        let _ = is_over.await;
    });
    let mut serving = tokio::spawn(serving.into_future());
    tokio::select! {
        ended = &mut serving => return ended?.map_err(ListenError::Http),
        () = stop => {}
    }
    let left = gate.close(deadline).await;
    drop(farewell);
    // Answers that are on their way get there; a connection that only waits for more is cut.
    let _ = tokio::time::timeout(FAREWELL, &mut serving).await;
    serving.abort();
    if left == 0 { Ok(()) } else { Err(ListenError::Unfinished(left)) }
}

/// Serves one client on standard input and output until it closes them or we are told to stop; then as [`http()`]. With no time at all to
/// finish, the end of the input is the end, whatever is under way.
///
/// # Errors
///
/// When the client does not speak MCP, or calls were left over.
pub async fn stdio(
    server: Guarded<LedgerServer>,
    stop: impl Future<Output = ()>,
    deadline: Duration,
) -> Result<(), ListenError> {
    let gate = server.warden().gate().clone();
    let (input, output) = stdio_pipes();
    let (told, left_us) = oneshot::channel();
    let input = Noticed { input, end: Some(told) };
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(LONGEST_MESSAGE);
    tokio::pin!(stop);
    let running = tokio::select! {
        began = server.serve(transport) => match began {
            Ok(running) => running,
            // Whoever closes the pipe without a word wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ListenError::Stdio(Box::new(error))),
        },
        () = &mut stop => return Ok(()),
    };
    let ending = running.cancellation_token();
    let mut serving = tokio::spawn(running.waiting());
    tokio::select! {
        ended = &mut serving => {
            ended??;
            let left = gate.close(deadline).await;
            return if left == 0 { Ok(()) } else { Err(ListenError::Unfinished(left)) };
        }
        _ = left_us, if deadline.is_zero() => {}
        () = stop => {}
    }
    let left = gate.close(deadline).await;
    // What has been answered is still written before the connection ends.
    ending.cancel();
    let farewell = if deadline.is_zero() { Duration::ZERO } else { FAREWELL };
    let _ = tokio::time::timeout(farewell, serving).await;
    if left == 0 { Ok(()) } else { Err(ListenError::Unfinished(left)) }
}

/// An input that tells when it has ended, which the service says only when all calls are answered.
struct Noticed<R> {
    input: R,
    end: Option<oneshot::Sender<()>>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Noticed<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.input).poll_read(context, buffer);
        if polled.is_ready()
            && buffer.filled().len() == before
            && let Some(end) = self.end.take()
        {
            let _ = end.send(());
        }
        polled
    }
}

/// Lets in whoever has a token, under its name; without tokens everybody, under one name.
async fn identify(State(tokens): State<Arc<Tokens>>, mut request: Request, next: Next) -> Response {
    let caller = if tokens.is_empty() {
        Some(Caller::unnamed())
    } else {
        bearer(&request).and_then(|secret| tokens.whose(secret)).cloned()
    };
    let Some(caller) = caller else {
        let challenge = [(WWW_AUTHENTICATE, r#"Bearer realm="interlock ledger""#)];
        return (StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed").into_response();
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

fn bearer(request: &Request) -> Option<&[u8]> {
    let value = request.headers().get(AUTHORIZATION)?.as_bytes();
    let (scheme, secret) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(secret)
}
