//! What the libraries of Python do: stores of keys, documents and rows, files that are rewritten, services by how methods begin.

use std::sync::LazyLock;

use expect_test::{Expect, expect};

use super::script::{Script, check_with, list, number, object, text, yes};
use crate::{Arg, knowledge::Knowledge, python};

fn knowledge() -> &'static Knowledge {
    static READ: LazyLock<Knowledge> = LazyLock::new(|| Knowledge::of(python::LANGUAGE).unwrap());
    &READ
}

fn check(steps: impl FnOnce(&mut Script<'_, '_>, [Arg; 3]), expected: Expect) {
    check_with(
        knowledge(),
        |s, arguments| {
            s.awaited = false;
            steps(s, arguments);
        },
        expected,
    );
}

#[test]
fn all_that_is_said_can_be_read() {
    for texts in [python::EFFECT_TEXTS, crate::go::EFFECT_TEXTS] {
        let mut read = Knowledge::default();
        for text in texts {
            read.extend(text).unwrap();
        }
    }
}

#[test]
fn entries_of_what_is_kept_are_read_and_written_by_their_keys() {
    check(
        |s, [id, amount, data]| {
            let shelf = s.export("shelve", "open", [text("counts")]);
            s.method(&shelf, "__getitem__", [id.clone()]);
            s.method(&shelf, "__setitem__", [id.clone(), data.clone()]);
            s.method(&shelf, "__delitem__", [id.clone()]);
            let cache = s.create("diskcache", "Cache", [text("cache")]);
            s.method(&cache, "get", [id.clone()]);
            s.method(&cache, "set", [id.clone(), data.clone()]);
            s.method(&cache, "add", [id.clone(), data]);
            s.method(&cache, "incr", [id, amount]);
            let held = s.method(&cache, "transact", []);
            s.method(&held, "__enter__", []);
            s.method(&held, "__exit__", []);
        },
        expect![[r##"
            1       open = derived
            2       __getitem__ = read key "counts" + "#" + id
            3       __setitem__ = write blind key "counts" + "#" + id from data
            4       __delitem__ = delete key "counts" + "#" + id
            5       Cache = new
            6       get = read key "cache" + "#" + id
            7       set = write blind key "cache" + "#" + id from data
            8       add = write exclusive key "cache" + "#" + id from data
            9       incr = write atomic key "cache" + "#" + id
            10      transact = derived from Cache
            11      acquire ::diskcache for "cache" across processes
            11      __enter__ = derived from transact
            12      release ::diskcache for "cache" across processes
            12      __exit__ = derived from transact
        "##]],
    );
}

#[test]
fn a_file_that_is_rewritten_is_read_before() {
    check(
        |s, [id, _, data]| {
            let db = s.create("tinydb", "TinyDB", [text("notes.json")]);
            s.method(&db, "search", [id.clone()]);
            s.method(&db, "insert", [data.clone()]);
            s.export("dotenv", "set_key", [text(".env"), id, data]);
        },
        expect![[r#"
            1       TinyDB = new
            2       search = read file "notes.json"
            3       content = read file "notes.json"
            3       insert = write blind file "notes.json" from data, content
            4       content.2 = read file ".env"
            4       set_key = write blind file ".env" from data, content.2
        "#]],
    );
}

#[test]
fn objects_in_the_cloud_are_named_by_bucket_and_key() {
    check(
        |s, [id, _, data]| {
            let s3 = s.export("boto3", "client", [text("s3")]);
            let named = || [("Bucket", text("notes")), ("Key", id.clone())];
            let [bucket, key] = named();
            s.method(&s3, "get_object", [object([bucket, key])]);
            let [bucket, key] = named();
            s.method(&s3, "put_object", [object([bucket, key, ("Body", data.clone())])]);
            let [bucket, key] = named();
            s.method(
                &s3,
                "put_object",
                [object([bucket, key, ("Body", data.clone()), ("IfNoneMatch", text("*"))])],
            );
            let [bucket, key] = named();
            s.method(
                &s3,
                "put_object",
                [object([bucket, key, ("Body", data.clone()), ("IfMatch", id.clone())])],
            );
            let client = s.create("google.cloud.storage", "Client", []);
            let bucket = s.method(&client, "bucket", [text("notes")]);
            let blob = s.method(&bucket, "blob", [id.clone()]);
            s.method(&blob, "download_as_text", []);
            s.method(&blob, "upload_from_string", [data.clone()]);
            s.method(
                &blob,
                "upload_from_string",
                [data.clone(), object([("if_generation_match", number(0))])],
            );
            s.method(&blob, "upload_from_string", [data, object([("if_generation_match", id)])]);
        },
        expect![[r##"
            1       client = derived
            2       get_object = read key "notes" + "#" + id
            3       put_object = write blind key "notes" + "#" + id from data
            4       put_object.2 = write exclusive key "notes" + "#" + id from data
            5       put_object.3 = write conditional key "notes" + "#" + id when ETag = id from data
            6       Client = new
            7       bucket = derived from Client
            8       blob = derived from bucket, id
            9       download_as_text = read key "notes" + "#" + id
            10      upload_from_string = write blind key "notes" + "#" + id from data
            11      upload_from_string.2 = write exclusive key "notes" + "#" + id from data
            12      upload_from_string.3 = write conditional key "notes" + "#" + id when generation = id from data
        "##]],
    );
}

#[test]
fn items_of_a_table_are_replaced_counted_and_guarded() {
    check(
        |s, [id, amount, data]| {
            let tables = s.export("boto3", "resource", [text("dynamodb")]);
            let table = s.method(&tables, "Table", [text("accounts")]);
            let key = || ("Key", object([("id", id.clone())]));
            s.method(&table, "get_item", [object([key()])]);
            let item = || ("Item", object([("id", id.clone()), ("n", data.clone())]));
            s.method(&table, "put_item", [object([item()])]);
            s.method(
                &table,
                "put_item",
                [object([item(), ("ConditionExpression", text("attribute_not_exists(id)"))])],
            );
            let values = || ("ExpressionAttributeValues", object([(":n", amount.clone())]));
            s.method(
                &table,
                "update_item",
                [object([key(), ("UpdateExpression", text("ADD n :n")), values()])],
            );
            s.method(
                &table,
                "update_item",
                [object([key(), ("UpdateExpression", text("SET n = :n")), values()])],
            );
            s.method(&table, "delete_item", [object([key()])]);
        },
        expect![[r#"
            1       resource = derived
            2       Table = derived from resource
            3       get_item = read row "accounts"[id]
            4       put_item = write blind row "accounts"[id].{id, n} from id, data
            5       put_item.2 = write conditional row "accounts"[id].{id, n} when ? ? ? from id, data
            5       check put_item.2
                    else
            5         throw
            6       update_item = write atomic row "accounts"[id]
            7       update_item.2 = write blind row "accounts"[id].{:n} from amount
            8       delete_item = delete row "accounts"[id]
        "#]],
    );
}

#[test]
fn documents_are_put_counted_and_created() {
    check(
        |s, [id, amount, data]| {
            let db = s.create("google.cloud.firestore", "Client", []);
            let all = s.method(&db, "collection", [text("rooms")]);
            let one = s.method(&all, "document", [id.clone()]);
            s.method(&one, "get", []);
            s.method(&one, "set", [object([("owner", data.clone())])]);
            let more = s.export("google.cloud.firestore", "Increment", [amount]).arg();
            s.method(&one, "update", [object([("n", more)])]);
            s.method(&one, "create", [object([("owner", data.clone())])]);
            let es = s.create("elasticsearch", "Elasticsearch", []);
            let named = || [("index", text("notes")), ("id", id.clone())];
            let [index, key] = named();
            s.method(&es, "get", [object([index, key])]);
            let [index, key] = named();
            s.method(&es, "index", [object([index, key, ("document", object([("body", data.clone())]))])]);
            let [index, key] = named();
            s.method(
                &es,
                "index",
                [object([index, key, ("document", object([("body", data)])), ("if_seq_no", id.clone())])],
            );
            let [index, key] = named();
            s.method(&es, "update", [object([index, key, ("script", text("ctx._source.n += 1"))])]);
        },
        expect![[r#"
            1       Client = new
            2       collection = derived from Client
            3       document = derived from collection, id
            4       get = read row "rooms"[id] by its key
            5       set = write blind row "rooms"[id].{owner} from data
            6       Increment = derived from amount
            7       update = write atomic row "rooms"[id].{n} from Increment
            8       create = write exclusive row "rooms"[id].{id, owner} from id, data
            9       Elasticsearch = new
            10      get.2 = read row "notes"[id] by its key via pool Elasticsearch
            11      index = write blind row "notes"[id].{body} from data via pool Elasticsearch
            12      index.2 = write conditional row "notes"[id].{body} when seq_no = id from data via pool Elasticsearch
            13      update.2 = write atomic row "notes"[id] via pool Elasticsearch
        "#]],
    );
}

#[test]
fn statements_of_a_service_run_where_they_are_executed() {
    check(
        |s, [id, amount, _]| {
            let client = s.export("supabase", "create_client", [text("https://x.example"), id.clone()]);
            let chain = |s: &mut Script<'_, '_>, calls: Vec<(&str, Vec<Arg>)>| {
                let mut at = client.clone();
                for (name, arguments) in calls {
                    at = s.method(&at, name, arguments);
                }
            };
            let by_id = || vec![text("id"), id.clone()];
            chain(
                s,
                vec![
                    ("table", vec![text("accounts")]),
                    ("select", vec![text("balance")]),
                    ("eq", by_id()),
                    ("execute", vec![]),
                ],
            );
            chain(
                s,
                vec![
                    ("table", vec![text("accounts")]),
                    ("update", vec![object([("balance", amount.clone())])]),
                    ("eq", by_id()),
                    ("execute", vec![]),
                ],
            );
            chain(s, vec![("rpc", vec![text("spend"), amount]), ("execute", vec![])]);
        },
        expect![[r#"
            1       create_client = new
            2       table = new
            3       select = new
            4       eq = new
            5       execute = read row "accounts"[id].{balance} via pool create_client
            6       table.2 = new
            7       update = new
            8       eq.2 = new
            9       execute.2 = write blind row "accounts"[id].{balance} from amount via pool create_client
            10      rpc = derived from create_client, amount
            11      execute.3 = derived from rpc
        "#]],
    );
}

#[test]
fn services_are_asked_and_told_by_how_their_methods_begin() {
    check(
        |s, [id, _, data]| {
            let api = s.create("kubernetes.client", "CoreV1Api", []);
            s.method(&api, "read_namespaced_pod", [id.clone()]);
            s.method(&api, "patch_namespaced_pod", [id.clone(), data.clone()]);
            let ec2 = s.export("boto3", "client", [text("ec2")]);
            s.method(&ec2, "describe_instances", []);
            s.method(&ec2, "run_instances", []);
            let slack = s.create("slack_sdk", "WebClient", []);
            s.method(&slack, "chat_postMessage", [object([("channel", id.clone()), ("text", data.clone())])]);
            s.method(&slack, "conversations_history", [object([("channel", id.clone())])]);
            s.export("networkx", "read_graphml", [text("graph.graphml")]);
            s.export("networkx", "write_graphml", [data, text("graph.graphml")]);
            s.export("faiss", "IndexFlatL2", [id]);
        },
        expect![[r#"
            1       CoreV1Api = new
            2       read_namespaced_pod = ask "kubernetes/" + id
            3       patch_namespaced_pod = settle at "kubernetes/" + id with id, data
            4       client = derived
            5       describe_instances = ask "aws"
            6       run_instances = send to "aws"
            7       WebClient = new
            8       chat_postMessage = effect on "slack"
            9       conversations_history = ask "slack"
            10      read_graphml = read file "graph.graphml"
            11      write_graphml = write blind file "graph.graphml" from data
            12      IndexFlatL2 = derived from id
        "#]],
    );
}

#[test]
fn tables_of_small_databases_are_members_by_their_names() {
    check(
        |s, [id, amount, data]| {
            let db = s.create("sqlite_utils", "Database", [text("notes.db")]);
            let notes = s.method(&db, "table", [text("notes")]);
            s.method(&notes, "get", [id.clone()]);
            s.method(&notes, "update", [id.clone(), object([("n", amount)])]);
            s.method(&notes, "insert", [object([("id", id.clone())]), object([("ignore", yes())])]);
            s.method(
                &notes,
                "upsert",
                [object([("id", id.clone()), ("text", data)]), object([("pk", text("id"))])],
            );
            s.method(&notes, "delete", [id.clone()]);
            let index = s.create("pymilvus", "MilvusClient", []);
            let named = || ("collection_name", text("notes"));
            s.method(&index, "get", [object([named(), ("ids", list([id]))])]);
        },
        expect![[r#"
            1       Database = new
            2       table = derived from Database
            3       get = read row "notes"[id] by its key via Database
            4       update = write blind row "notes"[id].{n} from amount via Database
            5       insert = write ensure row "notes"[id].{id} from id via Database
            6       upsert = write blind row "notes"[id].{id, text} from id, data via Database
            7       delete = delete row "notes"[id] via Database
            8       MilvusClient = new
            9       get.2 = read row "notes"[id] by its key via pool MilvusClient
        "#]],
    );
}
