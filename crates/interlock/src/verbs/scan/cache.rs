//! Where results of earlier scans are kept: the user's own cache folder, as the system names it.
#![expect(clippy::disallowed_methods, reason = "the binary is where the environment is read")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use interlock_scan::Cache;

/// The cache; none where the system names no folder, or nothing tells this program from another version of it.
pub(in crate::verbs) fn cache() -> Option<Cache> {
    Some(Cache { folder: folder(&|name| env::var_os(name).map(PathBuf::from))?, version: version()? })
}

/// The folder. What is not an absolute path is passed over, as the XDG specification asks for.
fn folder(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let named = |name: &str| variable(name).filter(|path| path.is_absolute());
    let of_system = if cfg!(windows) {
        named("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        named("HOME").map(|home| home.join("Library/Caches"))
    } else {
        named("HOME").map(|home| home.join(".cache"))
    };
    named("XDG_CACHE_HOME").or(of_system).map(|caches| caches.join(Path::new("interlock/scan")))
}

/// What tells this program from every other build of it: a new one replaces its file.
fn version() -> Option<String> {
    let about = fs::metadata(env::current_exe().ok()?).ok()?;
    let changed = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", env!("CARGO_PKG_VERSION"), about.len(), changed.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_one_that_the_user_or_the_system_names() {
        let named = |known: &'static [(&str, &str)]| {
            folder(&|name: &str| {
                known.iter().find(|(known, _)| *known == name).map(|(_, path)| PathBuf::from(path))
            })
        };
        let own = named(&[("XDG_CACHE_HOME", "/caches"), ("HOME", "/users/me")]);
        assert_eq!(own.as_deref(), Some(Path::new("/caches/interlock/scan")));
        assert_eq!(
            named(&[("XDG_CACHE_HOME", "caches")]),
            None,
            "a relative path would depend on where one stands"
        );
        assert_eq!(named(&[]), None);
        #[cfg(target_os = "linux")]
        assert_eq!(
            named(&[("HOME", "/users/me")]).as_deref(),
            Some(Path::new("/users/me/.cache/interlock/scan"))
        );
    }
}
