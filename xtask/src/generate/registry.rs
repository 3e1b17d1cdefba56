//! Registries: lists of what each module of a folder defines, so that adding one is one folder and one line. The `mod` line is
//! the one place where a module is named; the list is derived from it.

use anyhow::{Context, Result, bail, ensure};

use crate::root::Root;

/// A list that is derived from module lines.
pub(crate) struct Registry {
    /// The file with the module lines, between two marker lines.
    pub(crate) source: &'static str,
    pub(crate) begin: &'static str,
    pub(crate) end: &'static str,
    /// The file to write, a module beside the source.
    pub(crate) target: &'static str,
    /// What the list holds, as a path to import.
    pub(crate) of: &'static str,
    /// What each module calls its own entry.
    pub(crate) constant: &'static str,
    /// How the modules are reached from the target.
    pub(crate) prefix: &'static str,
    /// Who may see the list.
    pub(crate) visibility: &'static str,
    pub(crate) doc: &'static str,
}

/// The widest line that rustfmt leaves on one line here; `max_width` in `rustfmt.toml`.
const MAX_WIDTH: usize = 110;

pub(crate) const HAZARDS: Registry = Registry {
    source: "crates/interlock-hazards/src/lib.rs",
    begin: "// catalogue: begin",
    end: "// catalogue: end",
    target: "crates/interlock-hazards/src/all.rs",
    of: "crate::Hazard",
    constant: "HAZARD",
    prefix: "crate",
    visibility: "pub",
    doc: "Every hazard, in the order of the modules.",
};

pub(crate) const VERBS: Registry = Registry {
    source: "crates/interlock/src/verbs/mod.rs",
    begin: "// verbs: begin",
    end: "// verbs: end",
    target: "crates/interlock/src/verbs/all.rs",
    of: "super::Verb",
    constant: "VERB",
    prefix: "super",
    visibility: "pub(super)",
    doc: "Every verb, in the order of the modules.",
};

const BACKENDS: Registry = Registry {
    source: "crates/interlock-store/src/lib.rs",
    begin: "// backends: begin",
    end: "// backends: end",
    target: "crates/interlock-store/src/all.rs",
    of: "crate::Backend",
    constant: "BACKEND",
    prefix: "crate",
    visibility: "pub(crate)",
    doc: "Every backend, in the order of the modules.",
};

const LANGUAGES: Registry = Registry {
    source: "crates/interlock-lang/src/lib.rs",
    begin: "// languages: begin",
    end: "// languages: end",
    target: "crates/interlock-lang/src/all.rs",
    of: "crate::Language",
    constant: "LANGUAGE",
    prefix: "crate",
    visibility: "pub",
    doc: "Every language, in the order of the modules.",
};

/// The registries. Adding one is one entry.
pub(super) const REGISTRIES: &[Registry] = &[HAZARDS, VERBS, BACKENDS, LANGUAGES];

impl Registry {
    /// The text that the target should have.
    pub(crate) fn derive(&self, root: &Root) -> Result<String> {
        Ok(self.text(&self.modules(&root.read(self.source)?)?))
    }

