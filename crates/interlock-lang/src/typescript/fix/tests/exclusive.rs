//! The flag that makes a file or refuses.

use expect_test::{Expect, expect};

use super::{check, left_alone, repaired};
use crate::Repair::CreateExclusively;

const IMPORTS: &str = "import { access, mkdir, open, writeFile } from \"node:fs/promises\";\nimport fs, { existsSync } from \"node:fs\";\n";

/// The lines that are new.
fn adds(body: &str, part: &str, expect: Expect) {
    let text = format!("{IMPORTS}{body}\n");
    let after = repaired("a.ts", &text, &[(CreateExclusively, part)]).unwrap_or_else(|| "left alone".into());
    let changed = after.lines().filter(|line| !text.lines().any(|before| before == *line));
    expect.assert_eq(changed.collect::<Vec<_>>().join("\n").trim());
}

#[test]
fn the_whole_file_keeps_its_form() {
    check(
        CreateExclusively,
        r#"import { access, writeFile } from "node:fs/promises";

export async function createReport(name: string, body: string) {
  const path = `/srv/reports/${name}.md`;
  const taken = await access(path).then(() => true, () => false);
  if (taken) return { isError: true };
  await writeFile(path, body);
  return { isError: false };
}
"#,
        "writeFile(path, body)",
        expect![[r#"
            import { access, writeFile } from "node:fs/promises";

            export async function createReport(name: string, body: string) {
              const path = `/srv/reports/${name}.md`;
              const taken = await access(path).then(() => true, () => false);
              if (taken) return { isError: true };
              await writeFile(path, body, { flag: "wx" });
              return { isError: false };
            }
        "#]],
    );
}

#[test]
fn a_test_that_turns_back_guards_what_follows() {
    adds(
        "async function f(p) {\n if (existsSync(p)) { log(p); throw new Error(p); }\n await writeFile(p, d);\n}",
        "writeFile(p, d)",
        expect![[r#"await writeFile(p, d, { flag: "wx" });"#]],
    );
    adds(
        "async function f(p) {\n if (await pathExists(p)) return;\n await mkdir(path.dirname(p), { recursive: true });\n try {\n await writeFile(p, d, 'utf8');\n } catch {}\n}",
        "writeFile(p, d, 'utf8')",
        expect!["await writeFile(p, d, { encoding: 'utf8', flag: 'wx' });"],
    );
    adds(
        "async function f(p) {\n try {\n await access(p, fs.constants.F_OK);\n return 1;\n } catch {}\n await writeFile(p, d, { mode: 0o600 });\n}",
        "writeFile(p, d, { mode: 0o600 })",
        expect![[r#"await writeFile(p, d, { mode: 0o600, flag: "wx" });"#]],
    );
    adds(
        "async function f(p) {\n try {\n await access(p);\n throw new Error('there');\n } catch (e) { if (e.code !== 'ENOENT') throw e; }\n const h = await open(p, 'w');\n}",
        "open(p, 'w')",
        expect!["const h = await open(p, 'wx');"],
    );
    adds(
        "async function f(p) {\n const free = await access(p).then(() => false).catch(() => true);\n if (!free) return;\n fs.writeFileSync(p, d, {});\n}",
        "fs.writeFileSync(p, d, {})",
        expect![[r#"
            try {
               fs.writeFileSync(p, d, { flag: "wx" });
             } catch (error) {
               if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
             }"#]],
    );
}

#[test]
fn a_write_on_the_way_where_the_file_is_missing_is_guarded() {
    adds(
        "function f(p) {\n if (!fs.existsSync(p)) {\n fs.writeFileSync(p, d);\n }\n}",
        "fs.writeFileSync(p, d)",
        expect![[r#"
            try {
               fs.writeFileSync(p, d, { flag: "wx" });
             } catch (error) {
               if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;"#]],
    );
    adds(
        "async function f(p) {\n if (existsSync(p)) return read(p);\n else await writeFile(p, d);\n}",
        "writeFile(p, d)",
        expect![[r#"else await writeFile(p, d, { flag: "wx" });"#]],
    );
    adds(
        "async function f(p) {\n try { await access(p); }\n catch { await writeFile(p, d); }\n}",
        "writeFile(p, d)",
        expect![[r#"
            catch { await writeFile(p, d, { flag: "wx" }).catch((error) => {
               if (error.code !== "EEXIST") throw error;
             }); }"#]],
    );
    adds(
        "async function f(ps) {\n for (const p of ps) {\n if (existsSync(p)) continue;\n await writeFile(p, d);\n }\n}",
        "writeFile(p, d)",
        expect![[r#"
            await writeFile(p, d, { flag: "wx" }).catch((error) => {
               if (error.code !== "EEXIST") throw error;
             });"#]],
    );
}

#[test]
fn a_write_that_may_replace_a_file_is_left_alone() {
    for body in [
        "async function f(p) { await writeFile(p, d); }",
        "async function f(p) { if (existsSync(p)) { await writeFile(p, d); } }",
        "async function f(p) { if (existsSync(p)) { await backup(); } await writeFile(p, d); }",
        "async function f(p, over) { if (existsSync(p) && !over) return; await writeFile(p, d); }",
        "async function f(p, over) { if (!existsSync(p) || over) { await writeFile(p, d); } }",
        "async function f(p) { if (!existsSync(p)) return; await writeFile(p, d); }",
        "async function f(p, q) { if (existsSync(q)) return; await writeFile(p, d); }",
        "async function f(p) { if (existsSync(p)) return; await copy(template, p); await writeFile(p, d); }",
        "async function f(p) { const there = existsSync(p); await touch(p); if (there) return; await writeFile(p, d); }",
        "async function f(p) { if (existsSync(p)) return; for (const d of ds) await writeFile(p, d); }",
        "async function f(p) { if (existsSync(p)) return; run(async () => { await writeFile(p, d); }); }",
        "async function f(p) { try { await access(p, fs.constants.W_OK); return; } catch {} await writeFile(p, d); }",
        "async function f(p) { try { await access(p); throw 1; } catch {} await writeFile(p, d); }",
        "async function f(p) { let there = existsSync(p); there = false; if (there) return; await writeFile(p, d); }",
        "async function f(p) { const same = await access(p).then(() => true, () => true); if (same) return; await writeFile(p, d); }",
    ] {
        left_alone(CreateExclusively, &format!("{IMPORTS}{body}\n"), "writeFile(p, d)");
    }
    let moved = "async function f(n) { if (existsSync(at(n))) return; n += 1; await writeFile(at(n), d); }";
    left_alone(CreateExclusively, &format!("{IMPORTS}{moved}\n"), "writeFile(at(n), d)");
    adds(
        &moved.replace("n += 1", "n == 1"),
        "writeFile(at(n), d)",
        expect![[r#"
            async function f(n) { if (existsSync(at(n))) return; n == 1; await writeFile(at(n), d, { flag: "wx" }).catch((error) => {
              if (error.code !== "EEXIST") throw error;
            }); }"#]],
    );
}

#[test]
fn flags_and_options_that_say_otherwise_are_left_alone() {
    for call in [
        "writeFile(p, d, { flag: 'a' })",
        "writeFile(p, d, { flag: 'wx' })",
        "writeFile(p, d, { ...o })",
        "writeFile(p, d, o)",
        "open(p, 'r+')",
        "open(p, 'wx')",
        "open(p)",
        "open(p, flags)",
    ] {
        let text = format!("{IMPORTS}async function f(p) {{ if (existsSync(p)) return; await {call}; }}\n");
        left_alone(CreateExclusively, &text, call);
    }
}

#[test]
fn a_file_that_somebody_else_has_made_is_fine_where_one_that_was_there_is() {
    check(
        CreateExclusively,
        r#"import { access, writeFile } from "node:fs/promises";

async function ensureStore(path: string) {
  try {
    await access(path);
  } catch {
    await writeFile(path, "[]");
  }
}
"#,
        "writeFile(path, \"[]\")",
        expect![[r#"
            import { access, writeFile } from "node:fs/promises";

            async function ensureStore(path: string) {
              try {
                await access(path);
              } catch {
                await writeFile(path, "[]", { flag: "wx" }).catch((error) => {
                  if (error.code !== "EEXIST") throw error;
                });
              }
            }
        "#]],
    );
    check(
        CreateExclusively,
        r#"import fs from "fs";

function ensureStore(path: string) {
  if (!fs.existsSync(path)) {
    fs.writeFileSync(
      path,
      JSON.stringify({ notes: [] }),
    );
    console.error("made", path);
  }
  return fs.readFileSync(path);
}
"#,
        "fs.writeFileSync(\n      path,\n      JSON.stringify({ notes: [] }),\n    )",
        expect![[r#"
            import fs from "fs";

            function ensureStore(path: string) {
              if (!fs.existsSync(path)) {
                try {
                  fs.writeFileSync(
                    path,
                    JSON.stringify({ notes: [] }), { flag: "wx" },
                  );
                } catch (error) {
                  if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
                }
                console.error("made", path);
              }
              return fs.readFileSync(path);
            }
        "#]],
    );
}

#[test]
fn who_is_refused_where_a_file_that_was_there_is_refused_is_told() {
    for body in [
        "async function f(p) {\n if (existsSync(p)) return false;\n await writeFile(p, d);\n return true;\n}",
        "async function f(p) {\n if (!existsSync(p)) {\n await writeFile(p, d);\n return 'made';\n }\n return 'there';\n}",
        "async function f(p) {\n if (existsSync(p)) return;\n await writeFile(p, d);\n await announce(p);\n}",
        "async function f(p) {\n if (existsSync(p)) { await append(p); }\n else { await writeFile(p, d); }\n}",
        "async function f(p) {\n try {\n if (!existsSync(p)) { await writeFile(p, d); }\n } catch (e) { if (e.code !== 'EEXIST') throw e; }\n}",
    ] {
        let text = format!("{IMPORTS}{body}\n");
        let after = repaired("a.ts", &text, &[(CreateExclusively, "writeFile(p, d)")]);
        let flagged = text.replace("writeFile(p, d)", "writeFile(p, d, { flag: \"wx\" })");
        assert_eq!(after, Some(flagged), "{body}");
    }
}

#[test]
fn an_open_that_would_be_refused_where_a_file_is_fine_is_left_alone() {
    let text = format!("{IMPORTS}async function f(p) {{ if (!existsSync(p)) {{ await open(p, 'w'); }} }}\n");
    left_alone(CreateExclusively, &text, "open(p, 'w')");
}
