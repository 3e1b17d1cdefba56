//! The Rust servers that prove is shown on, in one program: `seeds NAME --data FOLDER [--fixed] [--listen PORT]`.
//!
//! Without `--listen` a server speaks over stdio. With it, it prints its URL and offers `POST /reset`, which puts it back to its first
//! state.

mod journal;
mod phrases;
mod stock;
mod warmup;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::post,
};
use clap::{Parser, ValueEnum};
use rmcp::{
    ServerHandler, ServiceExt,
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
        },
    },
};
use tokio::{fs, io::AsyncWriteExt, net::TcpListener, sync::Semaphore};

/// How many requests are worked on at once over HTTP.
const AT_ONCE: usize = 8;

#[derive(Parser)]
struct Options {
    name: Name,
    /// The server's own folder
    #[arg(long)]
    data: PathBuf,
    /// The twin without the race
    #[arg(long)]
    fixed: bool,
    /// The port on loopback; 0 for a free one
    #[arg(long)]
    listen: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Name {
    Journal,
    Phrases,
    Stock,
    Warmup,
}

/// A server that can be put back to its first state. Clones are the same server.
trait Seed: ServerHandler + Clone {
    /// Makes the first state; its folder is there and empty.
    fn start(&self) -> impl Future<Output = io::Result<()>> + Send;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let data = Arc::<Path>::from(options.data.as_path());
    match options.name {
        Name::Journal => serve(journal::Journal::new(data, options.fixed), &options).await,
        Name::Phrases => serve(phrases::Phrases::new(data, options.fixed), &options).await,
        Name::Stock => serve(stock::Stock::new(data, options.fixed), &options).await,
        Name::Warmup => serve(warmup::Warmup::new(data, options.fixed), &options).await,
    }
}

async fn serve<S: Seed>(seed: S, options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    restart(&seed, &options.data).await?;
    let Some(port) = options.listen else {
        seed.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let reset = {
        let (seed, data) = (seed.clone(), options.data.clone());
        move || async move {
            match restart(&seed, &data).await {
                Ok(()) => StatusCode::NO_CONTENT,
                Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
            }
        }
    };
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let tools: StreamableHttpService<S, NeverSessionManager> =
        StreamableHttpService::new(move || Ok(seed.clone()), Arc::default(), config);
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let tools = Router::new().nest_service("/mcp", tools).layer(from_fn_with_state(slots, bounded));
    let routes = tools.route("/reset", post(reset));
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let mut output = tokio::io::stdout();
    output.write_all(format!("http://{}/mcp\n", listener.local_addr()?).as_bytes()).await?;
    output.flush().await?;
    axum::serve(listener, routes).await?;
    Ok(())
}

/// Whoever sends many calls at once waits for his own.
async fn bounded(State(slots): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    let _slot = slots.acquire().await;
    next.run(request).await
}

/// What an earlier instance left is gone: these servers are about calls that meet, not about what survives a crash.
async fn restart<S: Seed>(seed: &S, data: &Path) -> io::Result<()> {
    fs::create_dir_all(data).await?;
    let mut left = fs::read_dir(data).await?;
    while let Some(file) = left.next_entry().await? {
        fs::remove_file(file.path()).await?;
    }
    seed.start().await
}

/// Adds a line to a file, on the disk when this returns.
async fn append(file: &Path, line: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(file).await?;
    file.write_all(format!("{line}\n").as_bytes()).await?;
    file.sync_all().await
}

/// Replaces what is in a file, on the disk when this returns.
async fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::File::create(file).await?;
    file.write_all(text.as_bytes()).await?;
    file.sync_all().await
}
