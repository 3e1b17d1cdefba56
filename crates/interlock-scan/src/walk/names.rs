//! What a name says about a file or folder.

/// Why something is left out because of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Left {
    /// It tests the server and is not part of it.
    Test,
    /// Says how the server is built.
    Build,
    /// Somebody else's code, installed.
    Installed,
    /// Types without code.
    Declaration,
    /// Cells and what they printed, in one file.
    Notebook,
    /// Made small by a machine.
    Minified,
    /// Put together by a machine, for the pages of a browser.
    Bundle,
    /// Written by a machine.
    Generated,
    /// Compiled from sources that are scanned themselves.
    Compiled,
    /// Compiled once more, for the other kind of module.
    Twin,
    /// Built for another system only.
    OtherSystem,
    /// The configuration says so.
    Configured,
}

const TEST_FOLDERS: &[&str] =
    &["__tests__", "test", "tests", "fixtures", "__fixtures__", "e2e", "__mocks__", "__snapshots__"];
/// What tests are called after in the names of folders: `accuracy-tests`.
const KINDS_OF_TESTS: &[&str] = &[
    "acceptance",
    "accuracy",
    "contract",
    "e2e",
    "functional",
    "integration",
    "load",
    "perf",
    "performance",
    "regression",
    "smoke",
    "stress",
    "system",
    "unit",
];
/// What the settings of those who run tests begin with: `playwright.config.ts`.
const TEST_RUNNERS: &[&str] = &["vitest", "jest", "playwright", "cypress", "karma", "wdio"];
/// What the settings of those who build, check and format begin with: `tsup.config.ts`.
const BUILDERS: &[&str] = &[
    "astro", "babel", "drizzle", "esbuild", "eslint", "next", "nuxt", "postcss", "prettier", "rolldown",
    "rollup", "rspack", "svelte", "tailwind", "tsdown", "tsup", "vite", "webpack",
];
/// Where bundlers put what a page loads,
const ASSETS: &str = "assets";
/// and how long the hashes are that they put into the names there.
const HASH: usize = 8;
/// More letters in a row than a hash mostly has.
const WORD: usize = 4;
const INSTALLED_FOLDERS: &[&str] =
    &["node_modules", "bower_components", "jspm_packages", "site-packages", "venv", ".venv"];

/// Whether a folder of this name is left out with all that is in it.
pub(super) fn folder(name: &str) -> Option<Left> {
    if TEST_FOLDERS.contains(&name) || is_kind_of_tests(name) {
        Some(Left::Test)
    } else if INSTALLED_FOLDERS.contains(&name) {
        Some(Left::Installed)
    } else {
        None
    }
}

/// Whether a folder holds tests of one kind. One of a tool that runs tests is called after what it does.
fn is_kind_of_tests(name: &str) -> bool {
    let split = name.rsplit_once(['-', '_']);
    split.is_some_and(|(kind, end)| matches!(end, "test" | "tests") && KINDS_OF_TESTS.contains(&kind))
}

/// Whether a source file at this path is left out because of its name.
pub(super) fn file(path: &str) -> Option<Left> {
    let name = file_name(path);
    let parts: Vec<&str> = name.split('.').collect();
    // The first part is the name proper and the last the ending; what stands between says what kind of file it is.
    let kinds = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    let is = |kind: &str| kinds.contains(&kind);
    let typescript = matches!(parts.last(), Some(&("ts" | "mts" | "cts")));
    let begins = |with: &[&str]| parts.first().is_some_and(|first| with.contains(first));
    let runs_tests = !kinds.is_empty() && begins(TEST_RUNNERS);
    let python = parts.last() == Some(&"py");
    let tests_python = python
        && parts.first().is_some_and(|stem| {
            stem.starts_with("test_")
                || stem.ends_with("_test")
                || matches!(*stem, "conftest" | "noxfile" | "tests")
        });
    let go = parts.last() == Some(&"go");
    let is_test = parts.first().is_some_and(|stem| stem.ends_with("_test"));
    // What stands in for the real thing in tests lies beside it, where it has to be exported.
    let is_mock = || parts.first().is_some_and(|stem| stem.starts_with("mock_")) || within(path, "mocks");
    let tests_go = go && (is_test || within(path, "testdata") || is_mock());
    if is("test") || is("spec") || is("e2e") || runs_tests || tests_python || tests_go {
        Some(Left::Test)
    } else if go && within(path, "vendor") {
        Some(Left::Installed)
    } else if is("config") && begins(BUILDERS) {
        Some(Left::Build)
    } else if is("min") {
        Some(Left::Minified)
    } else if typescript && is("d") {
        Some(Left::Declaration)
    } else if file_name(parent(path)) == ASSETS && is_hashed(name) {
        Some(Left::Bundle)
    } else {
        None
    }
}

/// Whether a file lies in a folder of this name, however deep.
fn within(path: &str, folder: &str) -> bool {
    parent(path).split('/').any(|part| part == folder)
}

