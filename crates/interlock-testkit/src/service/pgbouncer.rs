//! A throwaway PgBouncer, in transaction mode: a client has another connection to the server in each transaction.

use std::{fs, net::SocketAddr};

use super::{
    ATTEMPTS, Postgres, StartError, becomes_ready, free_port,
    keeper::{EndBy, Keeper},
    on_path,
    postgres::{SystemUser, answers, url},
    refused,
};

/// A PgBouncer of this test's own, before a PostgreSQL that must outlive it.
#[derive(Debug)]
pub struct PgBouncer {
    _keeper: Keeper,
    address: SocketAddr,
}

impl PgBouncer {
    /// Starts one and waits until a statement passes through it.
    ///
    /// # Errors
    ///
    /// When it is not installed, or does not become ready.
    pub fn start(before: &Postgres) -> Result<Self, StartError> {
        let program = on_path("pgbouncer");
        let program = program.ok_or(StartError::Missing { program: "pgbouncer", package: "pgbouncer" })?;
        let user = SystemUser::find().map_err(refused("find the user that PgBouncer may run as"))?;
        let mut log = String::new();
        for _ in 0..ATTEMPTS {
            let address = free_port().map_err(refused("find a free port"))?;
            let folder = tempfile::tempdir().map_err(refused("make a temporary folder"))?;
            let settings = folder.path().join("pgbouncer.ini");
            fs::write(&settings, ini(address, before.address())).map_err(refused("write its settings"))?;
            user.own(folder.path()).map_err(refused("hand the temporary folder to PgBouncer's user"))?;
            let mut command = user.prefix();
            command.extend([&program, &settings].map(|path| path.to_string_lossy().into_owned()));
            let command: Vec<&str> = command.iter().map(String::as_str).collect();
            let keeper = Keeper::start(folder, EndBy::Kill, &command).map_err(refused("start pgbouncer"))?;
            if becomes_ready(&keeper, || answers(before.programs(), address)) {
                return Ok(Self { _keeper: keeper, address });
            }
            log = keeper.log();
        }
        Err(StartError::NotReady { program: "pgbouncer", log })
    }

    /// Its address as a state URL.
    #[must_use]
    pub fn url(&self) -> String {
        url(self.address)
    }
}

/// Fewer connections to the server than clients have to it, so that they really share them.
fn ini(address: SocketAddr, server: SocketAddr) -> String {
    format!(
        "[databases]\npostgres = host={} port={} user=postgres\n[pgbouncer]\nlisten_addr = {}\nlisten_port = {}\nauth_type = any\n\
         pool_mode = transaction\nmax_client_conn = 1000\ndefault_pool_size = 8\nserver_lifetime = 5\nunix_socket_dir =\n",
        server.ip(),
        server.port(),
        address.ip(),
        address.port()
    )
}
