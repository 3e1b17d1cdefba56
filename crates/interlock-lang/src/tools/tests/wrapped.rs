//! Handlers that are the result of a call.

use expect_test::expect;

use super::{check, check_steps};

#[test]
fn the_copy_of_a_wrapper_calls_what_it_wraps() {
    let tree = r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { withLogging } from "./wrap.js";
const server = new McpServer({ name: "s", version: "1" });
let count = 0;
server.registerTool("one", {}, withLogging(async (args) => { count = args.a; return {}; }));
server.registerTool("two", {}, withLogging(two));
async function two(args) { count = 2; return {}; }
//- wrap.ts
let calls = 0;
export function withLogging(handler) {
  return async (args, extra) => {
    calls = calls + 1;
    return await handler(args, extra);
  };
}
"#;
    check(
        tree,
        &expect![[r#"
        wrap.ts:3 withLogging.closure: one
        wrap.ts:3 withLogging.closure: two
    "#]],
    );
    check_steps(
        tree,
        "handles",
        &expect![[r#"
        3     fn withLogging.closure(args, extra) with handler handles one, async
        4       calls = read shared ::wrap.ts::calls
        4       write blind shared ::wrap.ts::calls from calls
        5       handler.2 = call fn module.closure(args, extra)
        5       suspend
        5       return handler.2
        3     fn withLogging.closure(args, extra) with handler handles two, async
        4       calls = read shared ::wrap.ts::calls
        4       write blind shared ::wrap.ts::calls from calls
        5       handler.2 = call fn two(args, extra)
        5       suspend
        5       return handler.2
    "#]],
    );
}

#[test]
fn wrappers_around_wrappers_and_closures_inside_them_are_copied_as_well() {
    let tree = r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "s", version: "1" });
const withName = (name, run) => withLock(async (args) => run(name, args));
const withLock = (run) => async (args) => exclusive(() => run(args));
async function exclusive(work) { return await work(); }
let seen = 0;
export function register(limit) {
  server.registerTool("one", {}, withName("one", async (name, args) => { seen = limit; return {}; }));
}
"#;
    check(
        tree,
        &expect![[r#"
        index.ts:4 withLock.closure: one
    "#]],
    );
    check_steps(
        tree,
        "",
        &expect![[r#"
            1     fn module() at start-up
            2       server = call '@modelcontextprotocol/sdk/server/mcp.js.McpServer'(?), not awaited
            5     fn exclusive(work), async
            5       work.2 = call work()
            5       suspend
            5       return work.2
            7     fn register(limit)
            8       withName = call withName("one", fn register.closure with limit), not awaited
            8       call 'registerTool'("one", ?, fn withLock.closure with ::index.ts::5.0) on ::index.ts::server, not awaited
            3     fn withName(name, run)
            3       withLock = call withLock(fn withName.closure with run, name)
            3       return withLock
            3     fn withName.closure(args) with run, name, async
            3       run.2 = call fn register.closure with ::index.ts::2.0(name, args)
            3       return run.2
            4     fn withLock(run)
            4       function = fn withLock.closure with run
            4       return function
            4     fn withLock.closure(args) with run, async
            4       exclusive = call exclusive(fn withLock.closure.closure with run, args)
            4       return exclusive
            4     fn withLock.closure.closure() with run, args
            4       run.2 = call fn withName.closure with ::index.ts::3.1, ::index.ts::3.0(args)
            4       return run.2
            8     fn register.closure(name, args) with limit, async
            8       write blind shared ::index.ts::seen from limit
            8       return
            3     fn withName.closure(args) with run, name, limit, async
            3       run.2 = call fn register.closure with limit("one", args)
            3       return run.2
            4     fn withLock.closure(args) with run, run.2, name, limit handles one, async
            4       exclusive = call exclusive(fn withLock.closure.closure with run, args, run.2, name, limit)
            4       return exclusive
            4     fn withLock.closure.closure() with run, args, run.3, name, limit
            4       run.2 = call fn withName.closure with run.3, name, limit(args)
            4       return run.2
        "#]],
    );
}

#[test]
fn a_wrapper_of_a_library_runs_what_it_is_given() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { traced } from "some-tracer";
const server = new McpServer({ name: "s", version: "1" });
server.registerTool("one", {}, traced("one", async (args) => ({})));
server.experimental.tasks.registerToolTask("long", { execution: { taskSupport: "required" } }, {
  createTask: async (args, extra) => ({}),
  getTask: async (args, extra) => ({}),
  getTaskResult: async (args, extra) => ({}),
});
"#,
        &expect![[r#"
            index.ts:4 module.closure: one
            index.ts:6 createTask: long
            index.ts:7 getTask: long
            index.ts:8 getTaskResult: long
        "#]],
    );
}

#[test]
fn a_factory_of_tools_calls_the_handler_of_the_description_that_it_was_given() {
    let tree = r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createNote, createTag } from "./tools.js";

class Desk {
  private server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
  private tools = new Map();
  constructor() {
    this.server.setRequestHandler(CallToolRequestSchema, async (request) => {
      const tool = this.tools.get(request.params.name);
      return await tool.handler(request.params.arguments);
    });
  }
  register(tool) { this.tools.set(tool.name, tool); }
}
const desk = new Desk();
const tools = [createNote("/a"), createTag("/a")];
for (const tool of tools) desk.register(tool);
//- tools.ts
import { createTool } from "./factory.js";
let notes = 0;
let tags = 0;
export function createNote(folder) {
  return createTool({ name: "note", handler: async (args) => { notes = args.a; return {}; } }, folder);
}
export function createTag(folder) {
  return createTool({ name: "tag", handler: async (args) => { tags = args.a; return {}; } }, folder);
}
//- factory.ts
export function createTool(config, folder) {
  return {
    name: config.name,
    handler: async (args) => {
      const checked = args ?? {};
      return await config.handler(checked, folder);
    },
  };
}
"#;
    check(
        tree,
        &expect![[r#"
        index.ts:9 Desk.constructor.closure: note, tag
    "#]],
    );
    check_steps(
        tree,
        "fn handler(",
        &expect![[r#"
            4     fn handler(args) with config, folder, async
            5       checked = args from args
            6       handler = call handler(checked, folder) on config
            6       suspend
            6       return handler
            index.ts
            5     fn handler(args), async
            5       a = read shared args.a
            5       write blind shared ::tools.ts::notes from a
            5       return
            8     fn handler(args), async
            8       a = read shared args.a
            8       write blind shared ::tools.ts::tags from a
            8       return
            factory.ts
            4     fn handler(args) with config, folder, async
            5       checked = args from args
            6       handler = call fn handler(checked, "/a") on config
            6       suspend
            6       return handler
            4     fn handler(args) with config, folder, async
            5       checked = args from args
            6       handler = call fn handler(checked, "/a") on config
            6       suspend
            6       return handler
        "#]],
    );
}

#[test]
fn a_wrapper_may_hand_back_what_it_was_given_or_something_in_its_place() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { gated } from "./gate.js";
const server = new McpServer({ name: "s", version: "1" });
server.registerTool("one", {}, gated(process.env.KEY, async (args) => { return {}; }));
server.registerTool("two", {}, gated(process.env.KEY, two));
async function two(args) { return {}; }
//- gate.ts
export function gated(key, run) {
  if (!key) {
    return () => ({ content: [] });
  }
  return run;
}
"#,
        &expect![[r#"
            gate.ts:3 gated.closure: one, two
            index.ts:6 two: two
            index.ts:4 module.closure: one
        "#]],
    );
}

#[test]
fn a_server_that_registers_through_what_it_extends_is_followed() {
    check(
        r#"
//- server.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
export class Mine extends McpServer {
  registerTool(name, config, work) {
    const timed = async (args, extra) => {
      const from = Date.now();
      const result = await work(args, extra);
      console.error(name, Date.now() - from);
      return result;
    };
    return super.registerTool(name, config, timed);
  }
  async offer(client) {
    await client.offer((about, work) => super.registerTool(about.title, {}, async (args) => work(args)));
  }
}
//- index.ts
import { Mine } from "./server";
class Mail {
  async offer(register) {
    register({ title: "send" }, async (args) => ({}));
  }
}
const server = new Mine({ name: "s", version: "1" });
server.registerTool("one", {}, async (args) => ({}));
server.registerTool("two", {}, async (args) => ({}));
server.offer(new Mail());
"#,
        &expect![[r#"
            server.ts:4 timed: one
            server.ts:4 timed: two
            server.ts:13 Mine.offer.closure.closure: send
        "#]],
    );
}

#[test]
fn tools_whose_names_are_computed_are_told_apart_by_what_their_handlers_call() {
    check(
        r#"
//- server.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { clients } from "client-registry";
export class Mine extends McpServer {
  async add(client) {
    await client.offer((about, work) => {
      const name = this.prefix(client, about.title);
      return super.registerTool(name, {}, async (args) => work(args));
    });
  }
  prefix(client, title) {
    return `${client.prefix}_${title.toLowerCase()}`;
  }
}
const server = new Mine({ name: "s", version: "1" });
for (const client of clients.all()) await server.add(client);
//- mail.ts
class Send {
  about = { title: "Send" };
  handle = async (args) => ({});
}
class Read {
  about = { title: "Read" };
  handle = async (args) => ({});
}
export class Mail {
  async offer(register) {
    for (const tool of [new Send(), new Read()]) register(tool.about, tool.handle);
  }
}
//- calendar.ts
export class Calendar {
  async offer(register) {
    register({ title: "Book" }, async (args) => ({}));
  }
}
"#,
        &expect![[r#"
            server.ts:7 Mine.add.closure.closure: Calendar.offer.closure
            server.ts:7 Mine.add.closure.closure: Send.handle
            server.ts:7 Mine.add.closure.closure: Read.handle
        "#]],
    );
}

#[test]
fn a_server_behind_a_proxy_is_that_server() {
    check(
        r#"
//- server.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
function watched(server) {
  return new Proxy(server, {
    get(target, name, receiver) {
      console.error(String(name));
      return Reflect.get(target, name, receiver);
    },
  });
}
const bare = new McpServer({ name: "s", version: "1" });
const server = new Proxy(bare, {});
server.registerTool("one", {}, async (args) => ({}));
watched(bare).registerTool("two", {}, async (args) => ({}));
"#,
        &expect![[r#"
            server.ts:12 module.closure: one
            server.ts:13 module.closure: two
        "#]],
    );
}
