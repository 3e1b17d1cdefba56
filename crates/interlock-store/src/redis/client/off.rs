//! There is no TLS in this build.

use redis::{Client, ConnectionInfo, RedisResult};

/// A client; the driver refuses `rediss://`.
pub(in super::super) fn client(info: ConnectionInfo, _roots: Option<&[u8]>) -> RedisResult<Client> {
    Client::open(info)
}
