//! Temporary files.

use expect_test::{Expect, expect};

use super::{at, check, left_alone, repaired};
use crate::{Repair::ReplaceAtomically, Request, Source, typescript::fix::repair};

fn replaces(text: &str, part: &str, expect: Expect) {
    check(ReplaceAtomically, text, part, expect);
}

#[test]
fn a_named_import_gets_its_siblings() {
    replaces(
        r#"import { readFile, writeFile } from "node:fs/promises";

export async function save(path: string, notes: Note[]) {
  // Keep them all.
  await writeFile(path, JSON.stringify(notes, null, 2), "utf8");
}
"#,
        "writeFile(path, JSON.stringify(notes, null, 2), \"utf8\")",
        expect![[r#"
            import { randomUUID } from "node:crypto";
            import { readFile, writeFile, rename, unlink } from "node:fs/promises";

            export async function save(path: string, notes: Note[]) {
              // Keep them all.
              const temporary = `${path}.${randomUUID()}.tmp`;
              try {
                await writeFile(temporary, JSON.stringify(notes, null, 2), "utf8");
                await rename(temporary, path);
              } catch (error) {
                await unlink(temporary).catch(() => {});
                throw error;
              }
            }
        "#]],
    );
}

#[test]
fn a_namespace_is_used_as_it_stands() {
    replaces(
        r#"import * as fs from 'fs'
import crypto from 'crypto'

class Store {
    async save(data) {
        await fs.promises.writeFile(this.#path, data)
        fs.writeFileSync(this.path, data)
    }
}
"#,
        "fs.promises.writeFile(this.#path, data)",
        expect![[r#"
            import * as fs from 'fs'
            import crypto from 'crypto'

            class Store {
                async save(data) {
                    const temporary = `${this.#path}.${crypto.randomUUID()}.tmp`
                    try {
                        await fs.promises.writeFile(temporary, data)
                        await fs.promises.rename(temporary, this.#path)
                    } catch (error) {
                        await fs.promises.unlink(temporary).catch(() => {})
                        throw error
                    }
                    fs.writeFileSync(this.path, data)
                }
            }
        "#]],
    );
}

#[test]
fn a_synchronous_write_stays_synchronous() {
    replaces(
        "const fs = require(\"fs\");\n\nfunction save(data) {\n\tif (data) fs.writeFileSync(\"./notes.json\", data);\n}\n",
        "fs.writeFileSync(\"./notes.json\", data)",
        expect![[r#"
            const { randomUUID } = require("crypto");
            const fs = require("fs");

            function save(data) {
            	if (data) {
            		const temporary = `./notes.json.${randomUUID()}.tmp`;
            		try {
            			fs.writeFileSync(temporary, data);
            			fs.renameSync(temporary, "./notes.json");
            		} catch (error) {
            			fs.rmSync(temporary, { force: true });
            			throw error;
            		}
            	}
            }
        "#]],
    );
}

#[test]
fn names_in_a_list_of_lines_get_lines_of_their_own() {
    replaces(
        r#"import {
  readFile,
  writeFile as write,
} from "fs/promises";
import { join } from "path";

const temporary = 1;
export const save = async (name: string, body: string) => {
  if (body) {
    return write(join("/srv", name), body);
  }
};
"#,
        "write(join(\"/srv\", name), body)",
        expect![[r#"
            import { randomUUID } from "crypto";
            import {
              readFile,
              writeFile as write,
              rename,
              unlink,
            } from "fs/promises";
            import { join } from "path";

            const temporary = 1;
            export const save = async (name: string, body: string) => {
              if (body) {
                const target = join("/srv", name);
                const temporary2 = `${target}.${randomUUID()}.tmp`;
                try {
                  await write(temporary2, body);
                  await rename(temporary2, target);
                } catch (error) {
                  await unlink(temporary2).catch(() => {});
                  throw error;
                }
                return;
              }
            };
        "#]],
    );
}

#[test]
fn a_destructured_require_gets_its_siblings() {
    replaces(
        "const { writeFile, unlink } = require('node:fs/promises')\nasync function save(file, text) {\n  await writeFile(file, text, { mode: 0o600 })\n}\n",
        "writeFile(file, text, { mode: 0o600 })",
        expect![[r#"
            const { randomUUID } = require('node:crypto')
            const { writeFile, unlink, rename } = require('node:fs/promises')
            async function save(file, text) {
              const temporary = `${file}.${randomUUID()}.tmp`
              try {
                await writeFile(temporary, text, { mode: 0o600 })
                await rename(temporary, file)
              } catch (error) {
                await unlink(temporary).catch(() => {})
                throw error
              }
            }
        "#]],
    );
}

#[test]
fn data_on_many_lines_moves_in_and_templates_do_not() {
    replaces(
        "import { promises as fs } from \"fs\";\nasync function save(file: string) {\n  await fs.writeFile(\n    file,\n    [\n      `a\n  b`,\n      c,\n    ].join(),\n  );\n}\n",
        "fs.writeFile(\n    file,\n    [\n      `a\n  b`,\n      c,\n    ].join(),\n  )",
        expect![[r#"
            import { randomUUID } from "crypto";
            import { promises as fs } from "fs";
            async function save(file: string) {
              const temporary = `${file}.${randomUUID()}.tmp`;
              try {
                await fs.writeFile(
                  temporary,
                  [
                    `a
              b`,
                    c,
                  ].join(),
                );
                await fs.rename(temporary, file);
              } catch (error) {
                await fs.unlink(temporary).catch(() => {});
                throw error;
              }
            }
        "#]],
    );
}

#[test]
fn windows_line_ends_are_kept() {
    let text = "import fs from \"node:fs/promises\";\r\nasync function save(file) {\r\n  await fs.writeFile(file, \"x\");\r\n}\r\n";
    let after = repaired("a.js", text, &[(ReplaceAtomically, "fs.writeFile(file, \"x\")")]).unwrap();
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    assert!(after.lines().count() > 10);
}

#[test]
fn what_is_not_plain_is_left_alone() {
    let named = "import { writeFile } from \"fs/promises\";\nimport { open } from \"fs/promises\";\n";
    for body in [
        // Not waited for, or kept.
        "async function f(p) { writeFile(p, d); }",
        "async function f(p) { const done = writeFile(p, d); await done; }",
        "async function f(p) { await Promise.all([writeFile(p, d)]); }",
        "async function f(p) { await writeFile(p, d).catch(log); }",
        "const f = async (p) => writeFile(p, d);",
        "function f(p) { return writeFile(p, d); }",
        "for (const p of ps) await writeFile(p, d);",
        // Flags, and options that cannot be seen.
        "async function f(p) { await writeFile(p, d, { flag: \"a\" }); }",
        "async function f(p) { await writeFile(p, d, { ...options }); }",
        "async function f(p) { await writeFile(p, d, options); }",
        "async function f(...all) { await writeFile(...all); }",
        // No name of a file.
        "async function f(p: URL) { await writeFile(p, d); }",
        "async function f() { const p = new URL(\"x\", base); await writeFile(p, d); }",
        "async function f() { const p = await open(\"x\"); await writeFile(p, d); }",
        "async function f(fd) { await writeFile(fd, d); }",
        "async function f() { await writeFile(new URL(\"x\", base), d); }",
        // A temporary file already.
        "async function f(p) { await writeFile(p, d); await rename(p, q); }",
        "async function f(p) { try { await writeFile(p, d); } finally { x(); } await rename(p, q); }",
        // The name that would be needed is taken.
        "async function f(p) { const rename = 1; await writeFile(p, d); }",
    ] {
        let text = format!("{named}{body}\n");
        left_alone(ReplaceAtomically, &text, call(body));
    }
}

/// The call of `writeFile` in a text, up to the parenthesis that closes it.
fn call(text: &str) -> &str {
    let part = text.find("writeFile(").and_then(|index| text.get(index..)).unwrap();
    let mut depth = 0;
    let end = part.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ')' && depth == 0
    });
    end.and_then(|end| part.get(..=end)).unwrap()
}

#[test]
fn what_is_no_function_of_files_is_left_alone() {
    for text in [
        "import { writeFile } from \"fs\";\nasync function f(p) { await writeFile(p, d); }\n",
        "import { writeFile } from \"./mine\";\nasync function f(p) { await writeFile(p, d); }\n",
        "async function f(p) { await writeFile(p, d); }\n",
    ] {
        left_alone(ReplaceAtomically, text, "writeFile(p, d)");
    }
}

#[test]
fn a_text_that_does_not_read_and_a_place_that_is_not_there_change_nothing() {
    let good = "import { writeFile } from \"fs/promises\";\nasync function f(p) { await writeFile(p, d); }\n";
    let span = at(good, "writeFile(p, d)");
    let asked = |text: &str, span| {
        repair(&Source { path: "a.ts", text }, &[Request { repair: ReplaceAtomically, spans: vec![span] }])
            .done
            .len()
    };
    assert_eq!(asked(good, span), 1);
    assert_eq!(asked(&format!("{good}}}"), span), 0);
    assert_eq!(asked(good, interlock_model::Span { start: u32::MAX, end: u32::MAX, ..span }), 0);
    assert_eq!(asked("", span), 0);
    // The scan cuts out what nests too deep and finds things in the rest, but only a whole text is changed.
    let [open, close] = ["(", ")"].map(|bracket| bracket.repeat(100_000));
    assert_eq!(asked(&format!("{good}f{open}{close};\n"), span), 0);
}

#[test]
fn a_name_that_is_missing_joins_those_that_come_from_the_same_module() {
    check(
        ReplaceAtomically,
        r#"import { randomBytes } from "crypto";
import { writeFile } from "node:fs/promises";

export async function save(path: string, body: string) {
  await writeFile(path, body + randomBytes(4));
}
"#,
        "writeFile(path, body + randomBytes(4))",
        expect![[r#"
            import { randomBytes, randomUUID } from "crypto";
            import { writeFile, rename, unlink } from "node:fs/promises";

            export async function save(path: string, body: string) {
              const temporary = `${path}.${randomUUID()}.tmp`;
              try {
                await writeFile(temporary, body + randomBytes(4));
                await rename(temporary, path);
              } catch (error) {
                await unlink(temporary).catch(() => {});
                throw error;
              }
            }
        "#]],
    );
}
