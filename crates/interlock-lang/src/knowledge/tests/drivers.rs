//! Drivers other than `pg`.

use expect_test::expect;

use super::script::{check, closure, list, object, template, text};

#[test]
fn mysql_pools_and_connections() {
    check(
        |s, [id, amount, _]| {
            let pool = s.plain("mysql2/promise", "createPool", [object([])]);
            let select = text("SELECT n FROM stock WHERE id = ?");
            let update = text("UPDATE `stock` SET n = ? WHERE id = ?");
            let safe = text("UPDATE stock SET n = n - ? WHERE id = ? AND n >= ?");
            s.method(&pool, "query", [select, list([id.clone()])]);
            s.method(&pool, "execute", [update, list([amount.clone(), id.clone()])]);
            s.method(&pool, "execute", [safe, list([amount.clone(), id.clone(), amount.clone()])]);
            let connection = s.method(&pool, "getConnection", []);
            s.method(&connection, "beginTransaction", []);
            s.method(&connection, "query", [text("SELECT n FROM stock WHERE id = ? FOR UPDATE"), list([id])]);
            s.method(&connection, "commit", []);
            s.method(&connection, "rollback", []);
        },
        expect![[r#"
            1       createPool = new
            2       query = read row "stock"[id].{n} via pool createPool
            3       execute = write blind row "stock"[id].{n} from amount via pool createPool
            4       execute.2 = write conditional row "stock"[id].{n} when n >= amount from amount via pool createPool
            5       getConnection = new
            6       begin read-committed via getConnection
            6       beginTransaction = derived from getConnection
            7       query.2 = read row "stock"[id].{n} for update via getConnection
            8       commit via getConnection
            8       commit = derived from getConnection
            9       rollback via getConnection
            9       rollback = derived from getConnection
        "#]],
    );
}

#[test]
fn sqlite_statements_are_prepared_and_transactions_are_functions() {
    check(
        |s, [id, amount, _]| {
            let db = s.create("better-sqlite3", "", [text("a.db")]);
            let select = s.method(&db, "prepare", [text("SELECT n FROM stock WHERE id = ?")]);
            s.method(&select, "get", [id.clone()]);
            let update = s.method(&db, "prepare", [text("UPDATE stock SET n = @n WHERE id = @id")]);
            s.method(&update, "run", [object([("n", amount.clone()), ("id", id.clone())])]);
            let safe = s.method(&db, "prepare", [text("UPDATE stock SET n = n - ? WHERE id = ? AND n >= ?")]);
            s.method(&safe, "run", [amount.clone(), id.clone(), amount.clone()]);
            let spend = s.method(&db, "transaction", [closure()]);
            s.method(&spend, "", [id.clone()]);
            s.method(&spend, "immediate", [id.clone()]);
            s.method(&db, "exec", [text("BEGIN IMMEDIATE")]);
            s.method(&db, "close", []);
        },
        expect![[r#"
            1       made = new
            2       prepare = derived from made
            3       get = read row "stock"[id].{n} via made
            4       prepare.2 = derived from made
            5       run = write blind row "stock"[id].{n} from amount via made
            6       prepare.3 = derived from made
            7       run.2 = write conditional row "stock"[id].{n} when n >= amount from amount via made
            8       transaction = derived from made
            9       begin serializable via made
            9       try
            9         called = call fn closure(id)
            9         commit via made
                    catch
            9         rollback via made
            9         throw
            10      begin single-writer via made
            10      try
            10        immediate = call fn closure(id)
            10        commit via made
                    catch
            10        rollback via made
            10        throw
            11      begin single-writer via made
            11      exec = derived from made
            12      close made
            12      close = derived from made
        "#]],
    );
}

#[test]
fn sqlite_with_callbacks_and_with_promises() {
    check(
        |s, [id, amount, _]| {
            let db = s.create("sqlite3", "Database", [text("a.db")]);
            s.method(&db, "get", [text("SELECT n FROM stock WHERE id = ?"), list([id.clone()]), closure()]);
            s.method(
                &db,
                "run",
                [text("UPDATE stock SET n = ? WHERE id = ?"), amount.clone(), id.clone(), closure()],
            );
            let db = s.export("sqlite", "open", [object([])]);
            s.method(
                &db,
                "run",
                [text("UPDATE stock SET n = n - 1 WHERE id = :id AND n > 0"), object([(":id", id)])],
            );
        },
        expect![[r#"
            1       Database = new
            2       result = read row "stock"[id].{n} via Database
            2       error = derived from result
            2       suspend
            2       call fn closure(error, result)
            3       result.2 = write blind row "stock"[id].{n} from amount via Database
            3       error.2 = derived from result.2
            3       suspend
            3       call fn closure(error.2, result.2)
            4       open = new
            4       open open
            5       run.2 = write conditional row "stock"[id].{n} when n >= "0" via open
        "#]],
    );
}

#[test]
fn libsql_batches_and_transactions() {
    check(
        |s, [id, amount, _]| {
            let client = s.plain("@libsql/client", "createClient", [object([])]);
            let statement =
                |sql: &str| object([("sql", text(sql)), ("args", list([amount.clone(), id.clone()]))]);
            s.method(&client, "execute", [text("SELECT n FROM stock WHERE id = ?"), list([id.clone()])]);
            s.method(&client, "execute", [statement("UPDATE stock SET n = ? WHERE id = ?")]);
            let batch = list([
                statement("UPDATE stock SET n = n - ? WHERE id = ? AND n > 0"),
                text("INSERT INTO log (line) VALUES ('x')"),
            ]);
            s.method(&client, "batch", [batch, text("write")]);
            let transaction = s.method(&client, "transaction", [text("write")]);
            s.method(&transaction, "execute", [statement("UPDATE stock SET n = ? WHERE id = ?")]);
            s.method(&transaction, "commit", []);
        },
        expect![[r#"
            1       createClient = new
            2       execute = read row "stock"[id].{n} via pool createClient
            3       execute.2 = write blind row "stock"[id].{n} from amount via pool createClient
            4       connection = new
            4       begin single-writer via connection
            4       try
            4         write conditional row "stock"[id].{n} when n >= "0" from amount via connection
            4         write exclusive row "log"[random].{line} via connection
            4         commit via connection
                    catch
            4         rollback via connection
            4         throw
            4       batch = derived from createClient, amount, id
            5       transaction = new
            5       begin single-writer via transaction
            6       execute.3 = write blind row "stock"[id].{n} from amount via transaction
            7       commit via transaction
            7       commit = derived from transaction
        "#]],
    );
}

#[test]
fn postgres_js_is_a_tag() {
    check(
        |s, [id, amount, data]| {
            let sql = s.plain("postgres", "", [text("postgres://localhost")]);
            let tag = |parts: [&str; 3]| {
                let [one, two, three] = parts.map(text);
                template([one, amount.clone(), two, id.clone(), three])
            };
            s.method(&sql, "", [template([text("SELECT n FROM stock WHERE id = "), id.clone()])]);
            s.method(&sql, "", [tag(["UPDATE stock SET n = ", " WHERE id = ", ""])]);
            s.method(
                &sql,
                "",
                [tag(["UPDATE stock SET n = n - ", " WHERE id = ", " AND n > 0 RETURNING n"])],
            );
            s.awaited = false;
            let values = s.method(&sql, "", [data.clone()]);
            s.awaited = true;
            s.method(&sql, "", [template([text("INSERT INTO users "), values.arg()])]);
            s.method(
                &sql,
                "",
                [template([text("UPDATE users SET "), values.arg(), text(" WHERE id = "), id.clone()])],
            );
            let given = s.method(&sql, "begin", [text("isolation level serializable"), closure()]);
            assert_eq!(&*given.parameters[0].2.name, "postgres.Transaction");
        },
        expect![[r#"
            1       made = new
            2       called = read row "stock"[id].{n} via pool made
            3       called.2 = write blind row "stock"[id].{n} from amount via pool made
            4       called.3 = write conditional row "stock"[id].{n} when n >= "0" from amount via pool made
            5       called.4 = derived from made, data
            6       called.5 = write exclusive row "users"[random] from called.4 via pool made
            7       called.6 = write blind row "users"[id] from called.4 via pool made
            8       given = new
            8       begin serializable via given
            8       try
            8         begin = call fn closure(given)
            8         commit via given
                    catch
            8         rollback via given
            8         throw
        "#]],
    );
}
