//! Stores whose records are named by paths, and what was put together to name them.

use expect_test::expect;

use super::script::{check, closure, object, template, text, yes};
use crate::Arg;

#[test]
fn a_reference_says_which_record_it_is_part_by_part() {
    check(
        |s, [id, amount, data]| {
            let db = s.plain("firebase-admin/database", "getDatabase", []);
            s.awaited = false;
            let notes = s.method(&db, "ref", [text("notes")]);
            let note = s.method(&notes, "child", [id.clone()]);
            let same = s.method(&db, "ref", [template([text("notes/"), id.clone()])]);
            let title = s.method(&same, "child", [text("title")]);
            let new = s.method(&notes, "push", []);
            s.awaited = true;
            s.method(&notes, "once", [text("value")]);
            s.method(&note, "once", [text("value")]);
            s.method(&same, "set", [data.clone()]);
            s.method(&same, "update", [object([("title", amount.clone())])]);
            s.method(&title, "get", []);
            s.method(&title, "set", [amount.clone()]);
            s.method(&title, "transaction", [closure()]);
            s.method(&same, "transaction", [closure()]);
            s.method(&same, "remove", []);
            s.method(&new, "set", [data.clone()]);
            s.method(&notes, "push", [data.clone()]);
            let more = s.plain("firebase-admin/database", "ServerValue.increment", [amount.clone()]).arg();
            s.method(&same, "update", [object([("count", more)])]);
            s.awaited = false;
            let all = s.method(&db, "ref", []);
            s.awaited = true;
            s.method(
                &all,
                "update",
                [object([("notes/first/title", data.clone()), ("owners/first", amount)])],
            );
            s.method(&all, "update", [data]);
        },
        expect![[r#"
            1       getDatabase = derived
            2       ref = derived from getDatabase
            3       child = derived from ref, id
            4       ref.2 = derived from getDatabase, id
            5       child.2 = derived from ref.2
            6       push = ref from ref
            7       once = read row "notes"[*]
            8       once.2 = read row "notes"[id]
            9       set = write blind row "notes"[id] from data
            10      update = write blind row "notes"[id].{title} from amount
            11      get = read row "notes"[id].{title}
            12      set.2 = write blind row "notes"[id].{title} from amount
            13      transaction = write atomic row "notes"[id].{title}
            13      call fn closure()
            14      transaction.2 = write atomic row "notes"[id]
            14      call fn closure()
            15      remove = delete row "notes"[id]
            16      set.3 = write blind row "notes"[random] from data
            17      push.2 = write exclusive row "notes"[random] from data
            18      increment = derived from amount
            19      update.2 = write atomic row "notes"[id].{count} from increment
            20      ref.3 = derived from getDatabase
            21      update.3 = write blind row "notes/first"["title"] from data
            21      write blind row "owners"["first"] from amount
            22      update.4 = derived from ref.3, data
        "#]],
    );
}

#[test]
fn functions_that_are_handed_a_reference_are_its_methods() {
    check(
        |s, [id, amount, data]| {
            let db = s.plain("firebase/database", "getDatabase", []);
            s.awaited = false;
            let note =
                s.export("firebase/database", "ref", [db.arg(), template([text("notes/"), id.clone()])]);
            let title = s.export("firebase/database", "child", [note.arg(), text("title")]);
            let notes = s.export("firebase/database", "ref", [db.arg(), text("notes")]);
            let new = s.export("firebase/database", "push", [notes.arg()]);
            s.awaited = true;
            s.export("firebase/database", "get", [note.arg()]);
            s.export("firebase/database", "set", [note.arg(), data.clone()]);
            s.export("firebase/database", "set", [new.arg(), data]);
            s.export("firebase/database", "update", [note.arg(), object([("title", amount)])]);
            s.export("firebase/database", "runTransaction", [title.arg(), closure()]);
            s.export("firebase/database", "remove", [note.arg()]);
        },
        expect![[r#"
            1       getDatabase = derived
            2       ref = derived from getDatabase, id
            3       child = derived from ref
            4       ref.2 = derived from getDatabase
            5       push = derived from ref.2
            6       get = read row "notes"[id]
            7       set = write blind row "notes"[id] from data
            8       set.2 = write blind row "notes"[random] from data
            9       update = write blind row "notes"[id].{title} from amount
            10      runTransaction = write atomic row "notes"[id].{title}
            10      call fn closure()
            11      remove = delete row "notes"[id]
        "#]],
    );
}

#[test]
fn documents_lie_in_collections_that_lie_in_documents() {
    check(
        |s, [id, amount, data]| {
            let app = s.plain("firebase-admin", "initializeApp", []);
            s.awaited = false;
            let db = s.method(&app, "firestore", []);
            let users = s.method(&db, "collection", [text("users")]);
            let user = s.method(&users, "doc", [id.clone()]);
            let notes = s.method(&user, "collection", [text("notes")]);
            let note = s.method(&notes, "doc", [text("first")]);
            let new = s.method(&notes, "doc", []);
            let by_path = s.method(&db, "doc", [template([text("users/"), id.clone()])]);
            s.awaited = true;
            s.method(&user, "get", []);
            s.method(&by_path, "get", []);
            s.method(&user, "set", [data.clone()]);
            s.method(&user, "set", [object([("age", amount.clone())]), object([("merge", yes())])]);
            s.method(&user, "update", [object([("age", amount.clone())])]);
            let seen = object([("lastUpdateTime", data.clone())]);
            s.method(&user, "update", [object([("age", amount.clone())]), seen]);
            s.method(&user, "create", [object([("age", amount.clone())])]);
            s.method(&user, "delete", []);
            s.method(&note, "set", [data.clone()]);
            s.method(&new, "set", [data.clone()]);
            s.method(&notes, "add", [data]);
            let asked = [text("age"), text("=="), amount];
            s.chain(&users, &[("where", asked.to_vec()), ("get", vec![])]);
            s.chain(&users, &[("count", vec![]), ("get", vec![])]);
        },
        expect![[r#"
            1       initializeApp = derived
            2       firestore = derived from initializeApp
            3       collection = derived from firestore
            4       doc = derived from collection, id
            5       collection.2 = derived from doc
            6       doc.2 = derived from collection.2
            7       doc.3 = derived from collection.2
            8       doc.4 = derived from firestore, id
            9       get = read row "users"[id]
            10      get.2 = read row "users"[id]
            11      set = write blind row "users"[id] from data
            12      set.2 = write blind row "users"[id].{age} from amount
            13      update = write blind row "users"[id].{age} from amount
            14      update.2 = write atomic row "users"[id]
            15      create = write exclusive row "users"[id].{id, age} from amount
            16      delete = delete row "users"[id]
            17      set.3 = write blind row "users/" + id + "/notes"["first"] from data
            18      set.4 = write blind row "users/" + id + "/notes"[random] from data
            19      add = write exclusive row "users/" + id + "/notes"[random] from data
            20      where = new
            20      get.3 = read row "users"[amount]
            21      count = new
            21      get.4 = read total of row "users"[*]
        "#]],
    );
}

#[test]
fn the_same_by_functions() {
    check(
        |s, [id, amount, data]| {
            let library = "firebase/firestore";
            let db = s.plain(library, "getFirestore", []);
            s.awaited = false;
            let users = s.export(library, "collection", [db.arg(), text("users")]);
            let user = s.export(library, "doc", [db.arg(), text("users"), id.clone()]);
            let same = s.export(library, "doc", [users.arg(), id.clone()]);
            let new = s.export(library, "doc", [users.arg()]);
            let aged = s.export(library, "where", [text("age"), text("=="), amount.clone()]);
            let first = s.export(library, "limit", [amount.clone()]);
            let asked = s.export(library, "query", [users.arg(), aged.arg(), first.arg()]);
            s.awaited = true;
            s.export(library, "getDoc", [user.arg()]);
            s.export(library, "getDocs", [users.arg()]);
            s.export(library, "getDocs", [asked.arg()]);
            s.export(library, "setDoc", [same.arg(), data.clone()]);
            s.export(library, "setDoc", [new.arg(), data.clone()]);
            s.export(library, "updateDoc", [same.arg(), object([("age", amount.clone())])]);
            let more = s.plain(library, "increment", [amount.clone()]).arg();
            s.export(library, "updateDoc", [same.arg(), object([("age", more)])]);
            s.export(library, "addDoc", [users.arg(), data]);
            s.export(library, "deleteDoc", [user.arg()]);
        },
        expect![[r#"
            1       getFirestore = derived
            2       collection = derived from getFirestore
            3       doc = derived from getFirestore, id
            4       doc.2 = derived from collection, id
            5       doc.3 = derived from collection
            6       where = derived from amount
            7       limit = derived from amount
            8       query = new
            9       getDoc = read row "users"[id]
            10      getDocs = read row "users"[*]
            11      getDocs.2 = read row "users"[amount]
            12      setDoc = write blind row "users"[id] from data
            13      setDoc.2 = write blind row "users"[random] from data
            14      updateDoc = write blind row "users"[id].{age} from amount
            15      increment = derived from amount
            16      updateDoc.2 = write atomic row "users"[id].{age} from increment
            17      addDoc = write exclusive row "users"[random] from data
            18      deleteDoc = delete row "users"[id]
        "#]],
    );
}

#[test]
fn what_a_transaction_or_a_batch_writes_goes_through_it() {
    check(
        |s, [id, amount, data]| {
            let db = s.object("firestore.Db", "db");
            s.awaited = false;
            let users = s.method(&db, "collection", [text("users")]);
            let user = s.method(&users, "doc", [id]);
            let through = s.object("firestore.Transaction", "transaction");
            s.awaited = true;
            s.method(&through, "get", [user.arg()]);
            s.awaited = false;
            s.method(&through, "update", [user.arg(), object([("age", amount)])]);
            let batch = s.method(&db, "batch", []);
            s.method(&batch, "set", [user.arg(), data]);
            s.method(&batch, "delete", [user.arg()]);
            s.awaited = true;
            s.method(&batch, "commit", []);
            s.method(&db, "runTransaction", [closure()]);
        },
        expect![[r#"
            1       collection = derived
            2       doc = derived from collection, id
            3       get = read row "users"[id] via ::a.ts::transaction
            4       update = write blind row "users"[id].{age} from amount via ::a.ts::transaction
            5       batch = new
            5       begin single-writer via batch
            6       set = write blind row "users"[id] from data via batch
            7       delete = delete row "users"[id] via batch
            8       commit via batch
            8       commit = derived from batch
            9       given = new
            9       begin serializable via given
            9       try
            9         runTransaction = call fn closure(given)
            9         commit via given
                    catch
            9         rollback via given
            9         throw
        "#]],
    );
}

#[test]
fn objects_in_a_bucket_have_generations() {
    check(
        |s, [id, amount, data]| {
            let storage = s.create("@google-cloud/storage", "Storage", []);
            s.awaited = false;
            let bucket = s.method(&storage, "bucket", [text("notes")]);
            let file = s.method(&bucket, "file", [template([id, text(".json")])]);
            s.awaited = true;
            s.method(&file, "download", []);
            s.method(&file, "save", [data.clone()]);
            let seen = |with: Arg| object([("preconditionOpts", object([("ifGenerationMatch", with)]))]);
            s.method(&file, "save", [data.clone(), seen(amount)]);
            s.method(&file, "save", [data, seen(super::script::number(0))]);
            s.method(&file, "delete", []);
        },
        expect![[r#"
            1       Storage = new
            2       bucket = derived from Storage
            3       file = derived from bucket, id
            4       download = read key "notes/" + id + ".json"
            5       save = write blind key "notes/" + id + ".json" from data
            6       save.2 = write conditional key "notes/" + id + ".json" when generation = amount from data
            7       save.3 = write exclusive key "notes/" + id + ".json" from data
            8       delete = delete key "notes/" + id + ".json"
        "#]],
    );
}
