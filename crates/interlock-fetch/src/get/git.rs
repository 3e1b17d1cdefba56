//! A repository, by the ordinary `git`: one commit of it, with no credentials, hooks, filters, submodules or large files, and none of the
//! user's settings.

use std::{ffi::OsStr, ffi::OsString, path::Path};

use super::{Fetched, below, stage};
use crate::run::{Environment, FetchError, Run};

/// What Git may not do, whatever a repository or a server says.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "credential.helper=",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "filter.lfs.smudge=",
    "filter.lfs.process=",
    "filter.lfs.required=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
    "http.followRedirects=initial",
    "transfer.fsckObjects=true",
    "gc.auto=0",
    "advice.detachedHead=false",
];

pub(super) fn get(
    run: &Run<'_>,
    url: &str,
    reference: Option<&str>,
    subfolder: &str,
) -> Result<Fetched, FetchError> {
    let stage = stage()?;
    let folder = stage.path().join("tree");
    std::fs::create_dir(&folder)?;
    let environment = environment(run, url, stage.path());
    let git = |words: &[&str]| -> Result<String, FetchError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", *setting]);
        let words: Vec<&OsStr> =
            ["git"].into_iter().chain(settings).chain(words.iter().copied()).map(OsStr::new).collect();
        run.client(&words, &environment, &folder).map_err(|error| match error {
            // The settings say nothing to anybody.
            FetchError::Failed(_, said) => FetchError::Failed(format!("git {}", named(&words)), said),
            other => other,
        })
    };
    run.watcher.doing("fetching the repository");
    git(&["init", "--quiet", "--template=", "."])?;
    let wanted = reference.unwrap_or("HEAD");
    // One commit of one branch, tag or commit: the history is nobody's business here.
    git(&["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, wanted])?;
    git(&["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"])?;
    let commit = git(&["rev-parse", "HEAD"])?.trim().to_owned();
    let at = reference.map(|reference| format!(" at {reference}")).unwrap_or_default();
    let root = below(&folder, subfolder)?;
    let start = crate::start::start(&root);
    Ok(Fetched {
        origin: vec![format!("fetched {}{at}, commit {commit}", without_secrets(url))],
        folder: root,
        start,
        is_foreign: true,
        stage: Some(stage),
    })
}

/// The first word of a command that is not a setting.
fn named(words: &[&OsStr]) -> String {
    let known = ["init", "fetch", "checkout", "rev-parse"];
    let found = words.iter().find(|word| known.iter().any(|known| OsStr::new(known) == **word));
    found.map(|word| word.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What `git` may know. A key for ssh is the user's to lend: without the agent nothing could be fetched that way.
fn environment(run: &Run<'_>, url: &str, stage: &Path) -> Environment {
    let mut environment = run.clean();
    let mut set = |name: &str, value: &OsStr| drop(environment.insert(name.into(), value.to_owned()));
    set("HOME", stage.as_os_str());
    set("XDG_CONFIG_HOME", stage.as_os_str());
    set("GIT_CONFIG_NOSYSTEM", OsStr::new("1"));
    set("GIT_CONFIG_GLOBAL", OsStr::new("/dev/null"));
    set("GIT_TERMINAL_PROMPT", OsStr::new("0"));
    set("GIT_ASKPASS", OsStr::new("true"));
    set("SSH_ASKPASS", OsStr::new("true"));
    set("GIT_LFS_SKIP_SMUDGE", OsStr::new("1"));
    set("GIT_ATTR_NOSYSTEM", OsStr::new("1"));
    set("GIT_CEILING_DIRECTORIES", stage.as_os_str());
    set(
        "GIT_SSH_COMMAND",
        OsStr::new("ssh -oBatchMode=yes -oForwardAgent=no -oClearAllForwardings=yes -oPermitLocalCommand=no"),
    );
    let is_ssh = !url.starts_with("https:") && !url.starts_with("file:");
    let agent = OsString::from("SSH_AUTH_SOCK");
    if let Some(socket) = run.environment.get(&agent).filter(|_| is_ssh) {
        environment.insert(agent, socket.clone());
    }
    environment
}

/// An address without a name and a password that somebody wrote into it.
fn without_secrets(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split('/').next().unwrap_or_default();
            let shown = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{shown}{}", rest.strip_prefix(host).unwrap_or_default())
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_not_told() {
        assert_eq!(without_secrets("https://me:secret@h.example/a.git"), "https://h.example/a.git");
        assert_eq!(without_secrets("file:///srv/a.git"), "file:///srv/a.git");
        assert_eq!(without_secrets("git@h.example:a.git"), "git@h.example:a.git");
    }
}
