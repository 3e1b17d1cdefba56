//! Mappers of objects to rows and documents.

use expect_test::expect;

use super::script::{check, closure, list, named, object, template, text, yes};

#[test]
fn mongoose_reads_changes_and_saves_documents() {
    check(
        |s, [id, amount, data]| {
            let users = s.plain("mongoose", "model", [text("User"), data.clone()]);
            let found = s.method(&users, "findById", [id.clone()]);
            s.method(&found, "save", []);
            s.chain(&users, &[("findOne", vec![object([("email", data.clone())])]), ("lean", vec![])]);
            s.chain(
                &users,
                &[("findById", vec![id.clone()]), ("select", vec![text("name age")]), ("exec", vec![])],
            );
            s.method(
                &users,
                "findByIdAndUpdate",
                [id.clone(), object([("$inc", object([("n", amount.clone())]))])],
            );
            let versioned = object([("_id", id.clone()), ("v", amount.clone())]);
            let set = object([("$set", object([("body", data.clone())]))]);
            s.method(&users, "updateOne", [versioned, set.clone()]);
            s.method(&users, "updateOne", [object([("_id", id.clone())]), set]);
            s.method(&users, "create", [object([("email", data.clone())])]);
            s.method(&users, "exists", [object([("email", data.clone())])]);
            s.method(&users, "deleteOne", [object([("_id", id.clone()), ("owner", data.clone())])]);
            s.construct = true;
            let fresh = s.method(&users, "", [object([("email", data.clone())])]);
            s.construct = false;
            s.method(&fresh, "save", []);
            let session = s.export("mongoose", "startSession", []);
            s.chain(&users, &[("findById", vec![id.clone()]), ("session", vec![session.arg()])]);
        },
        expect![[r#"
            1       model = derived from data
            2       findById = read row "User"[id]
            3       save = write blind row "User"[id] from findById
            4       findOne = new
            4       lean = read row "User"[data]
            5       findById.2 = new
            5       select = new
            5       exec = read row "User"[id].{name, age}
            6       findByIdAndUpdate = write atomic row "User"[id].{n} from amount
            7       updateOne = write conditional row "User"[id].{body} when v = amount from data
            8       updateOne.2 = write blind row "User"[id].{body} from data
            9       create = write exclusive row "User"[data].{email} from data
            10      exists = read existence of row "User"[data]
            11      deleteOne = delete row "User"[id] when owner = data
            12      called = new
            13      save.2 = write exclusive row "User"[data].{email} from data
            14      startSession = derived
            15      findById.3 = new
            15      session = read row "User"[id] via startSession
        "#]],
    );
}

#[test]
fn prisma_runs_what_is_waited_for_and_batches_the_rest() {
    check(
        |s, [id, amount, data]| {
            let prisma = s.create("@prisma/client", "PrismaClient", []);
            let by_id = || ("where", object([("id", id.clone())]));
            let set = |data| ("data", object([("balance", data)]));
            s.method(
                &prisma,
                "account.findUnique",
                [object([by_id(), ("select", object([("balance", yes())]))])],
            );
            s.method(&prisma, "account.update", [object([by_id(), set(amount.clone())])]);
            let decrement = || object([("decrement", amount.clone())]);
            s.method(&prisma, "account.update", [object([by_id(), set(decrement())])]);
            let covered = object([("id", id.clone()), ("balance", object([("gte", amount.clone())]))]);
            s.method(&prisma, "account.updateMany", [object([("where", covered), set(decrement())])]);
            let pair = object([("userId_slug", object([("userId", id.clone()), ("slug", data.clone())]))]);
            s.method(&prisma, "page.delete", [object([("where", pair)])]);
            s.method(&prisma, "user.create", [object([("data", object([("email", data.clone())]))])]);
            let raw = template([text("UPDATE account SET n = n + 1 WHERE id = "), id.clone()]);
            s.method(&prisma, "$executeRaw", [raw]);
            s.awaited = false;
            let one = s.method(&prisma, "account.update", [object([by_id(), set(decrement())])]);
            let two = s.method(
                &prisma,
                "ledger.create",
                [object([("data", object([("amount", amount.clone())]))])],
            );
            s.awaited = true;
            s.method(&prisma, "$transaction", [list([one.arg(), two.arg()])]);
            let options =
                object([("isolationLevel", named("Prisma.TransactionIsolationLevel.Serializable"))]);
            let given = s.method(&prisma, "$transaction", [closure(), options]);
            assert_eq!(&*given.parameters[0].2.name, "prisma.Transaction");
            s.method(&prisma, "$disconnect", []);
        },
        expect![[r#"
            1       PrismaClient = new
            2       findUnique = read row "account"[id].{balance} by its key via pool PrismaClient
            3       update = write blind row "account"[id].{balance} from amount via pool PrismaClient
            4       update.2 = write atomic row "account"[id].{balance} from amount via pool PrismaClient
            5       updateMany = write conditional row "account"[id].{balance} when balance >= amount from amount via pool PrismaClient
            6       delete = delete row "page"[data] when userId = id via pool PrismaClient
            6       check delete
                    else
            6         throw
            7       create = write exclusive row "user"[data].{email} from data via pool PrismaClient
            8       $executeRaw = write atomic row "account"[id].{n} via pool PrismaClient
            9       update.3 = new
            10      create.2 = new
            11      connection = new
            11      begin in unknown isolation via connection
            11      try
            11        write atomic row "account"[id].{balance} from amount via connection
            11        write exclusive row "ledger"[random].{amount} from amount via connection
            11        commit via connection
                    catch
            11        rollback via connection
            11        throw
            11      $transaction = derived from PrismaClient, update.3, create.2
            12      given = new
            12      begin serializable via given
            12      try
            12        $transaction.2 = call fn closure(given)
            12        commit via given
                    catch
            12        rollback via given
            12        throw
            13      close PrismaClient
            13      $disconnect = derived from PrismaClient
        "#]],
    );
}

#[test]
fn typeorm_repositories_managers_and_builders() {
    check(
        |s, [id, amount, data]| {
            let source = s.object("typeorm.DataSource", "source");
            s.awaited = false;
            let users = s.method(&source, "getRepository", [named("User")]);
            let runner = s.method(&source, "createQueryRunner", []);
            s.awaited = true;
            let by_id = || object([("id", id.clone())]);
            let user = s.method(&users, "findOne", [object([("where", by_id())])]);
            s.method(&users, "save", [user.arg()]);
            let lock = object([("mode", text("pessimistic_write"))]);
            s.method(&users, "findOne", [object([("where", by_id()), ("lock", lock)])]);
            s.method(&users, "update", [id.clone(), object([("name", data.clone())])]);
            let many = s.plain("typeorm", "MoreThanOrEqual", [amount.clone()]).arg();
            s.method(
                &users,
                "update",
                [object([("id", id.clone()), ("n", many)]), object([("n", amount.clone())])],
            );
            s.method(&users, "increment", [by_id(), text("n"), amount.clone()]);
            s.method(&users, "insert", [object([("email", data.clone())])]);
            s.method(&users, "delete", [id.clone()]);
            s.method(&runner, "startTransaction", [text("SERIALIZABLE")]);
            s.method(&runner, "manager.findOneBy", [named("User"), by_id()]);
            s.method(&runner, "commitTransaction", []);
            let condition = (
                "where",
                vec![text("id = :id AND n >= :n"), object([("id", id.clone()), ("n", amount.clone())])],
            );
            let set = ("set", vec![object([("n", amount.clone())])]);
            s.chain(
                &users,
                &[("createQueryBuilder", vec![]), ("update", vec![]), set, condition, ("execute", vec![])],
            );
            s.method(&source, "transaction", [closure()]);
        },
        expect![[r#"
            1       getRepository = derived
            2       createQueryRunner = new
            3       findOne = read row "User"[id] via pool ::a.ts::source
            4       save = write blind row "User"[id] from findOne via pool ::a.ts::source
            5       findOne.2 = read row "User"[id] for update via pool ::a.ts::source
            6       update = write blind row "User"[id].{name} from data via pool ::a.ts::source
            7       MoreThanOrEqual = derived from amount
            8       update.2 = write conditional row "User"[id].{n} when n >= amount from amount via pool ::a.ts::source
            9       increment = write atomic row "User"[id].{n} from amount via pool ::a.ts::source
            10      insert = write exclusive row "User"[data].{email} from data via pool ::a.ts::source
            11      delete = delete row "User"[id] via pool ::a.ts::source
            12      begin serializable via createQueryRunner
            12      startTransaction = derived from createQueryRunner
            13      findOneBy = read row "User"[id] via createQueryRunner
            14      commit via createQueryRunner
            14      commitTransaction = derived from createQueryRunner
            15      createQueryBuilder = new
            15      update.3 = new
            15      set = new
            15      where = new
            15      execute = write conditional row "User"[id].{n} when n >= amount from amount via pool ::a.ts::source
            16      given = new
            16      begin in unknown isolation via given
            16      try
            16        transaction = call fn closure(given)
            16        commit via given
                    catch
            16        rollback via given
            16        throw
        "#]],
    );
}

#[test]
fn sequelize_models_and_instances() {
    check(
        |s, [id, amount, data]| {
            let client = s.object("sequelize.Client", "sequelize");
            let wallets = s.method(&client, "define", [text("Wallet"), object([])]);
            let wallet = s.method(&wallets, "findByPk", [id.clone()]);
            s.method(&wallet, "save", []);
            s.method(&wallet, "increment", [text("n")]);
            let by_id = || ("where", object([("id", id.clone())]));
            let covered =
                ("where", object([("id", id.clone()), ("n", object([("[Op.gte]", amount.clone())]))]));
            s.method(&wallets, "update", [object([("n", amount.clone())]), object([by_id()])]);
            s.method(&wallets, "update", [object([("n", amount.clone())]), object([covered])]);
            s.method(&wallets, "increment", [text("n"), object([("by", amount.clone()), by_id()])]);
            let transaction = s.method(&client, "transaction", []);
            let inside = || ("transaction", transaction.arg());
            s.method(&wallets, "findOne", [object([by_id(), ("lock", yes()), inside()])]);
            s.method(&wallets, "create", [object([("id", id.clone())]), object([inside()])]);
            s.method(&transaction, "commit", []);
            s.method(&wallets, "findOrCreate", [object([("where", object([("email", data.clone())]))])]);
            s.method(&wallets, "destroy", [object([by_id()])]);
            s.method(&client, "transaction", [closure()]);
        },
        expect![[r#"
            1       define = derived
            2       findByPk = read row "Wallet"[id] via pool ::a.ts::sequelize
            3       save = write blind row "Wallet"[id] from findByPk via pool ::a.ts::sequelize
            4       increment = write atomic row "Wallet"[id] from findByPk via pool ::a.ts::sequelize
            5       update = write blind row "Wallet"[id].{n} from amount via pool ::a.ts::sequelize
            6       update.2 = write conditional row "Wallet"[id].{n} when n >= amount from amount via pool ::a.ts::sequelize
            7       increment.2 = write atomic row "Wallet"[id].{n} from amount via pool ::a.ts::sequelize
            8       transaction = new
            8       begin in unknown isolation via transaction
            9       findOne = read row "Wallet"[id] for update via transaction
            10      create = write exclusive row "Wallet"[id].{id} from id via transaction
            11      commit via transaction
            11      commit = derived from transaction
            12      findOrCreate = write ensure row "Wallet"[data].{email} from data via pool ::a.ts::sequelize
            13      destroy = delete row "Wallet"[id] via pool ::a.ts::sequelize
            14      given = new
            14      begin in unknown isolation via given
            14      try
            14        transaction.2 = call fn closure(given)
            14        commit via given
                    catch
            14        rollback via given
            14        throw
        "#]],
    );
}
