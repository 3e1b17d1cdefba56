//! Compiled output beside its sources would be reported twice; compiled output alone is all there is of a published server. That is
//! often there twice by itself, once for each kind of module.

use std::collections::{BTreeSet, HashSet};

use super::{
    Notes, SourceFile,
    names::{Left, extension, file_name, parent},
};

/// Folders that hold nothing but output.
const OUTPUT: &[&str] = &["dist", "build", "out"];
/// Folders that hold output in some packages and sources in others.
const PERHAPS: &[&str] = &["lib", "esm", "cjs"];

const TYPESCRIPT: &[&str] = &["ts", "tsx", "mts", "cts"];
const JAVASCRIPT: &[&str] = &["js", "jsx", "mjs", "cjs"];

/// Folders for each kind of module: of what is in both, one is enough.
const COMMONJS: &[&str] = &["cjs", "commonjs"];
const MODULES: &[&str] = &["esm", "es", "mjs", "module"];

/// Drops what was compiled from sources that are scanned themselves, and what was compiled twice. `traces` are declarations and source
/// maps, which only a compiler leaves.
pub(super) fn leave_out(
    sources: &mut Vec<SourceFile>,
    settings: &[SourceFile],
    traces: &[String],
    notes: &mut Notes,
) {
    drop_all(sources, &compiled(sources, settings, traces), Left::Compiled, notes);
    drop_all(sources, &twins(sources), Left::Twin, notes);
}

fn drop_all(sources: &mut Vec<SourceFile>, gone: &BTreeSet<String>, why: Left, notes: &mut Notes) {
    if gone.is_empty() {
        return;
    }
    sources.retain(|file| {
        let leave = gone.contains(&file.path);
        if leave {
            notes.left_file(why);
        }
        !leave
    });
}

/// The output that is there once more for the other kind of module: `index.cjs` beside `index.js`, `cjs/index.js` beside
/// `esm/index.js`.
fn twins(sources: &[SourceFile]) -> BTreeSet<String> {
    let is_output =
        |path: &str| JAVASCRIPT.contains(&extension(path)) && !matches!(place(path), Folder::Elsewhere);
    let output = || sources.iter().map(|file| &*file.path).filter(|path| is_output(path));
    let paths: HashSet<&str> = output().collect();
    let stems: HashSet<&str> = output().map(stem).collect();
    let has_twin = |path: &str| {
        let beside = |ending: &str| paths.contains(&*format!("{}.{ending}", stem(path)));
        let beside = match extension(path) {
            "mjs" => beside("js"),
            "cjs" => beside("js") || beside("mjs"),
            _ => false,
        };
        beside || in_the_other_folder(stem(path)).any(|other| stems.contains(&*other))
    };
    let twins = sources.iter().filter(|file| !file.explicit && is_output(&file.path) && has_twin(&file.path));
    twins.map(|file| file.path.clone()).collect()
}

/// Where a file in a folder for CommonJS would be in one for modules.
fn in_the_other_folder(path: &str) -> impl Iterator<Item = String> {
    let folders: Vec<&str> = path.split('/').collect();
    let at = folders.iter().position(|folder| COMMONJS.contains(folder));
    MODULES.iter().filter_map(move |module| {
        let mut folders = folders.clone();
        *folders.get_mut(at?)? = module;
        Some(folders.join("/"))
    })
}

fn compiled(sources: &[SourceFile], settings: &[SourceFile], traces: &[String]) -> BTreeSet<String> {
    let packages = Packages::new(settings);
    let mut written = Written::default();
    for file in sources {
        let path = &*file.path;
        let package = packages.of(path);
        if TYPESCRIPT.contains(&extension(path)) && !file_name(path).contains(".config.") {
            written.typescript.insert(package);
            written.stems.insert(stem(path));
            written.names.insert((package, stem(file_name(path))));
        } else if below(package, path).starts_with("src/") {
            written.in_src.insert(package);
        }
    }
    let traces: HashSet<&str> = traces.iter().map(|path| stem(path)).collect();
    let is_compiled = |file: &&SourceFile| {
        let path = &*file.path;
        if file.explicit || !JAVASCRIPT.contains(&extension(path)) {
            return false;
        }
        let package = packages.of(path);
        let has_typescript = written.typescript.contains(package);
        if written.stems.contains(stem(path)) {
            return true;
        }
        match place(below(package, path)) {
            Folder::Output => has_typescript || written.in_src.contains(package),
            Folder::Perhaps => {
                let same_name = written.names.contains(&(package, stem(file_name(path))));
                has_typescript && (same_name || traces.contains(stem(path)))
            }
            // Some packages put their output at the top.
            Folder::Elsewhere => {
                traces.contains(stem(path))
                    && in_src(stem(path)).any(|source| written.stems.contains(&*source))
            }
        }
    };
    sources.iter().filter(is_compiled).map(|file| file.path.clone()).collect()
}

