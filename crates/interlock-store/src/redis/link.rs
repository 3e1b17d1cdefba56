//! The connection: shared by all callers, made anew when it is lost, and never sending anything twice.
//!
//! The driver's own manager does not resend either, but it folds a connection that could not be made and an answer that was lost into
//! one error, and keeps a connection on which every answer times out. Here the two are apart, because the first leaves no doubt.

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use interlock_sync::store::{Freed, StoreError};
use redis::{
    AsyncConnectionConfig, Cmd, ConnectionInfo, FromRedisValue, IntoConnectionInfo, ProtocolVersion,
    PushInfo, PushKind, RedisResult, Script, Value, aio::MultiplexedConnection, io::tcp::TcpSettings,
};

use super::{
    answer::Said,
    call::Call,
    epochs::{Epochs, Run, Told},
    fold, keys,
    nodes::Nodes,
};

/// How many commands may wait to be written; more wait for room.
const QUEUE: usize = 1024;

/// How often one command follows its namespace to another node: a cluster that is being changed may need a second word.
const MOST_MOVES: u32 = 3;

/// How often one grant is asked for again because the epoch is another one than was known: those who wait beside it may tell the server, too.
const MOST_EPOCHS: u32 = 8;

/// The oldest server that has everything the scripts use.
const OLDEST: (u32, u32) = (6, 2);

/// A way to the server.
pub(super) struct Link {
    nodes: Nodes,
    place: String,
    timeout: Duration,
    line: Mutex<Option<Arc<Line>>>,
    /// Held by the one that connects, so that many callers do not make many connections.
    connecting: tokio::sync::Mutex<()>,
    epochs: Epochs,
    hearer: Mutex<Option<Hearer>>,
}

/// Who is told what is given back, and on which channel that is said.
#[derive(Clone)]
struct Hearer {
    channel: Vec<u8>,
    freed: Freed,
}

/// One connection, for as long as it lasts.
struct Line {
    connection: MultiplexedConnection,
    usable: Arc<AtomicBool>,
    /// The server that it leads to.
    run: Run,
}

impl Link {
    /// A way to the server that a URL names, not yet gone. `place` is how messages call it.
    pub(super) fn new(
        url: &str,
        place: String,
        timeout: Duration,
        roots: Option<&[u8]>,
    ) -> RedisResult<Self> {
        let info = as_we_talk(url.into_connection_info()?);
        // The driver would take roots for a wish to speak TLS to a plain server.
        let roots = roots.filter(|_| url.starts_with("rediss:"));
        let nodes = Nodes::new(info, roots)?;
        let (line, connecting) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(Self {
            nodes,
            place,
            timeout,
            line,
            connecting,
            epochs: Epochs::default(),
            hearer: Mutex::default(),
        })
    }

    /// Runs a script. A server that does not know it has not begun: it gets the text, and is asked again.
    pub(super) async fn run(&self, call: &Call<'_>) -> Result<Said, StoreError> {
        self.run_on(call, |_| Cow::Borrowed(call.command())).await
    }

    /// Runs a script that holds something for longer.
    pub(super) async fn prolong(&self, call: &Call<'_>, ttl: Duration) -> Result<Said, StoreError> {
        self.epochs.note(ttl);
        self.run(call).await
    }

    /// Runs a script that grants something for so long, unless the server has forgotten what it granted before.
    pub(super) async fn grant(&self, call: &Call<'_>, ttl: Duration) -> Result<Said, StoreError> {
        self.epochs.note(ttl);
        for _ in 0..MOST_EPOCHS {
            // Of the very connection that it goes over: what is sent on one from before a restart does not arrive.
            let said = self.run_on(call, |line| Cow::Owned(call.with(&self.epochs.words(&line.run)))).await?;
            let Said::Text(text) = &said else { return Ok(said) };
            if self.epochs.judge(text, &self.place)? == Told::Done {
                return Ok(said);
            }
        }
        let reason = format!("{} keeps being emptied", self.place);
        Err(StoreError::Unavailable { reason, source: None })
    }

