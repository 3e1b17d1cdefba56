//! Clients of services, of which only the names of their methods are known, and what is kept apart by its library.

use expect_test::expect;

use super::script::{check, closure, object, text, yes};

#[test]
fn a_service_is_asked_and_changed_as_the_names_say() {
    check(
        |s, [id, amount, data]| {
            let notion = s.create("@notionhq/client", "Client", []);
            s.method(&notion, "pages.retrieve", [object([("page_id", id.clone())])]);
            s.method(&notion, "pages.update", [object([("page_id", id.clone()), ("title", data.clone())])]);
            s.method(&notion, "blocks.children.append", [object([("block_id", id.clone())])]);
            let linear = s.create("@linear/sdk", "LinearClient", []);
            s.method(&linear, "issue", [id.clone()]);
            s.method(&linear, "searchIssues", [text("open")]);
            s.method(&linear, "updateIssue", [id.clone(), data.clone()]);
            s.method(&linear, "deleteIssue", [id.clone()]);
            s.method(&linear, "createIssue", [object([("title", amount)])]);
            let client = s.create("@aws-sdk/client-ec2", "EC2Client", []);
            let about = object([("InstanceId", id)]);
            let asked = s.create("@aws-sdk/client-ec2", "DescribeInstancesCommand", [about.clone()]);
            s.method(&client, "send", [asked.arg()]);
            let stopped = s.create("@aws-sdk/client-ec2", "StopInstancesCommand", [about]);
            s.method(&client, "send", [stopped.arg()]);
        },
        expect![[r#"
            1       Client = new
            2       retrieve = ask "notionhq/pages/" + id
            3       update = settle at "notionhq/pages/" + id with data
            4       append = send to "notionhq/blocks.children/append"
            5       LinearClient = new
            6       issue = send to "linear/issue" with id
            7       searchIssues = ask "linear/issue/" + "open"
            8       updateIssue = settle at "linear/issue/" + id with data
            9       deleteIssue = settle at "linear/issue/" + id
            10      createIssue = send to "linear/issue" with amount
            11      EC2Client = new
            12      DescribeInstancesCommand = new
            13      send = ask "aws/instance/" + id
            14      StopInstancesCommand = new
            15      send.2 = send to "aws/stop instances"
        "#]],
    );
}

#[test]
fn commands_on_a_repository_are_not_compared_with_what_it_is_asked() {
    check(
        |s, [id, _, data]| {
            let git = s.plain("simple-git", "simpleGit", [id]);
            s.method(&git, "status", []);
            s.method(&git, "commit", [data.clone()]);
            s.method(&git, "push", []);
            s.export("isomorphic-git", "log", [object([("dir", data.clone())])]);
            s.export("isomorphic-git", "commit", [object([("dir", data)])]);
        },
        expect![[r#"
            1       simpleGit = derived from id
            2       status = ask "git"
            3       commit = settle at "git commands" with data
            4       push = send to "git commands"
            5       log = ask "git"
            6       commit.2 = settle at "git commands" with data
        "#]],
    );
}

#[test]
fn indexes_have_sequence_numbers_and_etags() {
    check(
        |s, [id, amount, data]| {
            let elastic = s.create("@elastic/elasticsearch", "Client", []);
            let index = || ("index", text("notes"));
            let by = || ("id", id.clone());
            s.method(&elastic, "get", [object([index(), by()])]);
            s.method(&elastic, "index", [object([index(), by(), ("document", data.clone())])]);
            let seen = ("if_seq_no", amount.clone());
            s.method(&elastic, "index", [object([index(), by(), ("document", data.clone()), seen.clone()])]);
            s.method(&elastic, "index", [object([index(), ("document", data.clone())])]);
            s.method(&elastic, "create", [object([index(), by(), ("document", data.clone())])]);
            let part = ("doc", object([("title", data.clone())]));
            s.method(&elastic, "update", [object([index(), by(), part.clone()])]);
            s.method(&elastic, "update", [object([index(), by(), part, seen])]);
            s.method(&elastic, "update", [object([index(), by(), ("script", data.clone())])]);
            s.method(&elastic, "delete", [object([index(), by()])]);
            let cosmos = s.create("@azure/cosmos", "CosmosClient", []);
            s.awaited = false;
            let database = s.method(&cosmos, "database", [text("d")]);
            let notes = s.method(&database, "container", [text("notes")]);
            let note = s.method(&notes, "item", [id.clone()]);
            s.awaited = true;
            s.method(&note, "read", []);
            s.method(&note, "replace", [data.clone()]);
            let matching = object([("accessCondition", object([("condition", amount)]))]);
            s.method(&note, "replace", [data.clone(), matching]);
            s.method(&notes, "items.create", [object([("id", id.clone())])]);
            let couch = s.create("pouchdb", "", [text("notes")]);
            s.method(&couch, "get", [id.clone()]);
            s.method(&couch, "put", [object([("_id", id), ("_rev", data)])]);
        },
        expect![[r#"
            1       Client = new
            2       get = read row "notes"[id] by its key
            3       index = write blind row "notes"[id] from id, data
            4       index.2 = write atomic row "notes"[id]
            5       index.3 = write exclusive row "notes"[random] from data
            6       create = write exclusive row "notes"[id] from id, data
            7       update = write blind row "notes"[id].{title} from data
            8       update.2 = write atomic row "notes"[id]
            9       update.3 = write atomic row "notes"[id]
            10      delete = delete row "notes"[id]
            11      CosmosClient = new
            12      database = derived from CosmosClient
            13      container = derived from database
            14      item = derived from container, id
            15      read = read row "notes"[id] by its key
            16      replace = write blind row "notes"[id] from data
            17      replace.2 = write atomic row "notes"[id]
            18      create.2 = write exclusive row "notes"[id].{id} from id
            19      made = new
            20      get.2 = read row "notes"[id] by its key
            21      put = write exclusive row "notes"[id].{_id, _rev} from id, data
        "#]],
    );
}

#[test]
fn smaller_databases_run_sql_too() {
    check(
        |s, [id, amount, _]| {
            let by_id = text("SELECT balance FROM wallets WHERE id = $1");
            let set = text("UPDATE wallets SET balance = $2 WHERE id = $1");
            let instance = s.export("@duckdb/node-api", "DuckDBInstance.create", [text("a.db")]);
            let duck = s.method(&instance, "connect", []);
            s.method(&duck, "runAndReadAll", [by_id.clone(), super::script::list([id.clone()])]);
            s.method(&duck, "run", [set.clone(), super::script::list([id.clone(), amount.clone()])]);
            let lite = s.create("@electric-sql/pglite", "PGlite", []);
            s.method(&lite, "query", [by_id, super::script::list([id.clone()])]);
            s.method(&lite, "transaction", [closure()]);
            let neon = s.plain("@neondatabase/serverless", "neon", [text("postgres://")]);
            s.method(&neon, "query", [set, super::script::list([id, amount])]);
        },
        expect![[r#"
            1       create = derived
            2       connect = new
            2       open connect
            3       runAndReadAll = read row "wallets"[id].{balance} via connect
            4       run = write blind row "wallets"[id].{balance} from amount via connect
            5       PGlite = new
            6       query = read row "wallets"[id].{balance} via PGlite
            7       given = new
            7       begin single-writer via given
            7       try
            7         transaction = call fn closure(given)
            7         commit via given
                    catch
            7         rollback via given
            7         throw
            8       neon = new
            9       query.2 = write blind row "wallets"[id].{balance} from amount via pool neon
        "#]],
    );
}

#[test]
fn files_are_written_by_what_makes_them() {
    check(
        |s, [id, _, data]| {
            s.export("jsonfile", "readFile", [id.clone()]);
            s.export("jsonfile", "writeFile", [id.clone(), data.clone()]);
            s.export("xlsx", "readFile", [id.clone()]);
            s.export("xlsx", "writeFile", [data.clone(), id.clone()]);
            let book = s.create("exceljs", "Workbook", []);
            s.method(&book, "xlsx.readFile", [id.clone()]);
            s.method(&book, "xlsx.writeFile", [id.clone()]);
            let image = s.plain("sharp", "", [data.clone()]);
            s.awaited = false;
            let small = s.method(&image, "resize", []);
            s.awaited = true;
            s.method(&small, "toFile", [id.clone()]);
            let page = s.object("browser.Page", "page");
            s.method(&page, "screenshot", [object([("path", id.clone())])]);
            s.method(&page, "screenshot", [object([("fullPage", yes())])]);
            s.method(&page, "click", [text("#a")]);
            let writer =
                s.plain("csv-writer", "createObjectCsvWriter", [object([("path", id), ("append", yes())])]);
            s.method(&writer, "writeRecords", [data]);
        },
        expect![[r#"
            1       readFile = read file id
            2       writeFile = write blind file id from data
            3       readFile.2 = read file id
            4       writeFile.2 = write blind file id from data
            5       Workbook = new
            6       readFile.3 = read file id
            7       writeFile.3 = write blind file id from Workbook
            8       made = derived from data
            9       resize = made from made
            10      toFile = write blind file id from resize
            11      screenshot = write blind file id
            12      screenshot.2 = derived
            13      click = derived
            14      createObjectCsvWriter = derived from id
            15      writeRecords = write append file id from data
        "#]],
    );
}