/// Whether a folder is one that compilers write to.
pub(super) fn is_output(folder: &str) -> bool {
    !matches!(place(&format!("{folder}/")), Folder::Elsewhere)
}

/// What is known of the packages' sources.
#[derive(Default)]
struct Written<'s> {
    /// The packages that have TypeScript.
    typescript: HashSet<&'s str>,
    /// The packages that have JavaScript in `src`.
    in_src: HashSet<&'s str>,
    /// The TypeScript files without their endings.
    stems: HashSet<&'s str>,
    /// Their names alone, by package.
    names: HashSet<(&'s str, &'s str)>,
}

/// The folders that hold a `package.json`.
struct Packages<'s>(HashSet<&'s str>);

impl<'s> Packages<'s> {
    fn new(settings: &'s [SourceFile]) -> Self {
        let manifests =
            settings.iter().map(|file| &*file.path).filter(|path| file_name(path) == "package.json");
        // A compiler puts one into its output too, to say which kind of module is there.
        Self(manifests.map(parent).filter(|folder| !is_output(folder)).collect())
    }

    /// The package of a file; the root, if there is none.
    fn of<'p>(&self, path: &'p str) -> &'p str {
        let mut folder = parent(path);
        while !folder.is_empty() && !self.0.contains(folder) {
            folder = parent(folder);
        }
        folder
    }
}

enum Folder {
    Output,
    Perhaps,
    Elsewhere,
}

fn place(path: &str) -> Folder {
    let mut folders = parent(path).split('/');
    let mut found = Folder::Elsewhere;
    for folder in &mut folders {
        if OUTPUT.contains(&folder) {
            return Folder::Output;
        }
        if PERHAPS.contains(&folder) {
            found = Folder::Perhaps;
        }
    }
    found
}

/// Where the source of something may be, if a folder around it has its sources in `src`.
fn in_src(path: &str) -> impl Iterator<Item = String> {
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts.filter_map(|at| path.split_at_checked(at)).map(|(around, inside)| format!("{around}src/{inside}"))
}

fn below<'p>(package: &str, path: &'p str) -> &'p str {
    path.strip_prefix(package).map_or(path, |rest| rest.strip_prefix('/').unwrap_or(rest))
}

