//! Statements that are put together call by call.

use expect_test::expect;

use super::script::{Script, check, closure, list, named, object, template, text};

#[test]
fn drizzle_puts_statements_together() {
    check(
        |s, [id, amount, data]| {
            let db = s.object("drizzle.Postgres", "db");
            let accounts = s.plain("drizzle-orm/pg-core", "pgTable", [text("accounts"), object([])]);
            let table = || accounts.arg();
            let of = |s: &mut Script<'_, '_>, name: &str, column: &str, with| {
                s.plain("drizzle-orm", name, [named(&format!("accounts.{column}")), with]).arg()
            };
            let by_id = of(s, "eq", "id", id.clone());
            let select = ("select", vec![object([("balance", named("accounts.balance"))])]);
            s.chain(&db, &[select, ("from", vec![table()]), ("where", vec![by_id.clone()])]);
            s.chain(
                &db,
                &[
                    ("select", vec![]),
                    ("from", vec![table()]),
                    ("where", vec![by_id.clone()]),
                    ("for", vec![text("update")]),
                ],
            );
            let set = ("set", vec![object([("balance", amount.clone())])]);
            s.chain(&db, &[("update", vec![table()]), set.clone(), ("where", vec![by_id.clone()])]);
            let version = of(s, "eq", "version", data.clone());
            let both = s.plain("drizzle-orm", "and", [by_id.clone(), version]).arg();
            s.chain(&db, &[("update", vec![table()]), set, ("where", vec![both])]);
            let less = template([named("accounts.balance"), text(" - "), amount.clone()]);
            let less = s.plain("drizzle-orm", "sql", [less]).arg();
            let relative = ("set", vec![object([("balance", less)])]);
            s.chain(
                &db,
                &[("update", vec![table()]), relative, ("where", vec![by_id.clone()]), ("returning", vec![])],
            );
            let values = ("values", vec![object([("id", id.clone())])]);
            s.chain(&db, &[("insert", vec![table()]), values.clone()]);
            s.chain(&db, &[("insert", vec![table()]), values, ("onConflictDoNothing", vec![])]);
            s.chain(&db, &[("delete", vec![table()]), ("where", vec![by_id.clone()])]);
            s.method(&db, "query.accounts.findFirst", [object([("where", by_id)])]);
            let sql = template([text("UPDATE "), table(), text(" SET n = 1 WHERE id = "), id.clone()]);
            let sql = s.plain("drizzle-orm", "sql", [sql]).arg();
            s.method(&db, "execute", [sql]);
            s.method(&db, "transaction", [closure(), object([("isolationLevel", text("repeatable read"))])]);
        },
        expect![[r#"
            1       pgTable = derived
            2       eq = derived from id
            3       select = new
            3       from = new
            3       where = read row "accounts"[id].{balance} via pool ::a.ts::db
            4       select.2 = new
            4       from.2 = new
            4       where.2 = new
            4       for = read row "accounts"[id] for update via pool ::a.ts::db
            5       update = new
            5       set = new
            5       where.3 = write blind row "accounts"[id].{balance} from amount via pool ::a.ts::db
            6       eq.2 = derived from data
            7       and = derived from eq, eq.2
            8       update.2 = new
            8       set.2 = new
            8       where.4 = write conditional row "accounts"[id].{balance} when version = data from amount via pool ::a.ts::db
            9       sql = derived from amount
            10      update.3 = new
            10      set.3 = new
            10      where.5 = new
            10      returning = write atomic row "accounts"[id].{balance} from sql via pool ::a.ts::db
            11      insert = new
            11      values = write exclusive row "accounts"[id].{id} from id via pool ::a.ts::db
            12      insert.2 = new
            12      values.2 = new
            12      onConflictDoNothing = write ensure row "accounts"[id].{id} from id via pool ::a.ts::db
            13      delete = new
            13      where.6 = delete row "accounts"[id] via pool ::a.ts::db
            14      findFirst = read row "accounts"[id] via pool ::a.ts::db
            15      sql.2 = derived from pgTable, id
            16      execute = write blind row "accounts"[id].{n} via pool ::a.ts::db
            17      given = new
            17      begin first-updater-wins via given
            17      try
            17        transaction = call fn closure(given)
            17        commit via given
                    catch
            17        rollback via given
            17        throw
        "#]],
    );
}

#[test]
fn knex_kysely_and_supabase_chains() {
    check(
        |s, [id, amount, data]| {
            let knex = s.object("knex.Client", "knex");
            let stock = || ("", vec![text("stock")]);
            let by_id = || ("where", vec![object([("id", id.clone())])]);
            s.chain(&knex, &[stock(), by_id(), ("first", vec![text("n")])]);
            s.chain(&knex, &[stock(), by_id(), ("forUpdate", vec![])]);
            s.chain(&knex, &[stock(), by_id(), ("update", vec![object([("n", amount.clone())])])]);
            let enough = ("where", vec![text("n"), text(">="), amount.clone()]);
            s.chain(&knex, &[stock(), by_id(), enough, ("decrement", vec![text("n"), amount.clone()])]);
            let enough = ("whereRaw", vec![text("n >= ?"), list([amount.clone()])]);
            s.chain(&knex, &[stock(), by_id(), enough, ("del", vec![])]);
            let insert = ("insert", vec![object([("id", id.clone())])]);
            s.chain(&knex, &[stock(), insert, ("onConflict", vec![text("id")]), ("ignore", vec![])]);
            s.awaited = false;
            let raw = s.method(&knex, "raw", [text("n - 1")]);
            s.awaited = true;
            s.chain(&knex, &[stock(), by_id(), ("update", vec![object([("n", raw.arg())])])]);
            s.method(&knex, "raw", [text("SELECT n FROM stock WHERE id = ?"), list([id.clone()])]);
            s.method(&knex, "transaction", [closure()]);

            let kysely = s.object("kysely.Client", "kysely");
            let by_id = || ("where", vec![text("id"), text("="), id.clone()]);
            s.chain(
                &kysely,
                &[
                    ("selectFrom", vec![text("stock")]),
                    ("select", vec![text("n")]),
                    by_id(),
                    ("executeTakeFirst", vec![]),
                ],
            );
            let set = ("set", vec![object([("n", amount.clone())])]);
            s.chain(&kysely, &[("updateTable", vec![text("stock")]), set, by_id(), ("execute", vec![])]);

            let supabase = s.plain("@supabase/supabase-js", "createClient", []);
            let docs = || ("from", vec![text("docs")]);
            let update = || ("update", vec![object([("body", data.clone())])]);
            let eq = |column, with| ("eq", vec![text(column), with]);
            s.chain(
                &supabase,
                &[docs(), ("select", vec![text("body, version")]), eq("id", id.clone()), ("single", vec![])],
            );
            s.chain(&supabase, &[docs(), update(), eq("id", id.clone())]);
            s.chain(
                &supabase,
                &[docs(), update(), eq("id", id.clone()), eq("version", amount.clone()), ("select", vec![])],
            );
            s.chain(&supabase, &[docs(), ("insert", vec![object([("id", id.clone())])])]);
            s.chain(&supabase, &[docs(), ("upsert", vec![object([("id", id.clone())])])]);
            s.chain(&supabase, &[docs(), ("delete", vec![]), eq("id", id.clone())]);
        },
        expect![[r#"
            1       called = new
            1       where = new
            1       first = read row "stock"[id].{n} via pool ::a.ts::knex
            2       called.2 = new
            2       where.2 = new
            2       forUpdate = read row "stock"[id] for update via pool ::a.ts::knex
            3       called.3 = new
            3       where.3 = new
            3       update = write blind row "stock"[id].{n} from amount via pool ::a.ts::knex
            4       called.4 = new
            4       where.4 = new
            4       where.5 = new
            4       decrement = write conditional row "stock"[id].{n} when n >= amount from amount via pool ::a.ts::knex
            5       called.5 = new
            5       where.6 = new
            5       whereRaw = new
            5       del = delete row "stock"[id] when n >= amount via pool ::a.ts::knex
            6       called.6 = new
            6       insert = new
            6       onConflict = new
            6       ignore = write ensure row "stock"[id].{id} from id via pool ::a.ts::knex
            7       raw = derived
            8       called.7 = new
            8       where.7 = new
            8       update.2 = write atomic row "stock"[id].{n} from raw via pool ::a.ts::knex
            9       raw.2 = read row "stock"[id].{n} via pool ::a.ts::knex
            10      given = new
            10      begin in unknown isolation via given
            10      try
            10        transaction = call fn closure(given)
            10        commit via given
                    catch
            10        rollback via given
            10        throw
            11      selectFrom = new
            11      select = new
            11      where.8 = new
            11      executeTakeFirst = read row "stock"[id].{n} via pool ::a.ts::kysely
            12      updateTable = new
            12      set = new
            12      where.9 = new
            12      execute = write blind row "stock"[id].{n} from amount via pool ::a.ts::kysely
            13      createClient = new
            14      from = new
            14      select.2 = new
            14      eq = new
            14      single = read row "docs"[id].{body, version} via pool createClient
            15      from.2 = new
            15      update.3 = new
            15      eq.2 = write blind row "docs"[id].{body} from data via pool createClient
            16      from.3 = new
            16      update.4 = new
            16      eq.3 = new
            16      eq.4 = new
            16      select.3 = write conditional row "docs"[id].{body} when version = amount from data via pool createClient
            17      from.4 = new
            17      insert.2 = write exclusive row "docs"[id].{id} from id via pool createClient
            18      from.5 = new
            18      upsert = write blind row "docs"[id].{id} from id via pool createClient
            19      from.6 = new
            19      delete = new
            19      eq.5 = delete row "docs"[id] via pool createClient
        "#]],
    );
}
