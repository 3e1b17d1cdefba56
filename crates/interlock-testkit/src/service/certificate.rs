//! A certificate for `localhost` that vouches for itself, in files as servers read them.

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path};

use super::StartError;

/// The files of a certificate and its key, and the certificate itself in PEM.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    pub(super) file: String,
    pub(super) key: String,
    pub(super) roots: String,
}

impl Certificate {
    /// Makes one in a folder. Its key is for the folder's owner only.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, StartError> {
        let failed = |source| StartError::Io { what: "make a certificate", source };
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let made = made.map_err(|error| failed(io::Error::other(error)))?;
        let (file, key) = (folder.join("server.crt"), folder.join("server.key"));
        fs::write(&file, made.cert.pem()).map_err(failed)?;
        fs::write(&key, made.signing_key.serialize_pem()).map_err(failed)?;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok(Self { file: text(&file), key: text(&key), roots: made.cert.pem() })
    }
}
