//! An rmcp server with limits, locks, idempotency, versions and a clean shutdown. What it keeps is in the store that its argument names, such as
//! `sqlite:ledger.db`, shared by all its processes.

use std::{error::Error, sync::Arc, time::Duration};

use interlock_store::{Options, open};
use interlock_sync::{
    adapt::{CallerName, KeySource, Policy, Rule, Warden, rmcp::Guarded},
    gate::Gate,
    idempotency::EffectContext,
    record::{Records, Settled},
    store::{Change, Content, Key, Mutation, Quota, Refusal, Store, Version},
};
use rmcp::{
    ServerHandler, ServiceExt,
    handler::server::{tool::Extension, wrapper::Parameters},
    model::{ServerCapabilities, ServerConfig},
    tool, tool_handler, tool_router,
    transport::stdio,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::signal::unix::{SignalKind, signal};

/// How long the calls that run have to end when the server is told to.
const GRACE: Duration = Duration::from_secs(10);

#[derive(Clone)]
struct Ledger {
    records: Records,
}

#[derive(Deserialize, JsonSchema)]
struct Account {
    /// Whose
    user: String,
}

#[derive(Deserialize, JsonSchema)]
struct Payment {
    /// Who pays
    from: String,
    /// Who is paid
    to: String,
    /// How many credits
    amount: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    /// Which note
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Writing {
    /// Which note
    name: String,
    /// The version that you have read; none for a new note
    version: Option<u64>,
    /// What it shall say
    text: String,
}

/// What a tool says, to a model: words in both cases.
type Said = Result<String, String>;

#[tool_router]
impl Ledger {
    #[tool(description = "Opens an account with 1000 credits, if there is none.")]
    async fn open_account(&self, Parameters(Account { user }): Parameters<Account>) -> Said {
        let opened =
            self.records.put_if_absent(&account(&user)?, Content::Number(1_000)).await.map_err(words)?;
        match opened {
            Settled::Applied(_) => Ok(format!("{user} has 1000 credits")),
            Settled::Refused(_) => Ok(format!("{user} has an account already")),
            Settled::InDoubt { .. } => {
                Err("nobody knows yet whether the account was opened: look at it".into())
            }
        }
    }

    #[tool(description = "Shows how many credits somebody has.", annotations(read_only_hint = true))]
    async fn balance(&self, Parameters(Account { user }): Parameters<Account>) -> Said {
        match self.records.get(&account(&user)?).await.map_err(words)? {
            Some(record) => Ok(format!("{:?}", record.content)),
            None => Err(format!("{user} has no account")),
        }
    }

    /// Both accounts change or neither, and never below nothing: one step of the store. The step's id comes from the call's idempotency key, so
    /// a payment that is run again after a crash is the same payment.
    #[tool(description = "Pays credits, once per idempotency key (`_meta` dev.interlock/idempotency-key).")]
    async fn pay(
        &self,
        Parameters(Payment { from, to, amount }): Parameters<Payment>,
        Extension(effect): Extension<EffectContext>,
    ) -> Said {
        let (from, to, amount) = (account(&from)?, account(&to)?, i64::from(amount));
        let payment = Mutation::new(effect.op_id("pay"), Change::Transfer { from, to, amount, floor: 0 });
        let paid = self.records.settle(&payment).await.map_err(words)?.into_result().map_err(words)?;
        Ok(format!(
            "paid {amount}, {} credits are left",
            paid.changed.first().and_then(|payer| payer.number).unwrap_or(0)
        ))
    }

    #[tool(
        description = "Reads a note, with the version to write it under.",
        annotations(read_only_hint = true)
    )]
    async fn read_note(&self, Parameters(Note { name }): Parameters<Note>) -> Said {
        match self.records.get(&note(&name)?).await.map_err(words)? {
            Some(record) => Ok(format!("version {}: {:?}", record.version.0, record.content)),
            None => Err(format!("there is no note {name}")),
        }
    }

    #[tool(description = "Writes a note over the version that was read.")]
    async fn write_note(&self, Parameters(Writing { name, version, text }): Parameters<Writing>) -> Said {
        let (key, content) = (note(&name)?, Content::Bytes(text.into_bytes()));
        let written = match version {
            Some(version) => self.records.put_if_version(&key, Version(version), content).await,
            None => self.records.put_if_absent(&key, content).await,
        };
        match written.map_err(words)? {
            Settled::Applied(_) => Ok(format!("wrote {name}")),
            Settled::Refused(Refusal::Conflict { .. }) => {
                Err(format!("{name} is not what you have read: read it again"))
            }
            other => Err(format!("{name} was not written: {:?}", other.into_result())),
        }
    }
}

#[tool_handler]
impl ServerHandler for Ledger {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

fn account(user: &str) -> Result<Key, String> {
    Key::new(format!("account:{user}")).map_err(words)
}

fn note(name: &str) -> Result<Key, String> {
    Key::new(format!("note:{name}")).map_err(words)
}

fn words(error: impl Error) -> String {
    error.to_string()
}

/// The rules for all tools: what a call must wait for, and when it is refused.
fn policy(store: Arc<dyn Store>) -> Result<Policy, Box<dyn Error>> {
    let often = Quota::bucket(6_000, Duration::from_secs(60))?;
    let rules = Policy::builder()
        .rule(Rule::of("*").rate(often).in_flight(8))
        .rule(Rule::of("write_note").lock("note:{args.name}"))
        .rule(Rule::of("pay").idempotency(KeySource::Meta).key_required());
    Ok(rules.on(store).named("rmcp-ledger").queue(1_000).hold(Duration::from_secs(10)).build()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the program, and where its state is is its argument"
    )]
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".to_owned());
    let store = open(&url, &Options::default()).await?;
    let warden = Warden::new(policy(Arc::clone(&store))?);
    let gate = warden.gate().clone();
    let ledger = Ledger { records: Records::new(Arc::clone(&store)) };
    let server = Guarded::new(ledger, warden, |_| CallerName::new("stdio"));
    let left = serve(server, &gate).await?;
    store.close().await?;
    if left == 0 { Ok(()) } else { Err(format!("{left} calls did not end in time").into()) }
}

/// Serves until the client goes or SIGTERM comes. Then no call starts, those that run are answered, and only then the connection ends: a `select!`
/// between `waiting()` and the signal would drop the answers that are under way.
async fn serve(server: Guarded<Ledger>, gate: &Gate) -> Result<usize, Box<dyn Error>> {
    let mut asked_to_end = signal(SignalKind::terminate())?;
    let running = server.serve(stdio()).await?;
    let connection = running.cancellation_token();
    let mut serving = tokio::spawn(running.waiting());
    tokio::select! {
        ended = &mut serving => {
            ended??;
            return Ok(gate.close(GRACE).await);
        }
        _ = asked_to_end.recv() => {}
    }
    let left = gate.close(GRACE).await;
    connection.cancel();
    serving.await??;
    Ok(left)
}