/// A path without its ending: `a.ts`, `a.js`, `a.d.ts` and `a.js.map` are all `a`.
fn stem(path: &str) -> &str {
    let ends = [".js.map", ".mjs.map", ".cjs.map", ".d.ts", ".d.mts", ".d.cts"];
    if let Some(stem) = ends.iter().find_map(|end| path.strip_suffix(end)) {
        return stem;
    }
    path.strip_suffix(extension(path)).and_then(|stem| stem.strip_suffix('.')).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that are left out of a list; those that end in `.d.ts` or `.map` are traces.
    fn check(files: &[&str], expected: &[&str]) {
        let found = |path: &&str| SourceFile {
            path: (*path).to_owned(),
            place: path.into(),
            size: 1,
            explicit: false,
        };
        let (traces, rest): (Vec<&str>, Vec<&str>) =
            files.iter().partition(|path| path.ends_with(".d.ts") || path.ends_with(".map"));
        let (settings, sources): (Vec<&str>, Vec<&str>) =
            rest.iter().partition(|path| path.ends_with("package.json"));
        let sources: Vec<SourceFile> = sources.iter().map(found).collect();
        let settings: Vec<SourceFile> = settings.iter().map(found).collect();
        let traces: Vec<String> = traces.iter().map(ToString::to_string).collect();
        let left = compiled(&sources, &settings, &traces);
        assert_eq!(left.iter().map(|path| &**path).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_published_server_is_nothing_but_output_and_is_scanned() {
        check(&["package.json", "dist/index.js", "dist/index.d.ts", "bin/cli.js"], &[]);
        check(&["package/package.json", "package/build/index.js"], &[]);
    }

    #[test]
    fn output_beside_its_sources_is_left_out() {
        check(
            &["package.json", "src/index.ts", "dist/index.js", "dist/a/b.mjs"],
            &["dist/a/b.mjs", "dist/index.js"],
        );
        check(&["package.json", "src/index.js", "dist/index.js"], &["dist/index.js"]);
        check(&["index.ts", "index.js", "other.js"], &["index.js"]);
    }

    #[test]
    fn output_for_two_kinds_of_modules_is_scanned_once() {
        let left = |files: &[&str]| -> Vec<String> {
            let found = |path: &&str| SourceFile {
                path: (*path).to_owned(),
                place: path.into(),
                size: 1,
                explicit: false,
            };
            twins(&files.iter().map(found).collect::<Vec<_>>()).into_iter().collect()
        };
        assert_eq!(left(&["dist/index.js", "dist/index.cjs", "dist/only.cjs"]), ["dist/index.cjs"]);
        assert_eq!(left(&["dist/index.js", "dist/index.mjs"]), ["dist/index.mjs"]);
        assert_eq!(left(&["build/a.mjs", "build/a.cjs"]), ["build/a.cjs"]);
        assert_eq!(
            left(&["dist/esm/a.js", "dist/cjs/a.js", "dist/cjs/b.js", "dist/commonjs/a.cjs"]),
            ["dist/cjs/a.js", "dist/commonjs/a.cjs"]
        );
        let others =
            ["index.js", "index.cjs", "dist/a/index.js", "dist/b/index.cjs", "cjs/main.js", "src/cjs/x.ts"];
        assert_eq!(left(&others), [""; 0], "what somebody has written, or what has another name, is no twin");
    }

    #[test]
    fn each_package_is_judged_by_itself() {
        check(
            &[
                "package.json",
                "one/package.json",
                "one/src/a.ts",
                "one/dist/a.js",
                "two/package.json",
                "two/dist/b.js",
            ],
            &["one/dist/a.js"],
        );
    }

    #[test]
    fn a_manifest_inside_the_output_makes_no_package() {
        check(
            &["package.json", "src/index.ts", "dist/esm/package.json", "dist/esm/index.js"],
            &["dist/esm/index.js"],
        );
    }

    #[test]
    fn lib_holds_output_only_where_a_compiler_has_left_its_traces() {
        check(&["package.json", "src/index.ts", "lib/hand.js"], &[]);
        check(&["package.json", "src/index.ts", "lib/index.js"], &["lib/index.js"]);
        check(
            &["package.json", "src/x.ts", "lib/y.js", "lib/y.d.ts", "lib/z.js", "lib/z.js.map"],
            &["lib/y.js", "lib/z.js"],
        );
        check(&["package.json", "lib/index.ts"], &[]);
    }

    #[test]
    fn output_at_the_top_is_left_out_where_its_source_and_its_traces_are() {
        check(
            &[
                "p/package.json",
                "p/src/a.ts",
                "p/src/in/b.ts",
                "p/src/c.ts",
                "p/a.js",
                "p/a.js.map",
                "p/in/b.mjs",
                "p/in/b.d.ts",
                "p/c.js",
                "p/bin/a.js",
                "p/bin/a.js.map",
            ],
            &["p/a.js", "p/in/b.mjs"],
        );
        check(&["package.json", "src/a.ts", "a.js", "a.d.ts"], &["a.js"]);
        check(&["package.json", "src/v4/a.ts", "v4/package.json", "v4/a.js", "v4/a.d.ts"], &["v4/a.js"]);
    }

    #[test]
    fn typescript_is_a_source_wherever_it_stands_and_a_build_script_is_none() {
        check(&["package.json", "src/build/steps.ts"], &[]);
        check(&["package.json", "vite.config.ts", "dist/index.js"], &[]);
    }
}
