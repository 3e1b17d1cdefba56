//! Requests and statements are told where a helper is called that makes them.

use expect_test::expect;

use super::check_function;

#[test]
fn what_a_request_does_is_told_where_its_method_is_given() {
    check_function(
        r#"
        //- a.ts
        const BASE = "https://wiki.example";
        async function request(method, path, body) {
          const answer = await fetch(BASE + path, { method, body: JSON.stringify(body) });
          return answer.json();
        }
        export async function work(id, text) {
          const page = await request("GET", "/pages/" + id);
          await request("PUT", "/pages/" + id, { ...page, text });
          await request("POST", "/log", text);
        }
        "#,
        "work",
        &expect![[r#"
            6     fn work(id, text), async
            7       answer = ask ::a.ts::BASE + "/pages/" + id
            7       result = call request("GET", "/pages/" + id)
            7       page = result from result, answer
            7       suspend
            8       arg = derived from page, text
            8       request = settle at ::a.ts::BASE + "/pages/" + id with id, page, text
            8       suspend
            9       request.2 = call request("POST", "/log", text)
            9       suspend
        "#]],
    );
}
