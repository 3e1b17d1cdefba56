//! There is no TLS in this build.

use tokio_postgres::NoTls;

use super::super::address::AddressError;

/// What nobody has.
pub(super) type Tls = NoTls;

/// Nobody gets it.
pub(super) fn tls(_roots: Option<&[u8]>) -> Result<Tls, AddressError> {
    Err(AddressError::NoTls)
}
