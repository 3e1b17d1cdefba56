//! What was written: a folder, an archive, a Git address, a package.

use std::path::PathBuf;

/// What is to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// It is here already.
    Folder(PathBuf),
    /// A file that is here: tar, tar.gz or zip.
    Archive(PathBuf),
    /// A repository.
    Git {
        /// As the client takes it.
        url: String,
        /// A branch, a tag, a commit; the default branch unless given.
        reference: Option<String>,
        /// The folder in it that is meant, with forward slashes; all of it if empty.
        subfolder: String,
    },
    /// A package of npm.
    Npm {
        /// With its scope.
        name: String,
        /// The newest unless given.
        version: Option<String>,
    },
    /// A package of PyPI.
    Pypi {
        /// As it is written.
        name: String,
        /// The newest unless given.
        version: Option<String>,
    },
}

/// Why a text names nothing that could be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unnamed {
    /// Not a name that a package can have.
    #[error("`{0}` is no name of a package")]
    Package(String),
    /// Not a version.
    #[error("`{0}` is no version of a package")]
    Version(String),
    /// Not a name that a branch, tag or commit can have.
    #[error("`{0}` is no branch, tag or commit")]
    Reference(String),
    /// Leads out of the repository.
    #[error("`{0}` is no folder of a repository")]
    Subfolder(String),
    /// `github:` without both names.
    #[error("`{0}` names no repository: write OWNER/NAME")]
    Repository(String),
    /// A scheme that nothing is fetched by.
    #[error(
        "`{0}` is not fetched: known are https, ssh and file addresses of Git, github:, gitlab:, npm: and pypi:"
    )]
    Scheme(String),
}

/// The sites that have short forms. What stands behind the scheme is the host's part of the address.
const SITES: &[(&str, &str)] = &[("github:", "https://github.com/"), ("gitlab:", "https://gitlab.com/")];

/// How the names of archives end.
const ARCHIVES: &[&str] = &[".tar", ".tar.gz", ".tgz", ".zip"];

impl std::str::FromStr for Named {
    type Err = Unnamed;

    /// `DIR`, `FILE.tar.gz`, `https://…`, `ssh://…`, `git@HOST:PATH`, `file:///…`, each of them `#REF` or `#REF:FOLDER`; `github:OWNER/NAME[/FOLDER][@REF]`,
    /// `gitlab:…`; `npm:NAME[@VERSION]`, `pypi:NAME[@VERSION]`.
    fn from_str(text: &str) -> Result<Self, Unnamed> {
        if let Some(rest) = text.strip_prefix("npm:") {
            let (name, version) = split_version(rest, 1)?;
            let plain =
                name.strip_prefix('@').map_or(Some(("", name.as_str())), |scoped| scoped.split_once('/'));
            let is_name = plain.is_some_and(|(scope, name)| {
                (scope.is_empty() || is_word(scope)) && is_word(name) && name != "node_modules"
            });
            return if is_name {
                Ok(Self::Npm { name, version })
            } else {
                Err(Unnamed::Package(rest.into()))
            };
        }
        if let Some(rest) = text.strip_prefix("pypi:") {
            let (name, version) = split_version(&rest.replacen("==", "@", 1), 0)?;
            return if is_word(&name) {
                Ok(Self::Pypi { name, version })
            } else {
                Err(Unnamed::Package(rest.into()))
            };
        }
        for (short, site) in SITES {
            if let Some(rest) = text.strip_prefix(short) {
                return short_form(rest, site);
            }
        }
        let is_scp = |text: &str| {
            let before = text.split_once(':').map(|(before, _)| before);
            before.is_some_and(|before| before.contains('@') && !before.contains('/'))
        };
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some("https" | "ssh" | "file") => git(text),
            Some(scheme) => Err(Unnamed::Scheme(scheme.to_owned())),
            None if is_scp(text) => git(text),
            None if ARCHIVES.iter().any(|ending| text.to_ascii_lowercase().ends_with(ending)) => {
                Ok(Self::Archive(PathBuf::from(text)))
            }
            None => Ok(Self::Folder(PathBuf::from(text))),
        }
    }
}

fn git(text: &str) -> Result<Named, Unnamed> {
    let (url, behind) = text.split_once('#').unwrap_or((text, ""));
    let (reference, subfolder) = behind.split_once(':').unwrap_or((behind, ""));
    Ok(Named::Git { url: url.to_owned(), reference: checked(reference)?, subfolder: inside(subfolder)? })
}

