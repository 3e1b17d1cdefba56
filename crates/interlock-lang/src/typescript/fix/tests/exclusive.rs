//! The flag that makes a file or refuses.

use expect_test::{Expect, expect};

use super::{check, left_alone, repaired};
use crate::Repair::CreateExclusively;

const IMPORTS: &str = "import { access, mkdir, open, writeFile } from \"node:fs/promises\";\nimport fs, { existsSync } from \"node:fs\";\n";

/// The line that changed.
fn adds(body: &str, part: &str, expect: Expect) {
    let text = format!("{IMPORTS}{body}\n");
    let after = repaired("a.ts", &text, &[(CreateExclusively, part)]).unwrap_or_else(|| "left alone".into());
    let changed =
        after.lines().zip(text.lines()).filter(|(after, before)| after != before).map(|(after, _)| after);
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
        expect![[r#"fs.writeFileSync(p, d, { flag: "wx" });"#]],
    );
}

#[test]
fn a_write_on_the_way_where_the_file_is_missing_is_guarded() {
    adds(
        "function f(p) {\n if (!fs.existsSync(p)) {\n fs.writeFileSync(p, d);\n }\n}",
        "fs.writeFileSync(p, d)",
        expect![[r#"fs.writeFileSync(p, d, { flag: "wx" });"#]],
    );
    adds(
        "async function f(p) {\n if (existsSync(p)) return read(p);\n else await writeFile(p, d);\n}",
        "writeFile(p, d)",
        expect![[r#"else await writeFile(p, d, { flag: "wx" });"#]],
    );
    adds(
        "async function f(p) {\n try { await access(p); }\n catch { await writeFile(p, d); }\n}",
        "writeFile(p, d)",
        expect![[r#"catch { await writeFile(p, d, { flag: "wx" }); }"#]],
    );
    adds(
        "async function f(ps) {\n for (const p of ps) {\n if (existsSync(p)) continue;\n await writeFile(p, d);\n }\n}",
        "writeFile(p, d)",
        expect![[r#"await writeFile(p, d, { flag: "wx" });"#]],
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
        expect![[
            r#"async function f(n) { if (existsSync(at(n))) return; n == 1; await writeFile(at(n), d, { flag: "wx" }); }"#
        ]],
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
