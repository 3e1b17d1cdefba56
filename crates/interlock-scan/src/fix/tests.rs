//! From spots to files, with the real front end's repairs.

use std::fs;

use expect_test::expect;
use interlock_lang::{Frontend, Layout, Module, Repaired, Request, Semantics, Source, Tables, typescript};
use interlock_model::{FileId, HazardId, Span};

use super::{ApplyError, Fix, Spot, plan};

/// Repairs as TypeScript does, or as badly as it can.
struct Language {
    bad: bool,
}

impl Frontend for Language {
    fn name(&self) -> &'static str {
        "TypeScript"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ts"]
    }

    fn settings(&self) -> &'static [&'static str] {
        &[]
    }

    fn effects(&self) -> &'static str {
        ""
    }

    fn module(&self, _: &Source<'_>) -> Module {
        Module::default()
    }

    fn tables(&self) -> &'static Tables {
        typescript::LANGUAGE.tables()
    }

    fn semantics(&self) -> &'static Semantics {
        typescript::LANGUAGE.semantics()
    }

    fn layout(&self, modules: &[Module], settings: &[(String, String)]) -> Layout {
        typescript::LANGUAGE.layout(modules, settings)
    }

    fn repair(&self, source: &Source<'_>, requests: &[Request]) -> Repaired {
        let mut repaired = typescript::fix::repair(source, requests);
        if self.bad {
            repaired.edits.iter_mut().for_each(|edit| edit.text.push('('));
        }
        repaired
    }

    fn reads(&self, source: &Source<'_>) -> bool {
        typescript::fix::reads(source)
    }
}

const TEXT: &str = r#"import { existsSync, writeFileSync } from "node:fs";

/** Makes a report. */
export function create(path: string, body: string) {
  if (existsSync(path)) throw new Error("exists");
  writeFileSync(path, body);
}
"#;

fn span(part: &str) -> Span {
    let start = u32::try_from(TEXT.find(part).unwrap()).unwrap();
    Span { start, end: start + u32::try_from(part.len()).unwrap(), ..Span::default() }
}

fn spots() -> Vec<Spot> {
    let files = ["src/a.ts".into()];
    let spot = |hazard: &str, parts: &[&str]| {
        Spot::of(&hazard.parse().unwrap(), parts.iter().map(|part| span(part)), &files)
    };
    let replace = spot("non-atomic-file-replace", &["writeFileSync(path, body)"]);
    let create = spot("file-check-then-act", &["existsSync(path)", "writeFileSync(path, body)"]);
    [replace, create].concat()
}

fn text(file: &str) -> Option<String> {
    (file == "src/a.ts").then(|| TEXT.to_owned())
}

fn fixed() -> Fix {
    plan(&spots(), &text, &[&Language { bad: false }]).pop().unwrap()
}

#[test]
fn a_fix_is_shown_as_a_diff() {
    expect![[r#"
        --- a/src/a.ts
        +++ b/src/a.ts
        @@ -3,5 +3,5 @@
         /** Makes a report. */
         export function create(path: string, body: string) {
           if (existsSync(path)) throw new Error("exists");
        -  writeFileSync(path, body);
        +  writeFileSync(path, body, { flag: "wx" });
         }
    "#]]
    .assert_eq(&fixed().diff());
    assert_eq!(fixed().hazards, [HazardId::from_static("file-check-then-act")]);
}

#[test]
fn the_order_of_the_findings_makes_no_difference() {
    let mut spots = spots();
    spots.reverse();
    assert_eq!(plan(&spots, &text, &[&Language { bad: false }]), [fixed()]);
}

#[test]
fn a_change_after_which_the_file_does_not_read_is_not_made() {
    assert_eq!(plan(&spots(), &text, &[&Language { bad: true }]), []);
}

#[test]
fn what_has_no_text_no_language_or_no_repair_stays() {
    let good = Language { bad: false };
    assert_eq!(plan(&spots(), &|_| None, &[&good]), []);
    assert_eq!(plan(&spots(), &text, &[]), []);
    let other = HazardId::from_static("lost-update");
    assert_eq!(Spot::of(&other, [span("writeFileSync(path, body)")], &["src/a.ts".into()]), []);
    let nowhere = Span { file: FileId(7), ..span("writeFileSync(path, body)") };
    assert_eq!(Spot::of(&HazardId::from_static("file-check-then-act"), [nowhere], &["src/a.ts".into()]), []);
}

#[test]
fn a_fix_is_written_only_over_the_text_that_was_scanned() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("src")).unwrap();
    let path = root.path().join("src/a.ts");
    assert!(matches!(fixed().apply(root.path()), Err(ApplyError::Read { .. })));
    for mark in ["", "\u{feff}"] {
        fs::write(&path, format!("{mark}{TEXT}")).unwrap();
        fixed().apply(root.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{mark}{}", fixed().after));
        assert!(matches!(fixed().apply(root.path()), Err(ApplyError::Changed(_))));
    }
    // What was decoded to be scanned would be written back in another coding than it says it is in.
    fs::write(&path, b"# coding: latin-1\nx = '\xe9'").unwrap();
    assert!(matches!(fixed().apply(root.path()), Err(ApplyError::Coding(_))));
    assert_eq!(fs::read_dir(root.path().join("src")).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_tree_is_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.ts"), TEXT).unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("src")).unwrap();
    assert!(matches!(fixed().apply(root.path()), Err(ApplyError::Outside(_))));
    assert_eq!(fs::read_to_string(outside.path().join("a.ts")).unwrap(), TEXT);
}
