//! Which files of Go are built: one plausible set of tags, that of Linux on amd64. A file for another system would declare everything
//! once more.

/// The systems and processors that names of files end in.
const SYSTEMS: &[&str] = &[
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "illumos",
    "ios",
    "js",
    "linux",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
];
const PROCESSORS: &[&str] = &[
    "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le",
    "riscv64", "s390x", "wasm",
];
/// What holds; so does `go1.N`.
const SET: &[&str] = &["linux", "amd64", "unix", "cgo", "gc"];

/// How deep an expression may nest.
const DEEPEST: usize = 32;

/// How many lines may stand before the package is named.
const OPENING: usize = 200;

/// Whether a file of Go is built.
pub(super) fn is_built(name: &str, text: &str) -> bool {
    is_built_by_name(name) && is_built_by_tags(text)
}

fn is_built_by_name(name: &str) -> bool {
    let stem = name.strip_suffix(".go").unwrap_or(name);
    let mut parts = stem.rsplit('_');
    let (Some(last), Some(before)) = (parts.next(), parts.next()) else { return true };
    let fits = |part: &str, known: &[&str]| !known.contains(&part) || SET.contains(&part);
    let of_processor = PROCESSORS.contains(&last);
    // `system.go` is called so; `x_linux_amd64.go` is for one.
    let system = if of_processor && parts.next().is_some() { before } else { last };
    fits(last, PROCESSORS) && fits(system, SYSTEMS)
}

fn is_built_by_tags(text: &str) -> bool {
    let mut opening = text.lines().take(OPENING).take_while(|line| !line.starts_with("package "));
    let Some(says) = opening.find_map(|line| line.strip_prefix("//go:build ")) else { return true };
    let mut tokens = tokens(says);
    tokens.reverse();
    either(&mut tokens, DEEPEST)
}

/// The words and signs of an expression.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = vec![];
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let sign = ["&&", "||", "!", "(", ")"].into_iter().find(|sign| rest.starts_with(sign));
        let word = || rest.find([' ', '\t', '&', '|', '!', '(', ')']).unwrap_or(rest.len()).max(1);
        let length = sign.map_or_else(word, str::len);
        let Some((token, behind)) = rest.split_at_checked(length) else { break };
        found.push(token);
        rest = behind.trim_start();
    }
    found
}

fn either(tokens: &mut Vec<&str>, depth: usize) -> bool {
    let mut says = both(tokens, depth);
    while tokens.last() == Some(&"||") {
        tokens.pop();
        says |= both(tokens, depth);
    }
    says
}

fn both(tokens: &mut Vec<&str>, depth: usize) -> bool {
    let mut says = one(tokens, depth);
    while tokens.last() == Some(&"&&") {
        tokens.pop();
        says &= one(tokens, depth);
    }
    says
}

fn one(tokens: &mut Vec<&str>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match tokens.pop() {
        Some("!") => !one(tokens, depth),
        Some("(") => {
            let says = either(tokens, depth);
            tokens.pop();
            says
        }
        Some(tag) => SET.contains(&tag) || tag.starts_with("go1."),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_set_of_tags_says_which_files_are_built() {
        for (name, text, built) in [
            ("lock.go", "package lock\n", true),
            ("lock_unix.go", "//go:build !windows\n\npackage lock\n", true),
            ("lock_windows.go", "package lock\n", false),
            ("lock_linux_amd64.go", "package lock\n", true),
            ("lock_linux_arm64.go", "package lock\n", false),
            ("lock_darwin_amd64.go", "package lock\n", false),
            ("windows.go", "package lock\n", true),
            ("lock.go", "// Copyright\n//go:build windows\n\npackage lock\n", false),
            ("lock.go", "//go:build (darwin || linux) && cgo && !integration\n\npackage lock\n", true),
            ("gen.go", "//go:build ignore\n\npackage main\n", false),
            ("new.go", "//go:build go1.22\n\npackage lock\n", true),
            ("odd.go", "//go:build ((((\n\npackage lock\n", true),
            ("odd.go", "//go:build && ||\n\npackage lock\n", true),
            ("late.go", "package lock\n\n//go:build windows\n", true),
        ] {
            assert_eq!(is_built(name, text), built, "{name}: {text}");
        }
        let deep = format!("//go:build {}linux\n\npackage lock\n", "!".repeat(10_000));
        is_built("deep.go", &deep);
    }
}
