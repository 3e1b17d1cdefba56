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
        expect![[""]],
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
        expect![[""]],
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
        expect![[""]],
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
        expect![[""]],
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
        expect![[""]],
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
        expect![[""]],
    );
}