    /// The names of the modules, in their order.
    pub(crate) fn names<'a>(&self, source: &'a str) -> Result<Vec<&'a str>> {
        Ok(self.modules(source)?.into_iter().map(|module| module.name).collect())
    }

    /// The source with one more module line, put where rustfmt would move it: neighbouring module lines are sorted.
    pub(crate) fn with_module(&self, source: &str, line: &str) -> Result<String> {
        let name = module_of(line).with_context(|| format!("`{line}` is no module line"))?;
        let (begin, end) = self.markers(source)?;
        let mut lines: Vec<&str> = source.lines().collect();
        let later = |line: &&str| module_of(line).is_some_and(|other| other > name);
        let at =
            lines.iter().take(end).skip(begin + 1).position(later).map_or(end, |index| begin + 1 + index);
        lines.insert(at, line);
        Ok(lines.join("\n") + "\n")
    }

    /// The modules between the markers, in their order. One behind a feature has the line `#[cfg(feature = "…")]` before its own.
    fn modules<'a>(&self, source: &'a str) -> Result<Vec<Module<'a>>> {
        let (begin, end) = self.markers(source)?;
        let mut modules = Vec::new();
        let mut feature = None;
        for (index, line) in source.lines().enumerate().take(end).skip(begin + 1) {
            match module_of(line) {
                Some(name) => modules.push(Module { name, feature: feature.take() }),
                None if line.trim().starts_with("#[cfg(feature = ") => feature = Some(line.trim()),
                None if line.trim().is_empty() || line.trim().starts_with("//") => {}
                None => bail!(
                    "{}:{}: `{}` is no module line; only `mod NAME;` lines belong between `{}` and `{}`",
                    self.source,
                    index + 1,
                    line.trim(),
                    self.begin,
                    self.end
                ),
            }
        }
        Ok(modules)
    }

    /// The indices of the marker lines.
    fn markers(&self, source: &str) -> Result<(usize, usize)> {
        let find = |marker: &str| {
            source.lines().position(|line| line.trim() == marker).with_context(|| {
                format!("{} has no line `{marker}`; the module lines stand between two such", self.source)
            })
        };
        let (begin, end) = (find(self.begin)?, find(self.end)?);
        ensure!(begin < end, "{}: `{}` stands after `{}`", self.source, self.begin, self.end);
        Ok((begin, end))
    }

    fn text(&self, modules: &[Module<'_>]) -> String {
        let file = self.source.rsplit('/').next().unwrap_or(self.source);
        let item = self.of.rsplit("::").next().unwrap_or(self.of);
        let entry = |Module { name, feature }: &Module<'_>| Entry {
            text: format!("{}::{name}::{}", self.prefix, self.constant),
            feature: feature.map(str::to_owned),
        };
        let entries: Vec<Entry> = modules.iter().map(entry).collect();
        let list = laid_out(&format!("{} static ALL: &[{item}] =", self.visibility), &entries);
        format!(
            "//! Written by `cargo xtask gen` from the module lines of `{file}`; do not edit.\n\n\
             use {};\n\n/// {}\n{list}\n",
            self.of, self.doc
        )
    }
}

/// A module line.
#[derive(Debug, PartialEq, Eq)]
struct Module<'a> {
    name: &'a str,
    /// The attribute that leaves it out, if there is one.
    feature: Option<&'a str>,
}

/// An entry of the list.
struct Entry {
    text: String,
    feature: Option<String>,
}

/// The list as rustfmt would leave it: in one line if that fits, else with the entries in a line of their own, else with one
/// line for each. What has an attribute never shares a line.
fn laid_out(head: &str, entries: &[Entry]) -> String {
    let texts: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
    let joined = format!("&[{}];", texts.join(", "));
    let in_one_line = format!("{head} {joined}");
    let below = format!("    {joined}");
    let has_attribute = entries.iter().any(|entry| entry.feature.is_some());
    if !has_attribute && in_one_line.chars().count() <= MAX_WIDTH {
        in_one_line
    } else if !has_attribute && below.chars().count() <= MAX_WIDTH {
        format!("{head}\n{below}")
    } else {
        let line = |Entry { text, feature }: &Entry| {
            let attribute = feature.as_ref().map(|feature| format!("    {feature}\n")).unwrap_or_default();
            format!("{attribute}    {text},\n")
        };
        let entries: String = entries.iter().map(line).collect();
        format!("{head} &[\n{entries}];")
    }
}

