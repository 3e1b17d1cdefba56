//! Functions that only make a name.

use expect_test::expect;

use super::check_function;

#[test]
fn paths_are_put_together() {
    check_function(
        r#"
        //- a.ts
        import path from "node:path";
        import { join, dirname } from "path";
        import os, { tmpdir } from "os";
        import { randomUUID, randomBytes } from "crypto";
        import { fileURLToPath } from "url";
        const HERE = dirname(fileURLToPath(import.meta.url));
        export function work(dir, name) {
          const file = path.join(dir, "data", `${name}.json`);
          const folder = path.dirname(file);
          const temp = join(os.tmpdir(), randomUUID());
          const fixed = `${file}.${process.pid}.tmp`;
          const time = `${file}.${Date.now()}`;
          const bytes = file + randomBytes(6).toString("hex");
          const here = path.resolve(process.cwd(), "x");
          return [folder, temp, fixed, time, bytes, here, tmpdir()];
        }
        "#,
        "work",
        &expect![[r#"
            7     fn work(dir, name)
            8       file = dir + "/" + "data" + "/" + name + ".json" from dir, name
            9       folder = parent(file) from file
            10      tmpdir = tempdir
            10      randomUUID = random
            10      temp = tmpdir + "/" + randomUUID from tmpdir, randomUUID
            11      fixed = file + "." + pid + ".tmp" from file
            12      now = time
            12      time = file + "." + now from file, now
            13      randomBytes = random
            13      toString = randomBytes from randomBytes
            13      bytes = derived from file, toString
            14      cwd = ::process.cwd
            14      here = cwd + "/" + "x" from cwd
            15      tmpdir.2 = tempdir
            15      return folder, temp, fixed, time, bytes, here, tmpdir.2
        "#]],
    );
}

#[test]
fn what_only_computes_leaves_nothing_but_what_it_depends_on() {
    check_function(
        r#"
        //- a.ts
        export function work(text, id) {
          const data = JSON.parse(text);
          const key = String(id).trim();
          const upper = text.toUpperCase();
          console.log(upper);
          return JSON.stringify({ data, key, at: new Date().toISOString() });
        }
        "#,
        "work",
        &expect![[r#"
            1     fn work(text, id)
            2       data = derived from text
            3       key = id from id
            4       upper = derived from text
            6       Date = time
            6       toISOString = Date from Date
            6       arg = derived from data, key, toISOString
            6       stringify = derived from data, key, toISOString
            6       return stringify
        "#]],
    );
}
