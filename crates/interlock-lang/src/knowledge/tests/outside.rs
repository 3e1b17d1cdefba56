//! Locks in memory, and the world outside.

use expect_test::expect;

use super::script::{check, closure, number, object, template, text, yes};
use crate::{Arg, Shape};

#[test]
fn a_mutex_is_held_round_a_function_or_until_it_is_released() {
    check(
        |s, _| {
            let mutex = s.object("async-mutex.Mutex", "mutex");
            s.method(&mutex, "runExclusive", [closure()]);
            let release = s.method(&mutex, "acquire", []);
            s.method(&release, "", []);
            let semaphore = s.create("async-mutex", "Semaphore", [number(3)]);
            s.method(&semaphore, "runExclusive", [closure()]);
            let binary = s.create("async-mutex", "Semaphore", [number(1)]);
            s.method(&binary, "acquire", []);
        },
        expect![[r#"
            1       acquire ::a.ts::mutex
            1       try
            1         runExclusive = call fn closure()
                    finally
            1         release ::a.ts::mutex
            2       acquire ::a.ts::mutex
            2       acquire = derived
            3       release ::a.ts::mutex
            3       called = derived from acquire
            4       Semaphore = new semaphore
            5       acquire permit of Semaphore
            5       try
            5         runExclusive.2 = call fn closure()
                    finally
            5         release permit of Semaphore
            6       Semaphore.2 = new mutex
            7       acquire Semaphore.2
            7       acquire.2 = derived from Semaphore.2
        "#]],
    );
}

#[test]
fn requests_say_whether_they_change_anything_and_what_makes_them_safe_to_repeat() {
    check(
        |s, [id, amount, _]| {
            s.export("", "fetch", [text("https://a.example/rates")]);
            let method = |method| ("method", text(method));
            s.export("", "fetch", [text("https://a.example/orders"), object([method("POST")])]);
            let headers = object([("idempotency-key", id.clone())]);
            let keyed = object([method("POST"), ("headers", headers)]);
            s.export("", "fetch", [text("https://a.example/orders"), keyed]);
            s.construct = true;
            let stripe = s.export("stripe", "", [text("key")]);
            s.construct = false;
            let payment = object([("amount", amount.clone())]);
            s.method(&stripe, "paymentIntents.create", [payment.clone()]);
            let options = object([("idempotencyKey", template([text("order-"), id.clone()]))]);
            s.method(&stripe, "paymentIntents.create", [payment, options]);
            s.method(&stripe, "customers.retrieve", [id]);
        },
        expect![[r#"
            1       fetch = ask "https://a.example/rates"
            2       fetch.2 = send to "https://a.example/orders"
            3       fetch.3 = send to "https://a.example/orders" with id once per id
            4       made = new
            5       create = effect on "stripe"
            6       create.2 = effect on "stripe" once per "order-" + id
            7       retrieve = ask "stripe"
        "#]],
    );
}

#[test]
fn mails_messages_and_requests_of_every_library() {
    check(
        |s, [id, _, data]| {
            let key = || object([("Idempotency-Key", id.clone())]);
            s.export("axios", "get", [text("https://a.example")]);
            s.export("axios", "post", [text("https://a.example"), data.clone()]);
            s.export(
                "axios",
                "post",
                [text("https://a.example"), data.clone(), object([("headers", key())])],
            );
            s.export("axios", "", [object([("method", text("post")), ("url", text("https://a.example"))])]);
            let client = s.plain("axios", "create", []);
            s.method(&client, "delete", [text("/orders")]);
            s.export("got", "post", [text("https://a.example"), object([("headers", key())])]);
            s.export("undici", "request", [text("https://a.example"), object([("method", text("PUT"))])]);
            let mail = s.plain("nodemailer", "createTransport", []);
            s.method(&mail, "sendMail", [data.clone()]);
            s.export("@sendgrid/mail", "send", [data.clone()]);
            let resend = s.create("resend", "Resend", []);
            s.method(&resend, "emails.send", [data.clone()]);
            s.method(&resend, "emails.send", [data.clone(), object([("idempotencyKey", id.clone())])]);
            let twilio = s.plain("twilio", "", []);
            s.method(&twilio, "messages.create", [data.clone()]);
        },
        expect![[r#"
            1       get = ask "https://a.example"
            2       post = send to "https://a.example" with data
            3       post.2 = send to "https://a.example" with data, id once per id
            4       made = send to "https://a.example"
            5       create = derived
            6       delete = settle at "/orders"
            7       post.3 = send to "https://a.example" with id once per id
            8       request = settle at "https://a.example"
            9       createTransport = derived
            10      sendMail = effect on "mail"
            11      send = effect on "sendgrid"
            12      Resend = new
            13      send.2 = effect on "resend"
            14      send.3 = effect on "resend" once per id
            15      made.2 = derived
            16      create.2 = effect on "twilio"
        "#]],
    );
}

#[test]
fn commands_of_the_cloud_are_made_first_and_sent_later() {
    check(
        |s, [id, _, data]| {
            let s3 = s.create("@aws-sdk/client-s3", "S3Client", []);
            let put = |more: Option<(&str, Arg)>| {
                let mut object = object([("Bucket", text("b")), ("Key", id.clone()), ("Body", data.clone())]);
                if let (Shape::Object(members), Some((name, value))) = (&mut object.shape, more) {
                    members.push((name.into(), value));
                }
                object
            };
            let get = object([("Bucket", text("b")), ("Key", id.clone())]);
            let matched = ("IfMatch", data.clone());
            for (command, input) in [
                ("GetObjectCommand", get),
                ("PutObjectCommand", put(None)),
                ("PutObjectCommand", put(Some(matched))),
                ("PutObjectCommand", put(Some(("IfNoneMatch", text("*"))))),
            ] {
                let command = s.create("@aws-sdk/client-s3", command, [input]);
                s.method(&s3, "send", [command.arg()]);
            }
            let key = || ("Key", object([("id", id.clone())]));
            let table = || ("TableName", text("stock"));
            let less = || ("UpdateExpression", text("SET n = n - :d"));
            let item = || ("Item", object([("id", id.clone()), ("n", data.clone())]));
            let enough = ("ConditionExpression", text("n >= :d"));
            for (command, input) in [
                ("GetCommand", object([table(), key()])),
                ("UpdateCommand", object([table(), key(), ("UpdateExpression", text("SET n = :n"))])),
                ("UpdateCommand", object([table(), key(), less()])),
                ("UpdateCommand", object([table(), key(), less(), enough.clone()])),
                ("PutCommand", object([table(), item(), enough])),
                ("PutCommand", object([table(), item()])),
            ] {
                let command = s.create("@aws-sdk/lib-dynamodb", command, [input]);
                s.method(&s3, "send", [command.arg()]);
            }
        },
        expect![[r##"
            1       S3Client = new
            2       GetObjectCommand = new
            3       send = read key "b" + "#" + id
            4       PutObjectCommand = new
            5       send.2 = write blind key "b" + "#" + id from data
            6       PutObjectCommand.2 = new
            7       send.3 = write conditional key "b" + "#" + id when ETag = data from data
            8       PutObjectCommand.3 = new
            9       send.4 = write exclusive key "b" + "#" + id from data
            10      GetCommand = new
            11      send.5 = read row "stock"[id]
            12      UpdateCommand = new
            13      send.6 = write blind row "stock"[id]
            14      UpdateCommand.2 = new
            15      send.7 = write atomic row "stock"[id]
            16      UpdateCommand.3 = new
            17      send.8 = write conditional row "stock"[id] when ? ? ?
            17      check send.8
                    else
            17        throw
            18      PutCommand = new
            19      send.9 = write conditional row "stock"[id].{id, n} when ? ? ? from id, data
            19      check send.9
                    else
            19        throw
            20      PutCommand.2 = new
            21      send.10 = write blind row "stock"[id].{id, n} from id, data
        "##]],
    );
}

#[test]
fn a_name_on_the_way_tells_what_an_object_probably_is() {
    check(
        |s, [id, amount, _]| {
            let mut stranger = s.stranger("context");
            stranger.path = stranger.path.field("prisma").field("account");
            let decrement = object([("balance", object([("decrement", amount)]))]);
            let update = object([("where", object([("id", id.clone())])), ("data", decrement)]);
            s.method(&stranger, "update", [update]);
            let mut stranger = s.stranger("context");
            stranger.path = stranger.path.field("stripe").field("refunds");
            s.method(&stranger, "create", [object([])]);
            let redis = s.stranger("redis");
            s.method(&redis, "incr", [id]);
        },
        expect![[r#"
            1       update = write atomic row "account"[id].{balance} from amount via pool ::a.ts::context.prisma
            2       create = effect on "stripe"
            3       incr = write atomic key id via ::a.ts::redis
        "#]],
    );
}

#[test]
fn a_mail_is_sent_by_what_sends_and_not_by_what_puts_it_together() {
    check(
        |s, [_, _, data]| {
            let post = s.export("nodemailer", "createTransport", [object([("host", text("mail.example"))])]);
            s.method(&post, "sendMail", [data.clone()]);
            let writer = s.export("nodemailer", "createTransport", [object([("streamTransport", yes())])]);
            s.method(&writer, "sendMail", [data.clone()]);
            let gmail = s.export("googleapis", "google.gmail", [object([("version", text("v1"))])]);
            s.method(&gmail, "users.messages.list", [data.clone()]);
            s.method(&gmail, "users.messages.send", [data]);
        },
        expect![[r#"
            1       createTransport = derived
            2       sendMail = effect on "mail"
            3       createTransport.2 = derived
            4       sendMail.2 = derived from createTransport.2, data
            5       gmail = derived
            6       list = ask "gmail"
            7       send = effect on "gmail"
        "#]],
    );
}

#[test]
fn a_guard_that_a_mutex_hands_out_gives_it_back() {
    check(
        |s, _| {
            let mutex = s.create("puppeteer-core/internal/util/Mutex.js", "Mutex", []);
            let guard = s.method(&mutex, "acquire", []);
            s.method(&guard, "dispose", []);
        },
        expect![[r#"
            1       Mutex = new mutex
            2       acquire Mutex
            2       acquire = derived from Mutex
            3       release Mutex
            3       dispose = derived from acquire
        "#]],
    );
}
