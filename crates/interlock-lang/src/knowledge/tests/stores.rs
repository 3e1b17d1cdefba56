//! Redis, MongoDB, and stores of vectors.

use expect_test::expect;

use super::script::{check, closure, list, number, object, template, text, yes};
use crate::Arg;

#[test]
fn redis_commands_say_what_they_do_to_their_key() {
    check(
        |s, [id, amount, data]| {
            s.construct = true;
            let redis = s.export("ioredis", "", []);
            s.construct = false;
            s.method(&redis, "get", [id.clone()]);
            s.method(&redis, "set", [id.clone(), data.clone()]);
            s.method(&redis, "set", [id.clone(), data.clone(), text("PX"), number(10), text("NX")]);
            s.method(&redis, "set", [id.clone(), data.clone(), object([("NX", yes())])]);
            s.method(&redis, "setnx", [id.clone(), data.clone()]);
            s.method(&redis, "incr", [id.clone()]);
            s.method(&redis, "expire", [id.clone(), number(60)]);
            s.method(&redis, "hget", [id.clone(), text("n")]);
            s.method(&redis, "hset", [id.clone(), text("n"), amount.clone()]);
            s.method(&redis, "hincrby", [id.clone(), text("n"), amount.clone()]);
            s.method(&redis, "eval", [text("return 1"), number(1), id.clone(), amount.clone()]);
            s.method(&redis, "eval", [text("return 1"), object([("keys", list([id.clone()]))])]);
            s.method(&redis, "del", [id.clone()]);
            s.method(&redis, "quit", []);
        },
        expect![[r##"
            1       made = new
            1       open made
            2       get = read key id via made
            3       set = write blind key id from data via made
            4       set.2 = write exclusive key id from data via made
            5       set.3 = write exclusive key id from data via made
            6       setnx = write exclusive key id from data via made
            7       incr = write atomic key id via made
            8       expire = write expiry key id via made
            9       hget = read key id + "#" + "n" via made
            10      hset = write blind key id + "#" + "n" from amount via made
            11      hincrby = write atomic key id + "#" + "n" from amount via made
            12      eval = write atomic key id from id, amount via made
            13      eval.2 = write atomic key id from id via made
            14      del = delete key id via made
            15      close made
            15      quit = derived from made
        "##]],
    );
}

#[test]
fn redis_transactions_hold_what_is_queued_in_them() {
    check(
        |s, [id, ..]| {
            let redis = s.object("redis.Client", "redis");
            let queued = [
                ("multi", vec![]),
                ("incr", vec![id.clone()]),
                ("expire", vec![id.clone(), number(60)]),
                ("exec", vec![]),
            ];
            s.chain(&redis, &queued);
            s.method(&redis, "watch", [id.clone()]);
            s.method(&redis, "get", [id.clone()]);
            s.chain(&redis, &[("multi", vec![]), ("set", vec![id.clone(), number(1)]), ("exec", vec![])]);
            s.chain(&redis, &[("pipeline", vec![]), ("incr", vec![id.clone()]), ("exec", vec![])]);
        },
        expect![[r#"
            1       begin single-writer via ::a.ts::redis
            1       multi = derived
            1       incr = write atomic key id via ::a.ts::redis
            1       expire = write expiry key id via ::a.ts::redis
            1       commit via ::a.ts::redis
            1       exec = derived from expire
            2       begin first-updater-wins via ::a.ts::redis
            2       watch = derived from id
            3       get = read key id via ::a.ts::redis
            4       begin single-writer via ::a.ts::redis
            4       multi.2 = derived
            4       set = write blind key id via ::a.ts::redis
            4       commit via ::a.ts::redis
            4       exec.2 = derived from set
            5       pipeline = derived
            5       incr.2 = write atomic key id via ::a.ts::redis
            5       exec.3 = derived from incr.2
        "#]],
    );
}

#[test]
fn documents_are_found_and_changed_by_filters() {
    check(
        |s, [id, amount, data]| {
            let client = s.create("mongodb", "MongoClient", [text("mongodb://localhost")]);
            let db = s.method(&client, "db", [text("bank")]);
            let wallets = s.method(&db, "collection", [text("wallets")]);
            let by_id = || object([("_id", id.clone())]);
            s.method(&wallets, "findOne", [by_id()]);
            s.method(
                &wallets,
                "findOne",
                [by_id(), object([("projection", object([("balance", number(1))]))])],
            );
            let inc = || object([("$inc", object([("balance", amount.clone())]))]);
            s.method(&wallets, "updateOne", [by_id(), inc()]);
            s.method(
                &wallets,
                "updateOne",
                [by_id(), object([("$set", object([("balance", amount.clone())]))])],
            );
            let covered = || object([("_id", id.clone()), ("balance", object([("$gte", amount.clone())]))]);
            s.method(&wallets, "updateOne", [covered(), inc()]);
            s.method(&wallets, "findOneAndUpdate", [covered(), inc()]);
            let versioned = object([("_id", id.clone()), ("version", amount.clone())]);
            let both = object([
                ("$set", object([("body", data.clone())])),
                ("$inc", object([("version", number(1))])),
            ]);
            s.method(&wallets, "updateOne", [versioned, both.clone()]);
            s.method(&wallets, "updateOne", [by_id(), both]);
            s.method(&wallets, "replaceOne", [by_id(), data.clone()]);
            s.method(&wallets, "insertOne", [object([("_id", id.clone()), ("balance", number(0))])]);
            let new = object([("$setOnInsert", object([("balance", number(0))]))]);
            s.method(&wallets, "updateOne", [by_id(), new, object([("upsert", yes())])]);
            s.method(&wallets, "deleteOne", [covered()]);
            s.method(&wallets, "deleteMany", [object([])]);
            s.method(&wallets, "updateOne", [data, inc()]);
        },
        expect![[r#"
            1       MongoClient = new
            2       db = derived from MongoClient
            3       collection = derived from db
            4       findOne = read row "wallets"[id]
            5       findOne.2 = read row "wallets"[id].{balance}
            6       updateOne = write atomic row "wallets"[id].{balance} from amount
            7       updateOne.2 = write blind row "wallets"[id].{balance} from amount
            8       updateOne.3 = write conditional row "wallets"[id].{balance} when balance >= amount from amount
            9       findOneAndUpdate = write conditional row "wallets"[id].{balance} when balance >= amount from amount
            10      updateOne.4 = write conditional row "wallets"[id].{body, version} when version = amount from data
            11      updateOne.5 = write atomic row "wallets"[id].{version}
            11      write blind row "wallets"[id].{body} from data
            12      replaceOne = write blind row "wallets"[id] from data
            13      insertOne = write exclusive row "wallets"[id].{_id, balance} from id
            14      updateOne.6 = write ensure row "wallets"[id].{balance}
            15      deleteOne = delete row "wallets"[id] when balance >= amount
            16      deleteMany = delete row "wallets"[*]
            17      updateOne.7 = write atomic row "wallets"[?].{balance} from amount
        "#]],
    );
}

#[test]
fn a_mongo_session_carries_the_transaction() {
    check(
        |s, [id, amount, _]| {
            let client = s.object("mongodb.Client", "client");
            let wallets = s.object("mongodb.Collection", "wallets");
            let session = s.method(&client, "startSession", []);
            s.method(&session, "startTransaction", []);
            let inc = object([("$inc", object([("balance", amount.clone())]))]);
            let options = object([("session", session.arg())]);
            s.method(&wallets, "updateOne", [object([("_id", id.clone())]), inc, options]);
            s.method(&session, "commitTransaction", []);
            s.method(&session, "withTransaction", [closure()]);
            let given = s.method(&client, "withSession", [closure()]);
            assert_eq!(&*given.parameters[0].2.name, "mongodb.Session");
        },
        expect![[r#"
            1       startSession = derived
            2       begin first-updater-wins via startSession
            2       startTransaction = derived from startSession
            3       updateOne = write atomic row "wallets"[id].{balance} from amount via startSession
            4       commit via startSession
            4       commitTransaction = derived from startSession
            5       begin first-updater-wins via startSession
            5       try
            5         withTransaction = call fn closure()
            5         commit via startSession
                    catch
            5         rollback via startSession
            5         throw
            6       given = new
            6       withSession = call fn closure(given)
        "#]],
    );
}

#[test]
fn ids_in_another_form_name_the_same_document() {
    check(
        |s, [id, ..]| {
            let users = s.object("mongodb.Collection", "users");
            let wrapped = s.create("mongodb", "ObjectId", [id.clone()]);
            s.method(&users, "findOne", [object([("_id", wrapped.arg())])]);
            let again = s.create("mongodb", "ObjectId", [id.clone()]);
            s.method(&users, "deleteOne", [object([("_id", again.arg())])]);
        },
        expect![[r#"
            1       ObjectId = derived from id
            2       findOne = read row "users"[id]
            3       ObjectId.2 = derived from id
            4       deleteOne = delete row "users"[id]
        "#]],
    );
}

#[test]
fn smaller_stores_have_keys_and_documents() {
    check(
        |s, [id, amount, data]| {
            let keyv = s.create("keyv", "", []);
            s.method(&keyv, "get", [id.clone()]);
            s.method(&keyv, "set", [id.clone(), data.clone()]);
            let level = s.create("level", "Level", [text("db")]);
            s.method(&level, "get", [id.clone()]);
            s.method(&level, "put", [id.clone(), data.clone()]);
            let db = s.plain("firebase-admin/firestore", "getFirestore", []);
            s.awaited = false;
            let wallets = s.method(&db, "collection", [text("wallets")]);
            let wallet = s.method(&wallets, "doc", [id.clone()]);
            s.awaited = true;
            s.method(&wallet, "get", []);
            s.method(&wallet, "update", [object([("balance", amount.clone())])]);
            let more = s.plain("firebase-admin/firestore", "FieldValue.increment", [amount.clone()]).arg();
            s.method(&wallet, "update", [object([("balance", more)])]);
            s.method(&wallet, "create", [object([("balance", amount)])]);
            s.method(&db, "runTransaction", [closure()]);
        },
        expect![[r#"
            1       made = new
            2       get = read key id
            3       set = write blind key id from data
            4       Level = new
            5       get.2 = read key id
            6       put = write blind key id from data
            7       getFirestore = derived
            8       collection = derived from getFirestore
            9       doc = derived from collection, id
            10      get.3 = read row "wallets"[id]
            11      update = write blind row "wallets"[id].{balance} from amount
            12      increment = derived from amount
            13      update.2 = write atomic row "wallets"[id].{balance} from increment
            14      create = write exclusive row "wallets"[id].{id, balance} from amount
            15      given = new
            15      begin serializable via given
            15      try
            15        runTransaction = call fn closure(given)
            15        commit via given
                    catch
            15        rollback via given
            15        throw
        "#]],
    );
}

#[test]
fn what_a_worker_is_bound_to_is_a_store() {
    check(
        |s, [id, _, data]| {
            let notes = s.object("workers.Store", "notes");
            s.method(&notes, "get", [id.clone()]);
            s.method(&notes, "put", [id.clone(), data.clone()]);
            s.method(&notes, "put", [id.clone(), data.clone(), object([("onlyIf", id.clone())])]);
            let mut bound = s.stranger("context");
            bound.path = bound.path.field("env").field("NOTES");
            s.method(&bound, "get", [id.clone()]);
            s.method(&bound, "delete", [id]);
        },
        expect![[r##"
            1       get = read key ::a.ts::notes + "#" + id
            2       put = write blind key ::a.ts::notes + "#" + id from data
            3       put.2 = write atomic key ::a.ts::notes + "#" + id from data
            4       get.2 = read key ::a.ts::context.env.NOTES + "#" + id
            5       delete = delete key ::a.ts::context.env.NOTES + "#" + id
        "##]],
    );
}

#[test]
fn records_of_a_vector_store_are_named_by_their_ids() {
    check(
        |s, [id, amount, data]| {
            let client = s.create("chromadb", "ChromaClient", []);
            let notes = s.method(&client, "getOrCreateCollection", [object([("name", text("notes"))])]);
            let ids = || ("ids", list([id.clone()]));
            let metadatas = |metadata| ("metadatas", list([metadata]));
            s.method(&notes, "get", [object([ids()])]);
            s.method(&notes, "get", [object([("ids", list([id.clone(), amount.clone()]))])]);
            s.method(&notes, "get", [object([("where", object([("title", id.clone())]))])]);
            s.method(&notes, "get", []);
            s.method(&notes, "count", []);
            let titled = || metadatas(object([("id", id.clone()), ("title", data.clone())]));
            s.method(&notes, "add", [object([ids(), titled(), ("documents", list([amount.clone()]))])]);
            s.method(&notes, "add", [object([("ids", data.clone())])]);
            s.method(&notes, "update", [object([ids(), titled()])]);
            s.method(&notes, "update", [object([ids(), titled(), ("documents", list([amount.clone()]))])]);
            s.method(&notes, "update", [object([ids(), metadatas(data.clone())])]);
            s.method(&notes, "upsert", [object([ids(), metadatas(data.clone())])]);
            s.method(&notes, "upsert", [object([("ids", list([id.clone(), amount])), metadatas(data)])]);
            s.method(&notes, "delete", [object([ids()])]);
            s.method(&notes, "delete", [object([("where", object([("title", id)]))])]);
            s.method(&client, "deleteCollection", [object([("name", text("notes"))])]);
        },
        expect![[r#"
            1       ChromaClient = new
            2       getOrCreateCollection = derived from ChromaClient
            3       get = read row "notes"[id] by its key
            4       get.2 = read row "notes"[*]
            5       get.3 = read row "notes"[id]
            6       get.4 = read row "notes"[*]
            7       count = read total of row "notes"[*]
            8       add = write exclusive row "notes"[id] from id, data, amount
            9       add.2 = write exclusive row "notes"[data] from data
            10      update = write blind row "notes"[id].{title} from data
            11      update.2 = write blind row "notes"[id] from id, data, amount
            12      update.3 = write blind row "notes"[id] from id, data
            13      upsert = write blind row "notes"[id] from id, data
            14      upsert.2 = write blind row "notes"[*] from id, amount, data
            15      delete = delete row "notes"[id]
            16      delete.2 = delete row "notes"[id]
            17      deleteCollection = delete row "notes"[*]
        "#]],
    );
}

#[test]
fn points_are_replaced_whole_and_their_payloads_field_by_field() {
    check(
        |s, [id, amount, data]| {
            let client = s.create("@qdrant/js-client-rest", "QdrantClient", []);
            let name = s.constant("NAME", text("notes"));
            let points = || ("points", list([id.clone()]));
            let mut call = |method: &str, with: Arg| {
                s.method(&client, method, [name.clone(), with]);
            };
            call("retrieve", object([("ids", list([id.clone()]))]));
            call("retrieve", object([("ids", list([id.clone(), amount.clone()]))]));
            let equal = |key: &str, value: &Arg| {
                object([("key", text(key)), ("match", object([("value", value.clone())]))])
            };
            let by_title = || ("filter", object([("must", list([equal("title", &data)]))]));
            call("scroll", object([by_title()]));
            let mine = list([object([("has_id", list([id.clone()]))]), equal("meta.owner", &data)]);
            call("scroll", object([("filter", object([("must", mine)]))]));
            let some = list([object([("key", text("age")), ("range", object([("gte", number(3))]))])]);
            call("count", object([("filter", object([("must", some), ("should", list([]))]))]));
            let point = || object([("id", id.clone()), ("payload", data.clone())]);
            call("upsert", object([("points", list([point()]))]));
            call("upsert", object([("points", list([point(), point()]))]));
            call("upsert", object([("points", data.clone())]));
            let same = object([("must", list([equal("version", &amount)]))]);
            call("upsert", object([("points", list([point()])), ("update_filter", same)]));
            call("upsert", object([("points", list([point()])), ("update_mode", text("insert_only"))]));
            let payload = || ("payload", object([("id", id.clone()), ("state", amount.clone())]));
            call("setPayload", object([points(), payload()]));
            call("setPayload", object([points(), ("payload", data.clone())]));
            call("setPayload", object([by_title(), payload()]));
            call("overwritePayload", object([points(), payload()]));
            call("deletePayload", object([points(), ("keys", list([text("state")]))]));
            call("clearPayload", object([points()]));
            call(
                "updateVectors",
                object([("points", list([object([("id", id.clone()), ("vector", data.clone())])]))]),
            );
            call("delete", object([points()]));
            call("delete", object([by_title()]));
            call("deleteCollection", object([]));
        },
        expect![[r#"
            1       QdrantClient = new
            2       retrieve = read row "notes"[id] by its key
            3       retrieve.2 = read row "notes"[*]
            4       scroll = read row "notes"[data]
            5       scroll.2 = read row "notes"[id] demanding owner
            6       count = read total of row "notes"[*] demanding age, should
            7       upsert = write blind row "notes"[id] from id, data
            8       upsert.2 = write blind row "notes"[*] from id, data
            9       upsert.3 = write blind row "notes"[*] from data
            10      upsert.4 = write conditional row "notes"[id] when version = amount from id, data, amount
            11      upsert.5 = write exclusive row "notes"[id] from id, data
            12      setPayload = write blind row "notes"[id].{state} from amount
            13      setPayload.2 = write blind row "notes"[id] from data
            14      setPayload.3 = write blind row "notes"[data].{id, state} from id, amount
            15      overwritePayload = write blind row "notes"[id] from id, amount
            16      deletePayload = write atomic row "notes"[id].{state}
            17      clearPayload = write blind row "notes"[id]
            18      updateVectors = write blind row "notes"[id].{vector} from data
            19      delete = delete row "notes"[id]
            20      delete.2 = delete row "notes"[data]
            21      deleteCollection = delete row "notes"[*]
        "#]],
    );
}

#[test]
fn a_table_of_lancedb_is_asked_and_changed_by_the_text_of_a_condition() {
    check(
        |s, [id, _, data]| {
            let db = s.export("@lancedb/lancedb", "connect", [text("/data")]);
            let table = s.method(&db, "openTable", [text("memories")]);
            let by_id = || template([text("id = '"), id.clone(), text("'")]);
            s.chain(&table, &[("query", vec![]), ("where", vec![by_id()]), ("toArray", vec![])]);
            s.method(&table, "delete", [by_id()]);
            s.method(&table, "add", [list([object([("id", id.clone()), ("content", data.clone())])])]);
            s.method(
                &table,
                "update",
                [object([("where", by_id()), ("values", object([("content", data.clone())]))])],
            );
            s.method(&table, "countRows", [by_id()]);
        },
        expect![[r##"
            1       connect = derived
            2       openTable = derived from connect
            3       query = new
            3       where = new
            3       toArray = read row "memories"[id]
            4       delete = delete row "memories"[id]
            5       add = write exclusive row "memories"[id].{id, content} from id, data
            6       update = write blind row "memories"[id].{content} from data
            7       countRows = read total of row "memories"[id]
        "##]],
    );
}
