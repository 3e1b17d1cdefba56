//! The driver's client: plain, or with TLS for `rediss://` where it is built in.

#[cfg(not(feature = "tls"))]
mod off;
#[cfg(feature = "tls")]
mod on;

#[cfg(not(feature = "tls"))]
pub(super) use self::off::client;
#[cfg(feature = "tls")]
pub(super) use self::on::client;
