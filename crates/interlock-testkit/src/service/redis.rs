//! A throwaway Redis.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use super::{
    ATTEMPTS, StartError, becomes_ready, free_port,
    keeper::{EndBy, Keeper},
    on_path, refused,
};

/// A Redis server of this test's own, empty, without persistence.
#[derive(Debug)]
pub struct Redis {
    keeper: Keeper,
    address: SocketAddr,
}

impl Redis {
    /// Starts one and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it is not installed, or does not become ready.
    pub fn start() -> Result<Self, StartError> {
        let program = on_path("redis-server");
        let program =
            program.ok_or(StartError::Missing { program: "redis-server", package: "redis-server" })?;
        let mut log = String::new();
        for _ in 0..ATTEMPTS {
            let address = free_port().map_err(refused("find a free port"))?;
            let folder = tempfile::tempdir().map_err(refused("make a temporary folder"))?;
            let (program, port) = (program.to_string_lossy(), address.port().to_string());
            let dir = folder.path().to_string_lossy().into_owned();
            let options =
                ["--bind", "127.0.0.1", "--port", &port, "--dir", &dir, "--save", "", "--appendonly", "no"];
            let command = [&[&*program], &options[..]].concat();
            let keeper =
                Keeper::start(folder, EndBy::Kill, &command).map_err(refused("start redis-server"))?;
            if becomes_ready(&keeper, || answers(address)) {
                return Ok(Self { keeper, address });
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

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.keeper.pid()
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
