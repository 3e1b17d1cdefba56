//! Functions in objects, functions handed around, and one of several by name.

use expect_test::expect;

use super::check_function;

#[test]
fn functions_in_an_object_are_found_from_other_files() {
    check_function(
        r#"
        //- storage.ts
        function list() {}
        export const storage = { async load() {}, save: async (x) => x, list, nested: { deep() {} } };
        //- a.ts
        import { storage } from "./storage";
        import * as all from "./storage";
        export async function work() {
          await storage.load();
          await all.storage.save(1);
          storage.list();
          storage.nested.deep();
        }
        "#,
        "work",
        &expect![[r#"
            3     fn work(), async
            4       load = call load() on ::storage.ts::storage
            4       suspend
            5       save = call save("1") on ::storage.ts::storage
            5       suspend
            6       call list() on ::storage.ts::storage, not awaited
            7       call deep() on ::storage.ts::storage.nested, not awaited
        "#]],
    );
}

#[test]
fn closures_of_one_factory_agree_on_what_they_share() {
    check_function(
        r#"
        //- store.ts
        export function createStore(file: string) {
          const cache = new Map();
          return {
            async load() { return cache.get(file); },
            async save(x) { cache.set(file, x); },
          };
        }
        //- a.ts
        import { createStore } from "./store";
        const store = createStore("x.json");
        export async function work(x) {
          const old = await store.load();
          await store.save(old + x);
        }
        "#,
        "work",
        &expect![[r#"
            3     fn work(x), async
            4       old = call fn load with ::store.ts::1.1, ::store.ts::1.0() on ::a.ts::store
            4       suspend
            5       arg = derived from old, x
            5       save = call fn save with ::store.ts::1.1, ::store.ts::1.0(arg) on ::a.ts::store
            5       suspend
        "#]],
    );
}

#[test]
fn one_of_several_functions_by_key_is_a_chain_of_checks() {
    check_function(
        r#"
        //- a.ts
        async function create(x) {}
        const handlers = { create, remove: async (x) => {} };
        export async function work(name, x) {
          return await handlers[name](x);
        }
        "#,
        "work",
        &expect![[r#"
            3     fn work(name, x), async
            4       check name is "create"
                    then
            4         result.2 = call create(x) on ::a.ts::handlers
                    else
            4         check name is "remove"
                      then
            4           result = call remove(x) on ::a.ts::handlers
            4       handlers = derived from result.2, result
            4       suspend
            4       return handlers
        "#]],
    );
}

#[test]
fn a_method_of_one_of_several_objects_is_one_of_their_methods() {
    check_function(
        r#"
        //- a.ts
        import { readFile } from "fs/promises";
        const text = { read: async (path) => readFile(path) };
        const json = { async read(path) { return JSON.parse(await readFile(path)); } };
        const formats: Record<string, { read(path: string): Promise<unknown> }> = { text, json };
        function formatOf(path) {
          const format = formats[path.split(".").pop()];
          if (!format) throw new Error("unknown");
          return format;
        }
        export async function load(path) {
          return await formatOf(path).read(path);
        }
        "#,
        "load",
        &expect![[r#"
            10    fn load(path), async
            11      formatOf = call formatOf(path), not awaited
            11      check
                    then
            11        result.2 = call read(path) on formatOf
                    else
            11        result = call read(path) on formatOf
            11      read = derived from result.2, result
            11      suspend
            11      return read
        "#]],
    );
    check_function(
        r#"
        //- a.ts
        class Text { async read(path) { return path; } }
        class Json { async read(path) { return path; } }
        const formats = new Map();
        formats.set("text", new Text());
        formats.set("json", new Json());
        export async function load(kind, path) {
          return await formats.get(kind).read(path);
        }
        "#,
        "load",
        &expect![[r#"
            6     fn load(kind, path), async
            7       get = read shared ::a.ts::formats[kind]
            7       read = call Text.read(path) on ::a.ts::formats[kind]
            7       suspend
            7       return read
        "#]],
    );
}

#[test]
fn what_is_kept_or_else_made_is_what_it_is_made_as() {
    check_function(
        r#"
        //- db.ts
        import { PrismaClient } from "@prisma/client";
        const kept = globalThis as unknown as { prisma?: PrismaClient };
        export const db = kept.prisma ?? new PrismaClient();
        if (process.env.NODE_ENV !== "production") kept.prisma = db;
        //- a.ts
        import { db } from "./db.js";
        export async function load(id) {
          return await db.job.findUnique({ where: { id } });
        }
        "#,
        "load",
        &expect![[r#"
            2     fn load(id), async
            3       arg = derived from id
            3       findUnique = read row "job"[id] by its key via pool ::db.ts::db
            3       suspend
            3       return findUnique
        "#]],
    );
}

#[test]
fn call_apply_and_bind_lead_to_the_function() {
    check_function(
        r#"
        //- a.ts
        function act(x) {}
        class Server {
          handle(x) {}
          start(on) {
            act.call(this, 1);
            act.apply(this, [1]);
            on("x", this.handle.bind(this));
            on("y", act);
          }
        }
        "#,
        "Server.start",
        &expect![[r#"
            4     fn Server.start(on)
            5       call act("1") on this, not awaited
            6       call act() on this, not awaited
            7       bind = derived
            7       spawn on event
            7         bind.2 = call Server.handle()
            8       spawn on event
            8         act = call act()
        "#]],
    );
}

#[test]
fn what_a_parameter_holds_is_called_back() {
    check_function(
        r#"
        //- a.ts
        export async function withRetry(task) { return await task(1); }
        "#,
        "withRetry",
        &expect![[r#"
            1     fn withRetry(task), async
            1       task.2 = call task("1")
            1       suspend
            1       return task.2
        "#]],
    );
}

#[test]
fn what_a_function_returns_in_an_object_is_found_by_its_name() {
    check_function(
        r#"
        //- a.ts
        class Settings { keep(it) { return it; } }
        class Labels { constructor(private settings: Settings) {} add(label) { return label; } }
        function repos() {
          const settings = new Settings();
          const labels = new Labels(settings);
          return { settings, labels };
        }
        export function work(label) {
          const { labels } = repos();
          labels.add(label);
        }
        "#,
        "work",
        &expect![[r#"
            8     fn work(label)
            9       repos = call repos(), not awaited
            9       labels = repos.labels from repos
            10      call Labels.add(label) on repos.labels, not awaited
        "#]],
    );
}

#[test]
fn a_method_that_is_taken_from_its_object_is_still_its_own() {
    check_function(
        r#"
        //- a.ts
        import sqlite3 from "sqlite3";
        import { promisify } from "util";
        const db = new sqlite3.Database("a.db");
        const one = promisify(db.get.bind(db));
        const run = promisify(db.run).bind(db);
        export async function work(id, balance) {
          await one("SELECT balance FROM accounts WHERE id = ?", [id]);
          await run("UPDATE accounts SET balance = ? WHERE id = ?", [balance, id]);
        }
        "#,
        "work",
        &expect![[r#"
            6     fn work(id, balance), async
            7       arg = derived from id
            7       one = read row "accounts"[id].{balance} via ::a.ts::db
            7       suspend
            8       arg.2 = derived from balance, id
            8       run = write blind row "accounts"[id].{balance} from balance via ::a.ts::db
            8       suspend
        "#]],
    );
}

#[test]
fn a_member_is_what_the_interface_of_its_object_says() {
    check_function(
        r#"
        //- state.ts
        import type { Browser } from "puppeteer";
        import type { Pool } from "pg";
        interface Stores { pool: Pool; }
        export interface State { browser: Browser | null; stores: Stores; label: string; }
        //- a.ts
        import type { State } from "./state";
        export async function work(state: State) {
          await state.browser.close();
          await state.stores.pool.query("DELETE FROM pages");
          state.label.trim();
        }
        "#,
        "work",
        &expect![[r#"
            2     fn work(state), async
            3       close state.browser
            3       close = derived from state
            3       suspend
            4       query = delete row "pages"[*] via pool state.stores.pool
            4       suspend
        "#]],
    );
}
