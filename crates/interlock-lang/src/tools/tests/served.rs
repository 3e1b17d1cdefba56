//! Servers, limits in front of them, and who calls.

use expect_test::expect;

use super::check;

#[test]
fn each_package_has_its_own_servers() {
    check(
        r#"
//- package.json
{}
//- a/package.json
{}
//- a/index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
const server = new McpServer({ name: "a", version: "1" });
server.registerTool("one", {}, async () => ({}));
await server.connect(new StdioServerTransport());
//- b/package.json
{}
//- b/index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
const app = express();
app.post("/mcp", async (req, res) => {
  const server = new McpServer({ name: "b", version: "1" });
  server.registerTool("two", {}, async () => ({}));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(req, res, req.body);
});
app.listen(3000);
"#,
        &expect![[r#"
            a/index.ts:4 module.closure: one
            b/index.ts:5 module.closure: no tool
            b/index.ts:7 module.closure.closure: two
            stdio a/index.ts:5: 1 handlers
            http b/index.ts:12: 2 handlers
        "#]],
    );
}

#[test]
fn limiting_middleware_and_limits_per_caller_are_seen() {
    let with = |limit: &str, handler: &str| {
        format!(
            r#"
//- index.ts
import {{ McpServer }} from "@modelcontextprotocol/sdk/server/mcp.js";
import {{ StreamableHTTPServerTransport }} from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {{ rateLimit }} from "express-rate-limit";
import express from "express";
const app = express();
{limit}
export function build() {{
  const server = new McpServer({{ name: "b", version: "1" }});
  server.registerTool("two", {{}}, {handler});
  return server;
}}
app.post("/mcp", async (req, res) => {{
  const transport = new StreamableHTTPServerTransport({{ sessionIdGenerator: undefined }});
  await build().connect(transport);
}});
app.listen(3000);
"#
        )
    };
    check(
        &with("", "async () => ({})"),
        &expect![[r#"
        index.ts:9 build.closure: two
        index.ts:12 module.closure: no tool
        http index.ts:16: 2 handlers
    "#]],
    );
    check(
        &with("app.use(rateLimit({ limit: 10 }));", "async () => ({})"),
        &expect![[r#"
        index.ts:9 build.closure: two
        index.ts:12 module.closure: no tool
        http index.ts:16: 2 handlers, limited
    "#]],
    );
    check(
        &with(
            "const inFlight = new Map();
function enter(caller) { const n = inFlight.get(caller) ?? 0; if (n > 3) throw new Error(); inFlight.set(caller, n + 1); }",
            "async (args, { authInfo }) => { const caller = authInfo?.clientId ?? \"\"; enter(caller); return {}; }",
        ),
        &expect![[r#"
            index.ts:10 build.closure: two
              caller authInfo
              caller clientId
              caller caller
            index.ts:13 module.closure: no tool
            http index.ts:17: 2 handlers, limited
        "#]],
    );
    check(
        &with(
            "const baskets = new Map();",
            "async (args, { sessionId }) => { const basket = baskets.get(sessionId); baskets.set(sessionId, basket); return {}; }",
        ),
        &expect![[r#"
            index.ts:9 build.closure: two
              session sessionId
            index.ts:12 module.closure: no tool
            http index.ts:16: 2 handlers
        "#]],
    );
}

#[test]
fn sessions_and_callers_are_told_from_arguments() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "s", version: "1" });
const m = new Map();
server.registerTool("one", {}, async ({ id }, extra) => {
  const session = extra.sessionId;
  const who = extra.authInfo?.clientId;
  m.set(session, who);
  return {};
});
server.registerTool("chosen", {}, async ({ user, sessionId, authInfo }) => {
  m.set(sessionId, user, authInfo.clientId);
  return {};
});
server.registerTool("bare", {}, async (extra) => {
  m.set("k", extra.sessionId);
  return {};
});
async function helper(user, options) {
  const owner = options.user;
  m.set(user, owner);
}
server.registerTool("two", {}, async ({ id }, { authInfo, sessionId = "x" }) => {
  const mine = authInfo.clientId;
  m.set(sessionId, mine);
  return {};
});
"#,
        &expect![[r#"
            index.ts:4 module.closure: one
              session session
              caller who
            index.ts:10 module.closure: chosen
            index.ts:14 module.closure: bare
              session sessionId
            index.ts:22 module.closure: two
              caller authInfo
              session sessionId
              caller mine
        "#]],
    );
}
