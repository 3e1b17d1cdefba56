//! What TLS to a server begins with: which roots vouch for it.

use std::{io, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

/// A client that believes these roots, given in PEM, or else those of the machine.
pub(crate) fn client_config(roots: Option<&[u8]>) -> io::Result<ClientConfig> {
    let wrong = |why: &dyn std::fmt::Display| io::Error::new(io::ErrorKind::InvalidInput, why.to_string());
    let mut store = RootCertStore::empty();
    match roots {
        Some(pem) => {
            for root in CertificateDer::pem_slice_iter(pem) {
                let root = root.map_err(|error| wrong(&error))?;
                store.add(root).map_err(|error| wrong(&error))?;
            }
        }
        None => {
            // One that cannot be read vouches for nobody; that there is none at all is said below.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if store.is_empty() {
        return Err(wrong(&"there is no root certificate that could vouch for the server"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&error))?;
    Ok(config.with_root_certificates(store).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_root_nobody_is_believed() {
        assert!(client_config(Some(b"")).unwrap_err().to_string().contains("no root certificate"));
        assert!(
            client_config(Some(b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n")).is_err()
        );
    }
}
