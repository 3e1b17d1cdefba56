//! The versions of the peers, because a ratio without them cannot be repeated.

/// The crates this was built with.
const LOCK_FILE: &str = include_str!("../../../Cargo.lock");

/// A peer that is a crate or in one: what it is called here, and its crate's version.
pub(crate) fn of_crate(called: &str, package: &str) -> String {
    format!("{called} {}", version(LOCK_FILE, package).unwrap_or("of unknown version"))
}

fn version<'a>(lock_file: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock_file.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_one_of_the_package_with_just_that_name() {
        let lock_file =
            "name = \"tokio-util\"\nversion = \"0.7.0\"\n\nname = \"tokio\"\nversion = \"1.2.3\"\n";
        assert_eq!(version(lock_file, "tokio"), Some("1.2.3"));
        assert_eq!(version(lock_file, "toki"), None);
    }
}
