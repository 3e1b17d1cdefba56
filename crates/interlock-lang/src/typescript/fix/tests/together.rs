//! Several requests in one file.

use expect_test::expect;

use interlock_model::Span;

use super::{reads, repair, repaired};
use crate::{
    Repair::{CreateExclusively, ReleaseAlways, ReplaceAtomically},
    Request, Source,
};

const TEXT: &str = r#"import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";

export async function create(path: string) {
  if (existsSync(path)) throw new Error("exists");
  await writeFile(path, "{}");
}

export async function save(path: string, one: string, two: string) {
  await writeFile(path, one);
  await writeFile(`${path}.index`, two);
}
"#;

#[test]
fn names_are_imported_once_and_made_up_apart() {
    let wanted = [
        (CreateExclusively, "writeFile(path, \"{}\")"),
        (ReplaceAtomically, "writeFile(path, \"{}\")"),
        (ReplaceAtomically, "writeFile(path, one)"),
        (ReplaceAtomically, "writeFile(`${path}.index`, two)"),
    ];
    expect![[r#"
        import { existsSync } from "node:fs";
        import { randomUUID } from "node:crypto";
        import { readFile, writeFile, rename, unlink } from "node:fs/promises";

        export async function create(path: string) {
          if (existsSync(path)) throw new Error("exists");
          await writeFile(path, "{}", { flag: "wx" });
        }

        export async function save(path: string, one: string, two: string) {
          const temporary = `${path}.${randomUUID()}.tmp`;
          try {
            await writeFile(temporary, one);
            await rename(temporary, path);
          } catch (error) {
            await unlink(temporary).catch(() => {});
            throw error;
          }
          const target = `${path}.index`;
          const temporary2 = `${target}.${randomUUID()}.tmp`;
          try {
            await writeFile(temporary2, two);
            await rename(temporary2, target);
          } catch (error) {
            await unlink(temporary2).catch(() => {});
            throw error;
          }
        }
    "#]]
    .assert_eq(&repaired("a.ts", TEXT, &wanted).unwrap());
}

/// A text with a bit of everything that is changed.
const MIXED: &str = "import { existsSync, writeFileSync } from 'fs';\r\nimport { access, writeFile as w, open } from 'node:fs/promises';\r\n\
    class Store {\r\n  async save(p, d) {\r\n    const r = await this.m.acquire();\r\n    const x = `a\r\n ${d}`;\r\n    if (!x) {\r\n\
    r();\r\n      return;\r\n    }\r\n    if (existsSync(p)) throw 1;\r\n    await w(p, x, 'utf8');\r\n    await r();\r\n    return x;\r\n  }\r\n\
    sync(p) {\r\n    if (!existsSync(p)) writeFileSync(p, 'é');\r\n    writeFileSync(`${p}.日`, '');\r\n  }\r\n}\r\n";

/// Every stretch of a text that may be a call, wherever it was cut.
fn everything(text: &str) -> Vec<Span> {
    let starts = text.match_indices(['w', 'o', 't', 'e']).map(|(index, _)| index);
    let ends: Vec<usize> = text.match_indices(')').map(|(index, _)| index + 1).collect();
    let pairs = starts.flat_map(|start| {
        let behind = ends.iter().filter(move |end| **end > start).take(2);
        behind.map(move |end| (u32::try_from(start).unwrap(), u32::try_from(*end).unwrap()))
    });
    pairs.map(|(start, end)| Span { start, end, ..Span::default() }).collect()
}

#[test]
fn a_spoiled_text_is_left_alone_or_still_reads() {
    let mut changed = 0;
    let mut check = |text: &str| {
        let spans = everything(text);
        let requests = [CreateExclusively, ReplaceAtomically, ReleaseAlways]
            .map(|repair| Request { repair, spans: spans.clone() });
        let outcome = repair(&Source { path: "a.ts", text }, &requests);
        let after = outcome.apply(text).unwrap_or_else(|| panic!("{text}\n{:#?}", outcome.edits));
        if after != text {
            changed += 1;
            assert!(reads(&Source { path: "a.ts", text: &after }), "{text}\n{after}");
        }
    };
    for (index, c) in MIXED.char_indices() {
        let (before, behind) = MIXED.split_at(index);
        let without = behind.strip_prefix(c).unwrap();
        check(&format!("{before}{without}"));
        check(before);
        check(behind);
        check(&format!("{before}{c}{behind}"));
        check(&format!("{before}\n{behind}"));
    }
    assert!(changed > 500, "{changed} texts were changed");
}