/// The name that a module line gives.
fn module_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    line.strip_prefix("mod ")?.strip_suffix(';').map(str::trim)
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        process::{Command, Stdio},
    };

    use super::*;

    const SOURCE: &str = "//! All.\nmod all;\n// catalogue: begin\npub mod alpha;\n// A word.\n\npub mod gamma;\n\
                          // catalogue: end\npub mod outside;\n";

    fn plain<'a>(names: &[&'a str]) -> Vec<Module<'a>> {
        names.iter().map(|name| Module { name, feature: None }).collect()
    }

    #[test]
    fn what_a_feature_leaves_out_is_left_out_of_the_list() {
        let source =
            "// backends: begin\npub mod a;\n#[cfg(feature = \"b\")]\npub mod b;\n// backends: end\n";
        let text = BACKENDS.text(&BACKENDS.modules(source).unwrap());
        let list = "pub(crate) static ALL: &[Backend] = &[\n    crate::a::BACKEND,\n    #[cfg(feature = \"b\")]\n    \
                    crate::b::BACKEND,\n];\n";
        assert!(text.ends_with(list), "{text}");
        rustfmt_agrees(&Root::find(None, None).unwrap(), &text);
    }

    #[test]
    fn modules_are_those_between_the_markers_in_their_order() {
        assert_eq!(HAZARDS.modules(SOURCE).unwrap(), plain(&["alpha", "gamma"]));
        assert_eq!(
            VERBS.modules("// verbs: begin\nmod scan;\npub mod explain;\n// verbs: end\n").unwrap(),
            plain(&["scan", "explain"])
        );
    }

    #[test]
    fn a_line_that_is_no_module_line_and_a_marker_that_is_not_there_are_named() {
        let error = HAZARDS.modules("// catalogue: begin\n#[cfg(x)]\n// catalogue: end\n").unwrap_err();
        assert!(
            error.to_string().starts_with("crates/interlock-hazards/src/lib.rs:2: `#[cfg(x)]` is no module"),
            "{error}"
        );
        let error = HAZARDS.modules("// catalogue: begin\n").unwrap_err();
        assert!(error.to_string().contains("has no line `// catalogue: end`"), "{error}");
        let error = HAZARDS.modules("// catalogue: end\n// catalogue: begin\n").unwrap_err();
        assert!(error.to_string().contains("stands after"), "{error}");
    }

    #[test]
    fn a_long_list_has_one_entry_a_line() {
        let modules = ["auth_check_then_act", "db_check_then_act", "file_check_then_act", "lost_update"];
        let expected = "\
//! Written by `cargo xtask gen` from the module lines of `lib.rs`; do not edit.

use crate::Hazard;

/// Every hazard, in the order of the modules.
pub static ALL: &[Hazard] = &[
    crate::auth_check_then_act::HAZARD,
    crate::db_check_then_act::HAZARD,
    crate::file_check_then_act::HAZARD,
    crate::lost_update::HAZARD,
];
";
        assert_eq!(HAZARDS.text(&plain(&modules)), expected);
    }

    #[test]
    fn a_short_list_stands_in_one_line() {
        let expected = "\
//! Written by `cargo xtask gen` from the module lines of `mod.rs`; do not edit.

use super::Verb;

/// Every verb, in the order of the modules.
pub(super) static ALL: &[Verb] = &[super::explain::VERB];
";
        assert_eq!(VERBS.text(&plain(&["explain"])), expected);
    }

    #[test]
    fn a_new_line_goes_where_rustfmt_wants_it() {
        let with = |line| HAZARDS.with_module(SOURCE, line).unwrap();
        assert!(with("pub mod beta;").contains("\n\npub mod beta;\npub mod gamma;\n"));
        assert!(with("pub mod omega;").contains("pub mod gamma;\npub mod omega;\n// catalogue: end\n"));
    }

    #[test]
    fn rustfmt_finds_nothing_to_do_at_any_length() {
        let root = Root::find(None, None).unwrap();
        // The lists grow a character at a time through both widths at which the layout changes.
        let mut layouts = std::collections::BTreeSet::new();
        for length in 20..70 {
            let text = HAZARDS.text(&plain(&["x", &"y".repeat(length), "z"]));
            rustfmt_agrees(&root, &text);
            layouts.insert(text.lines().count());
        }
        assert_eq!(layouts.len(), 3, "each layout was tried");
        rustfmt_agrees(&root, &VERBS.text(&plain(&[])));
    }

    /// Compares texts, because `--check` ends well on standard input whatever it finds.
    fn rustfmt_agrees(root: &Root, text: &str) {
        let mut rustfmt = Command::new("rustfmt")
            .arg("--config-path")
            .arg(root.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        rustfmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = rustfmt.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    }
}
