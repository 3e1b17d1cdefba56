//! What may be asked for: which schemes, hosts and folders an audit may name.

use std::path::{Path, PathBuf};

use http::uri::Authority;
use interlock_fetch::{Named, Unnamed};

/// The longest that a target may be.
const LONGEST: usize = 500;

/// What the operator allows.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// The hosts of Git addresses.
    pub hosts: Vec<String>,
    /// The folders below which `file:` addresses may lead; none unless told.
    pub folders: Vec<PathBuf>,
    /// Whether packages may be asked for.
    pub packages: bool,
}

/// What a target needs of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Nothing.
    Nowhere,
    /// This host.
    Host(String),
    /// Where npm finds packages.
    Npm,
    /// Where pip finds packages.
    Pip,
}

/// Why something is not audited here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It names nothing.
    #[error(transparent)]
    Unnamed(#[from] Unnamed),
    /// There is nothing, or too much of it.
    #[error("a target has 1 to {LONGEST} characters, none of them a control character")]
    Length,
    /// A folder or a file of this machine.
    #[error(
        "what lies on the server's own disk is not audited; give a Git address, npm:NAME@VERSION, pypi:NAME@VERSION or an archive"
    )]
    Local,
    /// A scheme that needs a key, or that is not allowed.
    #[error("only https addresses are fetched here")]
    Scheme,
    /// A `file:` address, where some are allowed. Whether there is something at that place is not told.
    #[error(
        "a file: address must lead, without `%` and `?`, into a folder that was allowed with --allow-files"
    )]
    Folder,
    /// Somebody's name or password.
    #[error("an address must not carry a name or a password")]
    Credentials,
    /// Not on the list.
    #[error("`{0}` is not among the hosts that are fetched from here")]
    Host(String),
    /// A port of one's own.
    #[error("only the ordinary port of https is fetched from")]
    Port,
    /// Packages are off.
    #[error("packages are not fetched here")]
    Packages,
}

impl Allowed {
    /// What a target needs of the network, if it may be audited.
    ///
    /// # Errors
    ///
    /// With the reason, when not.
    pub fn judge(&self, target: &str) -> Result<Reach, Refused> {
        if target.is_empty() || target.len() > LONGEST || target.contains(char::is_control) {
            return Err(Refused::Length);
        }
        match target.parse()? {
            Named::Folder(_) | Named::Archive(_) => Err(Refused::Local),
            Named::Npm { .. } | Named::Pypi { .. } if !self.packages => Err(Refused::Packages),
            Named::Npm { .. } => Ok(Reach::Npm),
            Named::Pypi { .. } => Ok(Reach::Pip),
            Named::Git { url, .. } => match url.split_once("://") {
                Some(("https", rest)) => self.host(rest),
                Some(("file", path)) => self.folder(path),
                _ => Err(Refused::Scheme),
            },
        }
    }

    fn host(&self, rest: &str) -> Result<Reach, Refused> {
        let authority = rest.split(['/', '?', '\\']).next().unwrap_or_default();
        if authority.contains('@') || rest.contains('\\') {
            return Err(Refused::Credentials);
        }
        let unknown = || Refused::Host(authority.to_owned());
        let authority: Authority = authority.parse().map_err(|_| unknown())?;
        if !matches!(authority.port_u16(), None | Some(443)) || authority.as_str().ends_with(':') {
            return Err(Refused::Port);
        }
        let host = authority.host().to_ascii_lowercase();
        if self.hosts.iter().any(|known| known.eq_ignore_ascii_case(&host)) {
            Ok(Reach::Host(host))
        } else {
            Err(unknown())
        }
    }

    fn folder(&self, path: &str) -> Result<Reach, Refused> {
        if self.folders.is_empty() {
            return Err(Refused::Scheme);
        }
        // What links and `..` lead to is what counts.
        let real = Path::new(path).canonicalize().map_err(|_| Refused::Folder)?;
        let is_below = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
        let is_plain = path.starts_with('/') && !path.contains(['%', '?']);
        if is_plain && self.folders.iter().any(is_below) { Ok(Reach::Nowhere) } else { Err(Refused::Folder) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Allowed {
        Allowed { hosts: vec!["git.example".into()], folders: Vec::new(), packages: true }
    }

    #[test]
    fn addresses_of_known_hosts_and_packages_are_audited() {
        for (target, reach) in [
            ("https://git.example/a/b.git", Reach::Host("git.example".into())),
            ("https://GIT.example:443/a#main:sub", Reach::Host("git.example".into())),
            ("npm:@s/n@1.0.0", Reach::Npm),
            ("pypi:n", Reach::Pip),
        ] {
            assert_eq!(allowed().judge(target), Ok(reach), "{target}");
        }
    }

    #[test]
    fn every_other_scheme_host_and_port_is_refused() {
        for target in [
            "http://git.example/a",
            "git://git.example/a",
            "ssh://git@git.example/a",
            "git@git.example:a/b",
            "ext::sh -c touch% /tmp/x",
            "file:///etc",
            "/etc",
            ".",
            "backup.zip",
            "https://evil.example/a",
            "https://git.example.evil.example/a",
            "https://evil.example\\@git.example/a",
            "https://git.example@evil.example/a",
            "https://me:secret@git.example/a",
            "https://git.example:8443/a",
            "https://git.example:/a",
            "https://127.0.0.1/a",
            "https://[::1]/a",
            "https://2130706433/a",
            "https:///a",
            "https://git.example\n/a",
            "github:o/n",
            "",
        ] {
            assert!(allowed().judge(target).is_err(), "{target:?}");
        }
        assert!(allowed().judge(&format!("https://git.example/{}", "a".repeat(600))).is_err());
        assert_eq!(Allowed::default().judge("npm:n"), Err(Refused::Packages));
    }

    #[test]
    fn a_file_address_stays_below_the_folders_that_the_operator_named() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in/repository"), folder.path().join("out"));
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, folder.path().join("in/link")).unwrap();
        let allowed = Allowed { folders: vec![folder.path().join("in")], ..allowed() };
        let judge = |path: &Path| allowed.judge(&format!("file://{}", path.display()));
        assert_eq!(judge(&inside), Ok(Reach::Nowhere));
        for path in
            [outside.clone(), folder.path().join("in/link"), inside.join("../../out"), inside.join("none")]
        {
            assert_eq!(judge(&path), Err(Refused::Folder), "{}", path.display());
        }
        assert_eq!(allowed.judge(&format!("file://localhost{}", inside.display())), Err(Refused::Folder));
        assert_eq!(Allowed::default().judge(&format!("file://{}", inside.display())), Err(Refused::Scheme));
    }
}