    async fn run_on<'c>(
        &self,
        call: &'c Call<'_>,
        command: impl Fn(&Line) -> Cow<'c, Cmd>,
    ) -> Result<Said, StoreError> {
        let (line, mut answer) = self.sent::<Value>(&command).await?;
        if answer.as_ref().is_err_and(fold::is_unknown_script) {
            let mut connection = line.connection.clone();
            let hash = call.script().load_async(&mut connection).await;
            self.judge(&line, hash)?;
            answer = command(&line).query_async(&mut connection).await;
        }
        Said::new(self.judge(&line, answer)?)
    }

    /// Tells this one from now on what is given back. The next connection is made with that in mind.
    pub(super) fn hear(&self, channel: Vec<u8>, freed: Freed) {
        *self.hearer() = Some(Hearer { channel, freed });
        *self.line() = None;
    }

    /// Nothing can panic while this is held.
    fn hearer(&self) -> MutexGuard<'_, Option<Hearer>> {
        self.hearer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a script that always answers with a text.
    pub(super) async fn text(&self, call: &Call<'_>) -> Result<Vec<u8>, StoreError> {
        self.run(call).await?.text()
    }

    /// Makes a script known to the server.
    pub(super) async fn load(&self, script: &Script) -> Result<(), StoreError> {
        let line = self.connected().await?;
        let hash = script.load_async(&mut line.connection.clone()).await;
        self.judge(&line, hash).map(drop)
    }

    /// Runs a command.
    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        let (line, answer) = self.sent(|_| Cow::Borrowed(command)).await?;
        self.judge(&line, answer)
    }

    /// Sends a command, to another node if the one that has it says that its cluster keeps the namespace there: it has not begun.
    async fn sent<'c, T: FromRedisValue>(
        &self,
        command: impl Fn(&Line) -> Cow<'c, Cmd>,
    ) -> Result<(Arc<Line>, RedisResult<T>), StoreError> {
        let mut moves = 0;
        loop {
            let line = self.connected().await?;
            let answer = command(&line).query_async(&mut line.connection.clone()).await;
            let moved = answer.as_ref().is_err_and(|error| moves < MOST_MOVES && self.nodes.follow(error));
            if !moved {
                return Ok((line, answer));
            }
            line.usable.store(false, Ordering::Release);
            moves += 1;
        }
    }

    fn judge<T>(&self, line: &Line, answer: RedisResult<T>) -> Result<T, StoreError> {
        answer.map_err(|error| {
            if fold::spoils_the_line(&error) {
                line.usable.store(false, Ordering::Release);
            }
            fold::sent(error, &self.place)
        })
    }

    /// The connection, or a new one if there is none. All its callers give up together after the time of one attempt.
    ///
    /// Whoever connects may be cancelled: the next in the queue then starts over.
    async fn connected(&self) -> Result<Arc<Line>, StoreError> {
        if let Some(line) = self.usable_line() {
            return Ok(line);
        }
        let connect = async {
            let _alone = self.connecting.lock().await;
            if let Some(line) = self.usable_line() {
                return Ok(line);
            }
            let line = Arc::new(self.connect().await?);
            *self.line() = Some(Arc::clone(&line));
            Ok(line)
        };
        tokio::time::timeout(self.timeout, connect).await.unwrap_or_else(|late| {
            Err(StoreError::unavailable(format!("no connection to {} in time", self.place), late))
        })
    }

    fn usable_line(&self) -> Option<Arc<Line>> {
        self.line().as_ref().filter(|line| line.usable.load(Ordering::Acquire)).cloned()
    }

    /// Nothing can panic while this is held.
    fn line(&self) -> MutexGuard<'_, Option<Arc<Line>>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<Line, StoreError> {
        let usable = Arc::new(AtomicBool::new(true));
        let hearer = self.hearer().clone();
        let freed = hearer.as_ref().map(|hearer| Arc::clone(&hearer.freed));
        let config = AsyncConnectionConfig::new()
            // The caller has its own limit around all of this.
            .set_connection_timeout(None)
            .set_response_timeout(Some(self.timeout))
            .set_pipeline_buffer_size(QUEUE)
            .set_push_sender(on_push(Arc::clone(&usable), freed));
        let node = self.nodes.current();
        let connection = node.get_multiplexed_async_connection_with_config(&config).await;
        let mut connection = connection.map_err(|error| {
            self.nodes.go_home();
            fold::connecting(error, &self.place)
        })?;
        let hello = redis::cmd("HELLO").arg(3).take();
        let hello = hello.query_async(&mut connection).await;
        self.check(&hello.map_err(|error| fold::connecting(error, &self.place))?)?;
        let address = node.get_connection_info().addr().to_string();
        let looked = self.epochs.look(&address, &mut connection).await;
        let run = looked.map_err(|error| fold::connecting(error, &self.place))?;
        if let Some(hearer) = hearer {
            // It is for hints only: an account that may not listen has to ask more often.
            let _ = connection.subscribe(hearer.channel).await;
        }
        Ok(Line { connection, usable, run })
    }

    /// Whether the server is one that we can work with, by its own words.
    fn check(&self, hello: &HashMap<String, Value>) -> Result<(), StoreError> {
        let said = |what: &str| match hello.get(what) {
            Some(Value::BulkString(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            Some(Value::SimpleString(text)) => text.clone(),
            _ => String::new(),
        };
        let (version, role) = (said("version"), said("role"));
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let place = &self.place;
        if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST {
            let (major, minor) = OLDEST;
            let reason =
                format!("{place} is of version {version}, and {major}.{minor} is the oldest that will do");
            return Err(StoreError::Broken { reason, source: None });
        }
        if role != "master" {
            let reason = format!("{place} is a {role} and not the primary");
            return Err(StoreError::Unavailable { reason, source: None });
        }
        Ok(())
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("place", &self.place).finish_non_exhaustive()
    }
}

/// In the protocol in which the driver hears of a lost connection also while nothing is under way, so that the next command is not
/// handed to a dead one; and without waiting for more to fill a packet.
fn as_we_talk(info: ConnectionInfo) -> ConnectionInfo {
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    info.set_redis_settings(settings).set_tcp_settings(TcpSettings::default().set_nodelay(true))
}

fn on_push(
    usable: Arc<AtomicBool>,
    freed: Option<Freed>,
) -> impl Fn(PushInfo) -> Result<(), ()> + Send + Sync + 'static {
    move |push| {
        match (push.kind, push.data.as_slice(), &freed) {
            (PushKind::Disconnection, ..) => usable.store(false, Ordering::Release),
            (PushKind::Message, [_, Value::BulkString(name)], Some(freed)) => {
                keys::freed(name).iter().for_each(|key| freed(key));
            }
            _ => {}
        }
        Ok(())
    }
}
