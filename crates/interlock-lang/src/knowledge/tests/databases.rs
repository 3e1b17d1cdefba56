//! SQL through drivers: every statement of the patterns, and the ways in which it is sent.

use expect_test::expect;

use super::script::{check, list, number, object, template, text};

#[test]
fn a_statement_on_a_pool_says_which_rows_and_columns() {
    check(
        |s, [id, amount, data]| {
            let pool = s.object("pg.Pool", "pool");
            let mut query = |sql: &str, parameters| s.method(&pool, "query", [text(sql), parameters]);
            // P5, P6, P9, P10, P28
            query("SELECT balance FROM accounts WHERE id = $1", list([id.clone()]));
            query("UPDATE accounts SET balance = $2 WHERE id = $1", list([id.clone(), amount.clone()]));
            query(
                "UPDATE accounts SET balance = balance - $2 WHERE id = $1",
                list([id.clone(), amount.clone()]),
            );
            query(
                "UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND balance >= $2",
                list([id.clone(), amount.clone()]),
            );
            query("SELECT id, body, version FROM documents WHERE id = $1", list([id.clone()]));
            query("UPDATE documents SET body = $2 WHERE id = $1", list([id.clone(), data.clone()]));
            query(
                "UPDATE documents SET body = $2, version = version + 1, updated_at = now() WHERE id = $1 AND version = $3",
                list([id.clone(), data.clone(), amount.clone()]),
            );
            query("DELETE FROM files WHERE id = $1 AND owner_id = $2 RETURNING id", list([id.clone(), data]));
            query("DELETE FROM files WHERE id = $1", list([id]));
        },
        expect![[r#"
            1       query = read row "accounts"[id].{balance} via pool ::a.ts::pool
            2       query.2 = write blind row "accounts"[id].{balance} from amount via pool ::a.ts::pool
            3       query.3 = write atomic row "accounts"[id].{balance} from amount via pool ::a.ts::pool
            4       query.4 = write conditional row "accounts"[id].{balance} when balance >= amount from amount via pool ::a.ts::pool
            5       query.5 = read row "documents"[id].{id, body, version} via pool ::a.ts::pool
            6       query.6 = write blind row "documents"[id].{body} from data via pool ::a.ts::pool
            7       query.7 = write conditional row "documents"[id].{body, version, updated_at} when version = amount from data via pool ::a.ts::pool
            8       query.8 = delete row "files"[id] when owner_id = data via pool ::a.ts::pool
            9       query.9 = delete row "files"[id] via pool ::a.ts::pool
        "#]],
    );
}

#[test]
fn a_transaction_is_told_by_its_statements() {
    check(
        |s, [id, amount, _]| {
            let pool = s.object("pg.Pool", "pool");
            let client = s.method(&pool, "connect", []);
            let mut query = |sql: &str, parameters| s.method(&client, "query", [text(sql), parameters]);
            // P7
            query("BEGIN", list([]));
            query("SELECT balance FROM accounts WHERE id = $1 FOR UPDATE", list([id.clone()]));
            query("UPDATE accounts SET balance = $2 WHERE id = $1", list([id.clone(), amount]));
            query("COMMIT", list([]));
            query("ROLLBACK", list([]));
            // P8
            query("BEGIN ISOLATION LEVEL REPEATABLE READ", list([]));
            query("BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE", list([]));
            query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", list([]));
            query("SAVEPOINT a", list([]));
            query("ROLLBACK TO SAVEPOINT a", list([]));
            query("SELECT pg_advisory_xact_lock($1)", list([id]));
            s.method(&pool, "query", [text("BEGIN")]);
        },
        expect![[r#"
            1       connect = new
            2       begin read-committed via connect
            2       query = derived from connect
            3       query.2 = read row "accounts"[id].{balance} for update via connect
            4       query.3 = write blind row "accounts"[id].{balance} from amount via connect
            5       commit via connect
            5       query.4 = derived from connect
            6       rollback via connect
            6       query.5 = derived from connect
            7       begin first-updater-wins via connect
            7       query.6 = derived from connect
            8       begin serializable via connect
            8       query.7 = derived from connect
            9       begin serializable via connect
            9       query.8 = derived from connect
            10      query.9 = derived from connect
            11      query.10 = derived from connect
            12      acquire ::pg_advisory_xact_lock for id across processes
            12      query.11 = derived from connect, id
            13      begin read-committed via pool ::a.ts::pool
            13      query.12 = derived
        "#]],
    );
}

#[test]
fn an_insert_says_what_happens_to_a_row_that_is_there() {
    check(
        |s, [id, amount, data]| {
            let pool = s.object("pg.Pool", "pool");
            let mut query = |sql: &str| {
                s.method(&pool, "query", [text(sql), list([id.clone(), amount.clone(), data.clone()])]);
            };
            query("INSERT INTO users (email, age) VALUES ($1, $2)");
            query("INSERT INTO users (id, email) VALUES (gen_random_uuid(), $1)");
            query("INSERT INTO log (line) VALUES ($3)");
            query("INSERT INTO users (email, age) VALUES ($1, $2) ON CONFLICT DO NOTHING");
            query(
                "INSERT INTO users (email, age) VALUES ($1, $2) ON CONFLICT (email) DO UPDATE SET age = EXCLUDED.age",
            );
            query(
                "INSERT INTO hits (day, n) VALUES ($1, 1) ON CONFLICT (day) DO UPDATE SET n = hits.n + 1 RETURNING n",
            );
            query(
                "INSERT INTO docs (id, v) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET v = $2 WHERE docs.v < $2",
            );
            query("INSERT IGNORE INTO users (email) VALUES (?)");
            query("INSERT OR IGNORE INTO users (email) VALUES ($1)");
            query("INSERT OR REPLACE INTO users (email, age) VALUES ($1, $2)");
            query("INSERT INTO hits (day, n) VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + 1");
            query(
                "INSERT INTO users (email) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM users WHERE email = $1)",
            );
        },
        expect![[r#"
            1       query = write exclusive row "users"[id].{email, age} from id, amount via pool ::a.ts::pool
            2       query.2 = write exclusive row "users"[id].{id, email} from id via pool ::a.ts::pool
            3       query.3 = write exclusive row "log"[random].{line} from data via pool ::a.ts::pool
            4       query.4 = write ensure row "users"[id].{email, age} from id, amount via pool ::a.ts::pool
            5       query.5 = write blind row "users"[id].{email, age} from id, amount via pool ::a.ts::pool
            6       query.6 = write atomic row "hits"[id].{day, n} from id via pool ::a.ts::pool
            7       query.7 = write conditional row "docs"[id].{id, v} when v <= amount from id, amount via pool ::a.ts::pool
            8       query.8 = write ensure row "users"[id].{email} from id via pool ::a.ts::pool
            9       query.9 = write ensure row "users"[id].{email} from id via pool ::a.ts::pool
            10      query.10 = write blind row "users"[id].{email, age} from id, amount via pool ::a.ts::pool
            11      query.11 = write atomic row "hits"[?].{day, n} from id via pool ::a.ts::pool
            12      query.12 = write conditional row "users"[id].{email} when ? ? ? from id via pool ::a.ts::pool
        "#]],
    );
}

#[test]
fn a_select_says_what_it_looks_at() {
    check(
        |s, [id, amount, data]| {
            let pool = s.object("pg.Pool", "pool");
            let mut query = |sql: &str| {
                s.method(&pool, "query", [text(sql), list([id.clone(), amount.clone(), data.clone()])]);
            };
            query("SELECT * FROM accounts");
            query("SELECT 1 FROM users WHERE email = $1");
            query("SELECT EXISTS(SELECT 1 FROM users WHERE email = $1)");
            query("SELECT COUNT(*) FROM bookings WHERE room_id = $1 AND day = $3");
            query(
                "SELECT a.balance, u.name FROM accounts a JOIN users u ON u.id = a.user_id WHERE a.id = $1",
            );
            query("SELECT id FROM jobs WHERE status = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED");
            query("UPDATE jobs SET status = 'done' WHERE id = $1 AND status = 'running'");
            query("UPDATE jobs SET status = 'running' WHERE status = 'ready'");
            query(
                "WITH old AS (DELETE FROM queue WHERE id = $1 RETURNING *) INSERT INTO done (id) SELECT id FROM old",
            );
            query("UPDATE stock SET n = n - 1, note = $3 WHERE product_id = $1 AND shelf_id = $2");
            query("DELETE FROM carts WHERE id = ANY($1)");
        },
        expect![[r#"
            1       query = read row "accounts"[*] via pool ::a.ts::pool
            2       query.2 = read existence of row "users"[id] via pool ::a.ts::pool
            3       query.3 = read existence of row "users"[id] via pool ::a.ts::pool
            4       query.4 = read total of row "bookings"[id] demanding day via pool ::a.ts::pool
            5       rows = read row "accounts"[id].{balance} via pool ::a.ts::pool
            5       rows.2 = read row "users"[*].{name} via pool ::a.ts::pool
            5       query.5 = derived from rows, rows.2
            6       query.6 = read row "jobs"[*].{id, status} demanding status for update via pool ::a.ts::pool
            7       query.7 = write conditional row "jobs"[id].{status} when status = "running" via pool ::a.ts::pool
            8       query.8 = write conditional row "jobs"[*].{status} when status = "ready" via pool ::a.ts::pool
            9       query.9 = delete row "queue"[id] via pool ::a.ts::pool
            9       write exclusive row "done"[random].{id} via pool ::a.ts::pool
            10      query.10 = write atomic row "stock"[id + "/" + amount].{n} via pool ::a.ts::pool
            10      write blind row "stock"[id + "/" + amount].{note} from data via pool ::a.ts::pool
            11      query.11 = delete row "carts"[*] via pool ::a.ts::pool
        "#]],
    );
}

#[test]
fn holes_and_placeholders_of_every_kind_find_their_values() {
    check(
        |s, [id, amount, data]| {
            let pool = s.object("pg.Pool", "pool");
            let select = [
                text("SELECT n FROM t WHERE id = "),
                id.clone(),
                text(" AND k = '"),
                data.clone(),
                text("'"),
            ];
            s.method(&pool, "query", [template(select)]);
            let set = template([text("UPDATE t SET "), data.clone(), text(" WHERE id = "), id.clone()]);
            s.method(&pool, "query", [set]);
            let table = template([text("SELECT n FROM "), data.clone(), text(" WHERE id = $1")]);
            s.method(&pool, "query", [table, list([id.clone()])]);
            let glued = template([text("UPDATE t SET n = 1 WHERE id = 1 "), data.clone()]);
            s.method(&pool, "query", [glued]);
            let sql = text("UPDATE t SET n = ? WHERE id = ?");
            s.method(&pool, "query", [sql.clone(), list([amount.clone(), id.clone()])]);
            s.method(&pool, "query", [sql.clone(), data.clone()]);
            let constant = s.constant("SQL", text("UPDATE t SET n = $2 WHERE id = $1"));
            s.method(&pool, "query", [constant, list([id.clone(), amount.clone()])]);
            let both =
                object([("text", text("SELECT n FROM t WHERE id = $1")), ("values", list([id.clone()]))]);
            s.method(&pool, "query", [both]);
            let stranger = s.stranger("db");
            s.method(
                &stranger,
                "query",
                [text("SELECT n FROM t WHERE id = :id"), object([("id", id.clone())])],
            );
            s.method(
                &stranger,
                "run",
                [text("UPDATE t SET n = @n WHERE id = 7"), object([("n", number(1))])],
            );
            // Columns that are put together elsewhere have no names.
            let columns = template([
                text("INSERT INTO t ("),
                data.clone(),
                text(") VALUES ("),
                amount.clone(),
                text(") ON CONFLICT ("),
                data.clone(),
                text(") DO NOTHING"),
            ]);
            s.method(&pool, "query", [columns]);
        },
        expect![[r#"
            1       query = read row "t"[id].{n, k} demanding k via pool ::a.ts::pool
            2       query.2 = write blind row "t"[id] from data via pool ::a.ts::pool
            3       query.3 = read row data[id].{n} via pool ::a.ts::pool
            4       query.4 = write conditional row "t"["1"].{n} when ? ? ? via pool ::a.ts::pool
            5       query.5 = write blind row "t"[id].{n} from amount via pool ::a.ts::pool
            6       query.6 = write blind row "t"[data["1"]].{n} from data via pool ::a.ts::pool
            7       query.7 = write blind row "t"[id].{n} from amount via pool ::a.ts::pool
            8       query.8 = read row "t"[id].{n} via pool ::a.ts::pool
            9       query.9 = read row "t"[id].{n} via ::a.ts::db
            10      run = write blind row "t"["7"].{n} via ::a.ts::db
            11      query.10 = write ensure row "t"[?] from amount via pool ::a.ts::pool
        "#]],
    );
}

#[test]
fn statements_of_every_dialect_are_read() {
    check(
        |s, [id, amount, data]| {
            let pool = s.object("pg.Pool", "pool");
            for sql in [
                "SELECT n FROM t WHERE id = $1 FOR NO KEY UPDATE",
                "SELECT n FROM t WHERE id = $1 FOR UPDATE NOWAIT",
                "SELECT n FROM t a WHERE id = $1 FOR UPDATE OF a",
                "SELECT n FROM t WHERE id = ? LOCK IN SHARE MODE",
                "UPDATE t JOIN u ON u.id = t.u_id SET t.n = ? WHERE t.id = 1",
                "UPDATE t SET n = u.n FROM u WHERE u.id = t.id AND t.id = $1",
                "DELETE FROM t USING u WHERE t.id = u.id AND u.id = $1",
                "INSERT INTO t (id) VALUES ($1) ON CONFLICT ON CONSTRAINT t_pk DO NOTHING RETURNING id",
                "START TRANSACTION",
                "BEGIN DEFERRED",
                "BEGIN EXCLUSIVE TRANSACTION",
                "COMMIT TRANSACTION",
                "END",
                "TRUNCATE TABLE t",
                "UPDATE t SET data = jsonb_set(data, '{a}', $2::jsonb) WHERE id = $1",
                "SELECT data->>'x' AS x FROM t WHERE data @> $2 AND id = $1",
                "UPDATE t SET at = datetime('now'), n = $2 WHERE id = $1",
                "UPDATE t SET at = CURRENT_TIMESTAMP, n = n + 1 WHERE id = $1",
                "INSERT INTO t DEFAULT VALUES",
                "REPLACE INTO t (id, n) VALUES (?, ?)",
                "SELECT last_insert_rowid()",
                "SELECT n FROM t WHERE name LIKE ? AND at > now() - interval '1 day' LIMIT ? OFFSET ?",
                "SELECT * FROM fts WHERE fts MATCH ? ORDER BY rank",
                "UPDATE t SET n = COALESCE($2, n) WHERE id = $1",
                "UPDATE t SET n = CASE WHEN n > 0 THEN n - 1 ELSE 0 END WHERE id = $1",
                "UPDATE t SET done = true WHERE id = $1 AND NOT done AND deleted_at IS NULL",
                "UPDATE t SET n = GREATEST(n, $2) WHERE lower(email) = lower($1)",
                "WITH RECURSIVE a AS (SELECT 1) SELECT * FROM t, a WHERE t.id = $1",
                "SELECT n FROM \"Users\" WHERE \"userId\" = $1",
                "SELECT n FROM `users` WHERE `id` = ?",
                "SELECT pg_try_advisory_lock(hashtext($1))",
                "SELECT GET_LOCK(?, 10)",
                "INSERT INTO t (id, n) VALUES (?, ?), (?, ?)",
                "UPDATE t SET (a, b) = ($1, $2) WHERE id = $3",
                "UPDATE t SET n = $2 WHERE (id, v) = ($1, $3)",
                "UPDATE t SET n = (SELECT max(n) + 1 FROM t) WHERE id = $1",
                "-- why\nSELECT n FROM t WHERE id = $1",
                "/* why */ UPDATE t SET n = $2 WHERE id = $1;",
                "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET n = 1",
                "CALL spend($1)",
            ] {
                s.method(&pool, "query", [text(sql), list([id.clone(), amount.clone(), data.clone()])]);
            }
        },
        expect![[r#"
            1       query = read row "t"[id].{n} for update via pool ::a.ts::pool
            2       query.2 = read row "t"[id].{n} for update via pool ::a.ts::pool
            3       query.3 = read row "t"[id].{n} for update via pool ::a.ts::pool
            4       query.4 = read row "t"[id].{n} for update via pool ::a.ts::pool
            5       query.5 = write blind row "t"["1"].{n} from id via pool ::a.ts::pool
            6       query.6 = write atomic row "t"[id].{n} via pool ::a.ts::pool
            7       query.7 = delete row "t"[id] via pool ::a.ts::pool
            8       query.8 = write ensure row "t"[id].{id} from id via pool ::a.ts::pool
            9       begin read-committed via pool ::a.ts::pool
            9       query.9 = derived from id, amount, data
            10      begin read-committed via pool ::a.ts::pool
            10      query.10 = derived from id, amount, data
            11      begin single-writer via pool ::a.ts::pool
            11      query.11 = derived from id, amount, data
            12      commit via pool ::a.ts::pool
            12      query.12 = derived from id, amount, data
            13      commit via pool ::a.ts::pool
            13      query.13 = derived from id, amount, data
            14      query.14 = delete row "t"[*] via pool ::a.ts::pool
            15      query.15 = write atomic row "t"[id].{data} from amount via pool ::a.ts::pool
            16      query.16 = read row "t"[id].{data} demanding data via pool ::a.ts::pool
            17      query.17 = write blind row "t"[id].{at, n} from amount via pool ::a.ts::pool
            18      query.18 = write atomic row "t"[id].{at, n} via pool ::a.ts::pool
            19      query.19 = write exclusive row "t"[random] via pool ::a.ts::pool
            20      query.20 = write blind row "t"[id].{id, n} from id, amount via pool ::a.ts::pool
            21      query.21 = derived from id, amount, data
            22      query.22 = read row "t"[*].{n, at} demanding at via pool ::a.ts::pool
            23      query.23 = read row "fts"[*] demanding fts via pool ::a.ts::pool
            24      query.24 = write blind row "t"[id].{n} from amount via pool ::a.ts::pool
            25      query.25 = write atomic row "t"[id].{n} via pool ::a.ts::pool
            26      query.26 = write conditional row "t"[id].{done} when done <> "true" and deleted_at = "null" via pool ::a.ts::pool
            27      query.27 = write atomic row "t"[id].{n} from amount via pool ::a.ts::pool
            28      query.28 = read row "t"[id] via pool ::a.ts::pool
            29      query.29 = read row "Users"[id].{n} via pool ::a.ts::pool
            30      query.30 = read row "users"[id].{n} via pool ::a.ts::pool
            31      query.31 = acquire ::pg_advisory_lock for id across processes
            32      query.32 = acquire ::get_lock for id across processes
            33      query.33 = write exclusive row "t"[id].{id, n} from id, amount, data via pool ::a.ts::pool
            34      query.34 = write blind row "t"[data].{a, b} from id, amount via pool ::a.ts::pool
            35      query.35 = write conditional row "t"[id].{n} when v = data from amount via pool ::a.ts::pool
            36      query.36 = write atomic row "t"[id].{n} via pool ::a.ts::pool
            37      query.37 = read row "t"[id].{n} via pool ::a.ts::pool
            38      query.38 = write blind row "t"[id].{n} from amount via pool ::a.ts::pool
            39      query.39 = write atomic row "t"[*] via pool ::a.ts::pool
            40      query.40 = derived from id, amount, data
        "#]],
    );
}