/// `OWNER/NAME[/FOLDER…][@REF]` or with `#REF`.
fn short_form(rest: &str, site: &str) -> Result<Named, Unnamed> {
    let (path, reference) = rest.split_once(['@', '#']).unwrap_or((rest, ""));
    let mut parts = path.splitn(3, '/');
    let (owner, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if !is_word(owner) || !is_word(name) {
        return Err(Unnamed::Repository(rest.to_owned()));
    }
    let subfolder = inside(parts.next().unwrap_or_default())?;
    let name = name.strip_suffix(".git").unwrap_or(name);
    Ok(Named::Git { url: format!("{site}{owner}/{name}.git"), reference: checked(reference)?, subfolder })
}

/// Letters, digits, `.`, `_` and `-`, with nothing in front that a program takes for an option or a way up.
fn is_word(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !text.is_empty() && text.len() <= 214 && !text.starts_with(['-', '.']) && text.chars().all(allowed)
}

/// `NAME@VERSION`; the mark of a scope is no beginning of a version.
fn split_version(text: &str, from: usize) -> Result<(String, Option<String>), Unnamed> {
    let at = text.char_indices().skip(from).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let Some((name, version)) = at.and_then(|at| text.split_at_checked(at)) else {
        return Ok((text.to_owned(), None));
    };
    let version = version.trim_start_matches('@');
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '!');
    if version.is_empty() || version.starts_with('-') || !version.chars().all(allowed) {
        return Err(Unnamed::Version(version.to_owned()));
    }
    Ok((name.to_owned(), Some(version.to_owned())))
}

/// A reference that no client takes for an option or an expression.
fn checked(reference: &str) -> Result<Option<String>, Unnamed> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+');
    match reference {
        "" => Ok(None),
        text if text.starts_with(['-', '/', '.']) || text.contains("..") || !text.chars().all(allowed) => {
            Err(Unnamed::Reference(text.to_owned()))
        }
        text => Ok(Some(text.to_owned())),
    }
}

/// A folder that stays inside.
fn inside(folder: &str) -> Result<String, Unnamed> {
    let folder = folder.trim_matches('/');
    let is_inside = folder
        .split('/')
        .all(|part| !matches!(part, ".." | ".git") && !part.contains('\\') && !part.contains('\0'));
    if is_inside { Ok(folder.to_owned()) } else { Err(Unnamed::Subfolder(folder.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(url: &str, reference: Option<&str>, subfolder: &str) -> Named {
        Named::Git { url: url.into(), reference: reference.map(Into::into), subfolder: subfolder.into() }
    }

    #[test]
    fn every_form_is_read() {
        let version = |version: &str| Some(version.to_owned());
        for (text, named) in [
            (".", Named::Folder(".".into())),
            ("a/b:c", Named::Folder("a/b:c".into())),
            ("a/B.TGZ", Named::Archive("a/B.TGZ".into())),
            ("https://h.example/a/b.git", git("https://h.example/a/b.git", None, "")),
            (
                "https://h.example/a/b#v1.2:packages/x",
                git("https://h.example/a/b", Some("v1.2"), "packages/x"),
            ),
            ("ssh://git@h.example/a.git#main", git("ssh://git@h.example/a.git", Some("main"), "")),
            ("git@h.example:a/b.git", git("git@h.example:a/b.git", None, "")),
            ("file:///srv/a.git#:sub", git("file:///srv/a.git", None, "sub")),
            ("github:o/n", git("https://github.com/o/n.git", None, "")),
            ("github:o/n/src/memory@main", git("https://github.com/o/n.git", Some("main"), "src/memory")),
            ("gitlab:o/n#v1", git("https://gitlab.com/o/n.git", Some("v1"), "")),
            ("npm:@s/n@1.0.0-rc.1", Named::Npm { name: "@s/n".into(), version: version("1.0.0-rc.1") }),
            ("npm:n", Named::Npm { name: "n".into(), version: None }),
            ("pypi:mcp-x@1.0", Named::Pypi { name: "mcp-x".into(), version: version("1.0") }),
            ("pypi:mcp-x==1.0", Named::Pypi { name: "mcp-x".into(), version: version("1.0") }),
        ] {
            assert_eq!(text.parse(), Ok(named), "{text}");
        }
    }

    #[test]
    fn what_could_mean_something_else_to_a_client_is_refused() {
        for text in [
            "http://h.example/a",
            "ext::sh -c x",
            "ext://sh",
            "git://h.example/a",
            "https://h.example/a#--upload-pack=x",
            "https://h.example/a#a..b",
            "https://h.example/a#main:../..",
            "https://h.example/a#main:.git/hooks",
            "github:o",
            "github:-o/n",
            "github:o/n@-x",
            "npm:--script-shell=x",
            "npm:../x",
            "npm:@s",
            "npm:a@b:c",
            "npm:a@",
            "pypi:-r x",
            "pypi:a @ b",
        ] {
            let read = text.parse::<Named>();
            assert!(read.is_err() || matches!(read, Ok(Named::Folder(_))), "{text}: {read:?}");
        }
        assert!(
            matches!("ext::sh -c x".parse(), Ok(Named::Folder(_))),
            "no scheme that Git would know is passed on"
        );
    }
}