/// Whether a name ends in a hash of what the file holds, as bundlers name what browsers may keep: `index-0ZLQ1VN9.js`.
fn is_hashed(name: &str) -> bool {
    let Some((stem, "js" | "mjs")) = name.split_once('.') else { return false };
    // The hash itself may have a dash in it.
    let Some((at, hash)) = stem.len().checked_sub(HASH).and_then(|at| Some((at, stem.get(at..)?))) else {
        return false;
    };
    let has = |kind: fn(&u8) -> bool| hash.as_bytes().iter().any(kind);
    // Words that are put together have some letters in a row.
    let is_word = hash.as_bytes().windows(WORD).any(|part| part.iter().all(u8::is_ascii_lowercase));
    let is_drawn =
        has(u8::is_ascii_uppercase) && (has(u8::is_ascii_digit) || has(u8::is_ascii_lowercase)) && !is_word;
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    at > 1 && stem.get(..at).is_some_and(|name| name.ends_with('-')) && hash.bytes().all(is_safe) && is_drawn
}

/// The ending of a file's name.
pub(crate) fn extension(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, extension)| extension)
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Whether a file is one of those that say how sources belong together. A `*` stands for whatever is in between.
pub(crate) fn is_setting(settings: &[&str], path: &str) -> bool {
    let name = file_name(path);
    settings.iter().any(|setting| match setting.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => *setting == name,
    })
}

/// Whether a file holds cells of source among other things, which no front end reads.
pub(super) fn is_notebook(name: &str) -> bool {
    extension(name) == "ipynb"
}

/// The folder of a path; the root is empty.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl Left {
    /// All of them.
    pub(super) const ALL: [Self; 12] = [
        Self::Test,
        Self::Build,
        Self::Installed,
        Self::Declaration,
        Self::Notebook,
        Self::Minified,
        Self::Bundle,
        Self::Generated,
        Self::Compiled,
        Self::Twin,
        Self::OtherSystem,
        Self::Configured,
    ];

    /// What it is called in the coverage.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Test => "tests and fixtures",
            Self::Build => "settings of build tools",
            Self::Installed => "installed packages",
            Self::Declaration => "type declarations",
            Self::Notebook => "notebooks",
            Self::Minified => "minified files",
            Self::Bundle => "bundles for browsers",
            Self::Generated => "generated files",
            Self::Compiled => "compiled output of sources that are scanned",
            Self::Twin => "output that is there once more, for the other kind of module",
            Self::OtherSystem => "files for other systems than Linux on amd64, or with tags of their own",
            Self::Configured => "what the configuration ignores",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_known_by_their_names_or_by_both_ends_of_them() {
        let settings = ["pyproject.toml", "requirements*.txt"];
        for (path, expected) in [
            ("a/pyproject.toml", true),
            ("requirements.txt", true),
            ("a/requirements-server.txt", true),
            ("requirements.in", false),
            ("my-requirements.txt", false),
            ("requirements.tx", false),
            ("a.pyproject.toml", false),
        ] {
            assert_eq!(is_setting(&settings, path), expected, "{path}");
        }
    }

    #[test]
    fn a_name_tells_tests_declarations_bundles_and_minified_files() {
        for (name, expected) in [
            ("index.ts", None),
            ("index.test.ts", Some(Left::Test)),
            ("a.b.spec.jsx", Some(Left::Test)),
            ("test.ts", None),
            ("test-plans.ts", None),
            ("playwright.global-setup.ts", Some(Left::Test)),
            ("playwright.ts", None),
            ("tsup.config.ts", Some(Left::Build)),
            ("vite.config.mjs", Some(Left::Build)),
            ("server.config.ts", None),
            ("tsup.ts", None),
            ("contest.ts", None),
            ("types.d.ts", Some(Left::Declaration)),
            ("types.d.mts", Some(Left::Declaration)),
            ("d.ts", None),
            ("vendor.min.js", Some(Left::Minified)),
            ("min.js", None),
            ("media/assets/index-0ZLQ1VN9.js", Some(Left::Bundle)),
            ("assets/vendor-B-_x81Ka.js", Some(Left::Bundle)),
            ("assets/index-DqMaBcXy.js", Some(Left::Bundle)),
            ("dist/chunk-0ZLQ1VN9.js", None),
            ("assets/read-manifest.js", None),
            ("assets/a-manifest.js", None),
            ("assets/load-image-v2.js", None),
            ("assets/tool-s3Client.js", None),
            ("assets/index-0ZLQ1VN9.ts", None),
            ("store_test.go", Some(Left::Test)),
            ("contest.go", None),
            ("a/testdata/b.go", Some(Left::Test)),
            ("vendor/example.com/x/y.go", Some(Left::Installed)),
            ("vendor/tool.ts", None),
            ("", None),
        ] {
            assert_eq!(file(name), expected, "{name}");
        }
        assert_eq!(folder("__tests__"), Some(Left::Test));
        assert_eq!(folder("accuracy-tests"), Some(Left::Test));
        assert_eq!((folder("contests"), folder("run-tests"), folder("generate_tests")), (None, None, None));
        assert_eq!(folder("node_modules"), Some(Left::Installed));
        assert_eq!(folder("src"), None);
    }

    #[test]
    fn a_path_falls_into_folder_name_and_ending() {
        assert_eq!((parent("a/b/c.ts"), file_name("a/b/c.ts"), extension("a/b/c.ts")), ("a/b", "c.ts", "ts"));
        assert_eq!((parent("c"), file_name("c"), extension("c")), ("", "c", ""));
        assert_eq!(extension("a.b/.ts"), "", "a hidden file is all name");
    }
}
