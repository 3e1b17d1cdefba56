//! A throwaway Redis.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use super::{
    ATTEMPTS, Setup, StartError, becomes_ready,
    certificate::Certificate,
    clock::{self, ShiftedClock},
    free_port,
    keeper::{EndBy, Keeper},
    on_path, refused, start_again,
};

/// A Redis server of this test's own, empty, without persistence unless it is set up to be durable.
#[derive(Debug)]
pub struct Redis {
    keeper: Keeper,
    address: SocketAddr,
    clock: Option<ShiftedClock>,
    /// The port for TLS, and who vouches for it.
    secure: Option<Box<(u16, String)>>,
    bus: u16,
}

impl Redis {
    /// Starts one and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it is not installed, or does not become ready.
    pub fn start() -> Result<Self, StartError> {
        Self::start_as(Setup::default())
    }

    /// The same, set up otherwise.
    ///
    /// # Errors
    ///
    /// When it is not installed, or does not become ready.
    pub fn start_as(setup: Setup) -> Result<Self, StartError> {
        let program = on_path("redis-server");
        let program =
            program.ok_or(StartError::Missing { program: "redis-server", package: "redis-server" })?;
        Self::start_program(&program, setup)
    }

    /// Another program that speaks like Redis and takes the same options, such as Valkey.
    ///
    /// # Errors
    ///
    /// When it does not become ready.
    pub fn start_program(program: &Path, setup: Setup) -> Result<Self, StartError> {
        let mut log = String::new();
        for _ in 0..ATTEMPTS {
            let address = free_port().map_err(refused("find a free port"))?;
            let folder = tempfile::tempdir().map_err(refused("make a temporary folder"))?;
            let (program, port) = (program.to_string_lossy(), address.port().to_string());
            let dir = folder.path().to_string_lossy().into_owned();
            let clock = setup.own_clock.then(|| ShiftedClock::in_folder(folder.path())).transpose()?;
            let prefix = clock.as_ref().map(ShiftedClock::prefix).unwrap_or_default();
            let certificate = setup.tls.then(|| Certificate::in_folder(folder.path())).transpose()?;
            let secure_port = free_port().map_err(refused("find a free port"))?;
            let bus = free_port().map_err(refused("find a free port"))?;
            let append = if setup.durable { "yes" } else { "no" };
            let options = ["--bind", "127.0.0.1", "--port", &port, "--dir", &dir, "--save", ""];
            let saving = ["--appendonly", append, "--appendfsync", "always"];
            let command: Vec<&str> = prefix.iter().map(String::as_str).chain([&*program]).collect();
            let tls_port = secure_port.port().to_string();
            let secure = certificate.as_ref().map(|of| {
                [
                    "--tls-port",
                    &tls_port,
                    "--tls-cert-file",
                    &of.file,
                    "--tls-key-file",
                    &of.key,
                    "--tls-auth-clients",
                    "no",
                ]
            });
            let secure = secure.as_ref().map(|options| &options[..]).unwrap_or_default();
            let bus_port = bus.port().to_string();
            let node = ["--cluster-enabled", "yes", "--cluster-port", &bus_port];
            let node: &[&str] = if setup.cluster { &node } else { &[] };
            let command = [&command[..], &options, &saving, secure, node].concat();
            let keeper =
                Keeper::start(folder, EndBy::Kill, &command).map_err(refused("start redis-server"))?;
            if becomes_ready(&keeper, || answers(address)) {
                let secure = certificate.map(|of| Box::new((secure_port.port(), of.roots)));
                return Ok(Self { keeper, address, clock, secure, bus: bus.port() });
            }
            log = keeper.log();
        }
        Err(StartError::NotReady { program: "redis-server", log })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address as a state URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Its address under TLS as a state URL, and who vouches for it in PEM; `None` unless it was set up so.
    #[must_use]
    pub fn secure(&self) -> Option<(String, &str)> {
        let (port, roots) = &**self.secure.as_ref()?;
        Some((format!("rediss://localhost:{port}"), roots))
    }

    /// The port at which it meets the other nodes of its cluster, if it was set up so.
    #[must_use]
    pub fn bus(&self) -> u16 {
        self.bus
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.keeper.pid()
    }

    /// Kills it: no farewell, nothing saved that was not before. Its folder and its port stay its own.
    ///
    /// # Errors
    ///
    /// When the keeper is gone.
    pub fn kill(&mut self) -> io::Result<()> {
        self.keeper.kill()
    }

    /// Starts it again after [`kill`](Self::kill), with what is in its folder and at the same address.
    ///
    /// # Errors
    ///
    /// When it does not become ready.
    pub fn restart(&mut self) -> Result<(), StartError> {
        let address = self.address;
        start_again("redis-server", &mut self.keeper, || answers(address))
    }

    /// Lets its own wall clock show so many seconds more, or less, than the machine's.
    ///
    /// # Errors
    ///
    /// When it was not set up with a clock of its own.
    pub fn shift_clock(&self, seconds: i64) -> io::Result<()> {
        clock::shift(self.clock.as_ref(), seconds)
    }
}

fn answers(address: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).map(|()| answer)
    };
    ask().is_ok_and(|answer| &answer == b"+PONG\r\n")
}
