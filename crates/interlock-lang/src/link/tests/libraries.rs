//! What a library's object is follows it through variables, fields, parameters, results, closures and files.

use expect_test::expect;

use super::{check_function, linked};

#[test]
fn functions_of_a_library_are_found_under_all_their_names() {
    check_function(
        r#"
        //- a.ts
        import fs from "node:fs";
        import * as all from "fs";
        import { promises } from "fs";
        import fsp, { writeFile as put } from "fs/promises";
        export async function work(p) {
          await fs.promises.readFile(p);
          all.writeFileSync(p, "x");
          await promises.unlink(p);
          await fsp.readFile(p);
          await put(p, "x");
        }
        "#,
        "work",
        &expect![[r#"
            5     fn work(p), async
            6       readFile = read file p
            6       suspend
            7       write blind file p
            8       unlink = delete file p
            8       suspend
            9       readFile.2 = read file p
            9       suspend
            10      put = write blind file p
            10      suspend
        "#]],
    );
}

#[test]
fn a_client_is_known_in_another_file_and_in_a_field() {
    check_function(
        r#"
        //- db.ts
        import { Pool } from "pg";
        export const pool = new Pool();
        export function getPool() { return pool; }
        //- repo.ts
        import { Pool } from "pg";
        import { pool, getPool } from "./db";
        class Repo {
          constructor(private db: Pool) {}
          async load(id) {
            await this.db.query("SELECT balance FROM users WHERE id = $1", [id]);
            await pool.query("SELECT balance FROM users WHERE id = $1", [id]);
            await getPool().query("SELECT balance FROM users WHERE id = $1", [id]);
            const client = await pool.connect();
            await client.query("SELECT balance FROM users WHERE id = $1", [id]);
          }
        }
        "#,
        "Repo.load",
        &expect![[r#"
            5     fn Repo.load(id), async
            6       arg = derived from id
            6       query = read row "users"[id].{balance} via pool this.db
            6       suspend
            7       arg.2 = derived from id
            7       query.2 = read row "users"[id].{balance} via pool ::db.ts::pool
            7       suspend
            8       getPool = call getPool(), not awaited
            8       arg.3 = derived from id
            8       query.3 = read row "users"[id].{balance} via pool getPool
            8       suspend
            9       client = new
            9       suspend
            10      arg.4 = derived from id
            10      query.4 = read row "users"[id].{balance} via client
            10      suspend
        "#]],
    );
}

#[test]
fn a_constant_text_counts_as_if_it_stood_in_the_call() {
    check_function(
        r#"
        //- sql.ts
        export const SPEND = "UPDATE users SET balance = balance - $2 WHERE id = $1";
        //- a.ts
        import { Pool } from "pg";
        import { SPEND } from "./sql";
        const pool = new Pool();
        export async function work(id, n) { await pool.query(SPEND, [id, n]); }
        "#,
        "work",
        &expect![[r#"
            4     fn work(id, n), async
            4       arg = derived from id, n
            4       query = write atomic row "users"[id].{balance} from n via pool ::a.ts::pool
            4       suspend
        "#]],
    );
}

#[test]
fn a_closure_that_a_library_calls_knows_what_it_is_handed() {
    check_function(
        r#"
        //- a.ts
        import { PrismaClient } from "@prisma/client";
        const prisma = new PrismaClient();
        export async function work(id) {
          await prisma.$transaction(async (tx) => {
            await tx.user.findUnique({ where: { id } });
          });
        }
        "#,
        "work.closure",
        &expect![[r#"
            4     fn work.closure(tx) with id, async
            5       arg = derived from id
            5       findUnique = read row "user"[id] by its key via tx
            5       suspend
        "#]],
    );
}

#[test]
fn a_mutex_is_known_where_it_is_captured() {
    check_function(
        r#"
        //- a.ts
        import { Mutex } from "async-mutex";
        import pLimit from "p-limit";
        export function make() {
          const mutex = new Mutex();
          const limit = pLimit(1);
          return async function work(x) {
            await mutex.runExclusive(async () => x);
            await limit(() => x);
            const release = await mutex.acquire();
            try { x(); } finally { release(); }
          };
        }
        "#,
        "work",
        &expect![[r#"
            6     fn work(x) with mutex, limit, async
            7       acquire mutex
            7       try
            7         runExclusive = call fn work.closure with x()
                    finally
            7         release mutex
            7       suspend
            8       acquire limit
            8       try
            8         limit.2 = call fn work.closure with x()
                    finally
            8         release limit
            8       suspend
            9       acquire mutex
            9       release = derived from mutex
            9       suspend
            10      try
            10        call x(), not awaited
                    finally
            10        release mutex
        "#]],
    );
}

#[test]
fn tables_are_found_where_they_are_declared() {
    let program = linked(
        r#"
        //- schema.prisma
        model Account {
          id      Int @id
          version Int
          // not this
          @@index([id])
          @@unique([id, version])
        }
        //- schema.sql
        CREATE TABLE seats (hall TEXT, seat TEXT, guest TEXT UNIQUE, PRIMARY KEY (hall, seat));
        CREATE UNIQUE INDEX one_guest ON parties (guest) WHERE open;
        ALTER TABLE seats ADD CONSTRAINT one UNIQUE (seat, guest);
        //- a.ts
        import mongoose, { Schema } from "mongoose";
        import { pgTable, integer } from "drizzle-orm/pg-core";
        const userSchema = new Schema({ name: { type: String, unique: true }, balance: Number }, { timestamps: true });
        export const User = mongoose.model("User", userSchema);
        export const orders = pgTable("orders", { id: integer("id"), total: integer("total") });
        db.exec(`CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, body TEXT)`);
        "#,
    );
    let tables: String = program
        .tables
        .iter()
        .map(|t| format!("{}: {} {:?}\n", t.name, t.columns.join(", "), t.keys))
        .collect();
    expect![[r#"
        Account: id, version [["id"], ["id", "version"]]
        seats: hall, seat, guest [["guest"], ["hall", "seat"], ["seat", "guest"]]
        User: name, balance, updatedAt [["name"]]
        orders: id, total []
        notes: id, body [["id"]]
    "#]]
    .assert_eq(&tables);
}
