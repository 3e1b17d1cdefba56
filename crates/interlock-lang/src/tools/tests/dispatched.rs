//! One handler for all tools.

use expect_test::expect;

use super::{check, check_steps};

#[test]
fn a_switch_over_names_is_one_handler_with_many_tools() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
const TOOLS = [{ name: "read", annotations: { readOnlyHint: true } }, { name: "write" }, { name: "list" }];
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: TOOLS }));
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;
  switch (name) {
    case "read": return read(args);
    case "write": return write(args);
    default: return other(name, args);
  }
});
async function read(args) { return {}; }
async function write(args) { return {}; }
async function other(tool, args) {
  if (tool === "list") return {};
  throw new Error("unknown tool");
}
"#,
        &expect![[r#"
            index.ts:5 module.closure: no tool
            index.ts:6 module.closure: read (read-only), write, list
        "#]],
    );
}

#[test]
fn methods_named_as_text_and_handlers_that_are_methods() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/server";
class App {
  private server: Server;
  constructor() {
    this.server = new Server({ name: "s", version: "1" });
    this.server.setRequestHandler("tools/call", (request) => this.handle(request));
  }
  async handle(request) {
    if (request.params.name === "a") return {};
    else if (request.params.name === "b") return {};
    throw new Error("unknown");
  }
}
new App();
"#,
        &expect![[r#"
            index.ts:6 App.constructor.closure: a, b
        "#]],
    );
}

#[test]
fn a_list_of_tool_objects_is_searched_by_name() {
    let tree = r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { tools } from "./tools.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = tools.find((tool) => tool.name === request.params.name);
  if (!tool) throw new Error("unknown tool");
  return await tool.execute(request.params.arguments);
});
//- tools.ts
const save = { name: "save", execute: async (args) => ({}) };
export const tools = [save, { name: "load", annotations: { readOnlyHint: true }, execute: load }];
async function load(args) { return {}; }
"#;
    check(
        tree,
        &expect![[r#"
        index.ts:5 module.closure: save, load (read-only)
    "#]],
    );
    check_steps(
        tree,
        "handles",
        &expect![[r#"
            5     fn module.closure(request) handles save handles load read-only, async
            6       tools = read shared ::tools.ts::tools
            6       loop over each item
            6         item = derived from tools
            6         entry = ::tools.ts::tools[item] from tools
            6         result = call fn module.closure.closure with request(entry), not awaited
            6       tool = ::tools.ts::tools[item] from tools, result
            7       check tool
                    else
            7         throw
            8       arguments = read shared request.params.arguments
            8       check tool is "save"
                    then
            8         result.5 = call execute(request.params.arguments) on tool
                    else
            8         check tool is "load"
                      then
            8           result.4 = call load(request.params.arguments) on tool
            8       execute = derived from result.5, result.4
            8       suspend
            8       return execute
        "#]],
    );
}

#[test]
fn a_map_of_handlers_is_looked_up_by_name() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const server = new Server({ name: "s", version: "1" }, {});
const handlers = { save: async (args) => ({}), load: async (args) => ({}) };
const registry = new Map<string, Handler>();
registry.set("drop", async (args) => ({}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }) => {
  const registered = registry.get(name);
  if (registered) return registered(args);
  return handlers[name](args);
});
"#,
        &expect![[r#"
            index.ts:7 module.closure: drop, save, load
        "#]],
    );
}

#[test]
fn a_dispatch_that_is_not_understood_answers_what_the_server_lists() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { proxy } from "./proxy.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(ListToolsRequestSchema, async () => {
  return { tools: [{ name: "one" }, { name: "two", annotations: { readOnlyHint: true } }] };
});
server.setRequestHandler(CallToolRequestSchema, (request) => proxy.forward(request));
//- proxy.ts
export const proxy = makeProxy();
"#,
        &expect![[r#"
            index.ts:5 module.closure: no tool
            index.ts:8 module.closure: one, two (read-only)
        "#]],
    );
}

#[test]
fn json_rpc_by_hand() {
    check(
        r#"
//- server.js
const readline = require("readline");
const rl = readline.createInterface({ input: process.stdin });
rl.on("line", async (line) => {
  const message = JSON.parse(line);
  await handle(message);
});
async function handle(message) {
  if (message.method === "initialize") return reply(message, {});
  if (message.method === "tools/call") {
    const { name, arguments: args } = message.params;
    if (name === "increment") return reply(message, await increment(args));
    if (name === "reset") return reply(message, {});
  }
}
async function increment(args) { return {}; }
function reply(message, result) { process.stdout.write(JSON.stringify({ id: message.id, result }) + "\n"); }
"#,
        &expect![[r#"
            server.js:7 handle: increment, reset
        "#]],
    );
}

#[test]
fn a_registry_that_looks_tools_up_for_others_is_looked_through() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Registry } from "./registry.js";
const registry = new Registry();
registry.register({ name: "add", execute: async (args) => ({}) });
registry.register({ name: "drop", execute: async (args) => ({}) });
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = registry.get(request.params.name);
  if (!tool) throw new Error("unknown tool");
  return await tool.execute(request.params.arguments);
});
//- registry.ts
export class Registry {
  private tools = new Map();
  register(tool) { this.tools.set(tool.name, tool); }
  get(name) { return this.tools.get(name); }
}
"#,
        &expect![[r#"
            index.ts:8 module.closure: add, drop
        "#]],
    );
}

#[test]
fn a_router_is_known_by_the_type_of_the_field_that_holds_it() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Router } from "./router.js";
import routes from "./routes.js";
class Adapter {
  constructor(private readonly router: Router) {}
  register() {
    const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(CallToolRequestSchema, async (request) => {
      const { name } = request.params;
      if (typeof name !== "string") throw new Error("no name");
      const handler = await this.router.handlerOf(name);
      return await handler(request);
    });
  }
}
new Adapter(routes()).register();
//- routes.ts
import { Router } from "./router.js";
export default () => {
  const router = new Router();
  router.setTool({ schema: { name: "read" }, handler: async (request) => ({}) });
  router.setTool({ schema: { name: "write" }, handler: async (request) => ({}) });
  return router;
};
//- router.ts
export class Router {
  private tools = new Map();
  handlerOf(name) { return this.tools.get(name)?.handler; }
  setTool({ schema, handler }) { this.tools.set(schema.name, { schema, handler }); return this; }
}
"#,
        &expect![[r#"
            index.ts:9 Adapter.register.closure: read, write
        "#]],
    );
}

#[test]
fn a_router_that_gives_out_the_work_of_a_tool_is_looked_through() {
    let tree = r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Router } from "./router.js";
import { adapt, WriteController } from "./controllers.js";
const router = new Router();
router.set({ schema: { name: "write" }, handler: adapt(new WriteController()) });
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name } = request.params;
  const handler = await router.handlerOf(name);
  return await handler(request);
});
//- router.ts
export class Router {
  private tools = new Map();
  handlerOf(name) { return this.tools.get(name)?.handler; }
  set({ schema, handler }) { this.tools.set(schema.name, { schema, handler }); return this; }
}
//- controllers.ts
let written = 0;
export const adapt = async (controller) => {
  return async (request) => controller.handle(request.params.arguments);
};
export class WriteController {
  async handle(body) { written = body.a; return {}; }
}
"#;
    check(
        tree,
        &expect![[r#"
        index.ts:8 module.closure: write
    "#]],
    );
    check_steps(
        tree,
        "",
        &expect![[r#"
            1     fn module() at start-up
            2     fn adapt(controller), async
            3       function = fn adapt.closure with controller
            3       return function
            3     fn adapt.closure(request) with controller, async
            3       arguments = read shared request.params.arguments
            3       handle = call WriteController.handle(request.params.arguments) on controller
            3       return handle
            5     fn WriteController.constructor()
            6     fn WriteController.handle(body), async
            6       a = read shared body.a
            6       write blind shared ::controllers.ts::written from a
            6       return
            index.ts
            1     fn module() at start-up
            5       router = new
            5       call Router.constructor() on router
            5       write blind shared ::index.ts::router from router
            6       WriteController = new
            6       call WriteController.constructor() on WriteController
            6       adapt = call adapt(WriteController), not awaited
            6       arg = derived from adapt
            6       call Router.set(arg) on ::index.ts::router, not awaited
            7       server = call '@modelcontextprotocol/sdk/server/index.js.Server'(?, ?), not awaited
            8       call 'setRequestHandler'(::@modelcontextprotocol/sdk/types.js::CallToolRequestSchema, fn module.closure) on ::index.ts::server, not awaited
            8     fn module.closure(request) handles write, async
            9       params = read shared request.params
            9       name = request.params.name from params
            10      handler = call Router.handlerOf(name) on ::index.ts::router
            10      suspend
            11      check name is "write"
                    then
            11        result.5 = call fn adapt.closure with ?(request)
            11      handler.2 = derived from result.5
            11      suspend
            11      return handler.2
            router.ts
            1     fn module() at start-up
            1     fn Router.constructor()
            2       Map = new
            2       write blind shared this.tools from Map
            3     fn Router.handlerOf(name)
            3       get = read shared this.tools[name]
            3       handler = read shared get.handler
            3       return handler
            4     fn Router.set(param)
            4       schema = param.schema from param
            4       handler = param.handler from param
            4       name = read shared schema.name
            4       arg = derived from schema, handler
            4       write blind shared this.tools[schema.name] from schema, handler
            4       returned = this
            4       return returned
            controllers.ts
            3     fn adapt.closure(request) with controller, async
            3       arguments = read shared request.params.arguments
            3       handle = call fn WriteController.handle(request.params.arguments) on controller
            3       return handle
        "#]],
    );
}

#[test]
fn a_name_that_one_table_does_not_have_is_looked_up_in_the_next() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
const own = { read: async (args) => ({}) };
const more = new Map();
more.set("write", async (args) => ({}));
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;
  const handler = own[name] ?? more.get(name);
  return handler(args);
});
"#,
        &expect![[r#"
            index.ts:7 module.closure: read, write
        "#]],
    );
}

#[test]
fn what_is_done_with_a_tool_of_which_nothing_is_known_is_no_tool() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
class App {
  private tools = new Map();
  add(definition) {
    const made = {
      attach(server) { this.server = server; },
      async call(request) { return definition.execute(request.params.arguments); },
    };
    this.tools.set(definition.name, made);
  }
  start(server: Server) {
    server.setRequestHandler(CallToolRequestSchema, async (request) => {
      const tool = this.tools.get(request.params.name);
      tool.attach(server);
      return tool.call(request);
    });
  }
}
new App().start(new Server({ name: "s", version: "1" }));
"#,
        &expect![[r#"
            index.ts:13 App.start.closure: App.start.closure
        "#]],
    );
}

#[test]
fn a_map_that_is_a_copy_of_another_or_filled_anew_is_looked_into() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const read = { name: "read", execute: async (args) => ({}) };
const write = { name: "write", execute: async (args) => ({}) };
async function main(allowed) {
  const available = new Map([[read.name, read], [write.name, write]]);
  let registered = new Map(available);
  if (allowed) {
    registered = new Map();
    for (const [name, tool] of available) if (allowed.includes(name)) registered.set(name, tool);
  }
  const create = () => {
    const server = new Server({ name: "s", version: "1" }, {});
    server.setRequestHandler(CallToolRequestSchema, async (request) => {
      const tool = registered.get(request.params.name);
      if (!tool) throw new Error("unknown");
      return tool.execute(request.params.arguments);
    });
    return server;
  };
  create();
}
"#,
        &expect![[r#"
            index.ts:14 create.closure: read, write
        "#]],
    );
}

#[test]
fn a_dispatch_that_leads_nobody_knows_where_leads_to_what_describes_itself_as_a_tool() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { load } from "./load.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = await load(request.params.name);
  return tool.run(request.params.arguments);
});
//- load.ts
export async function load(name: string) { return (await import(`./tools/${name}.js`)).default; }
//- tools/add.ts
export default { name: "add", description: "d", inputSchema: {}, run: async (args) => args };
//- tools/drop.ts
import { z } from "zod";
export default class DropTool {
  name = "drop";
  description = "d";
  inputSchema = z.object({});
  async execute(args) { return args; }
}
export class Helper {
  name = "helper";
  description = "d";
  async execute(args) { return args; }
}
"#,
        &expect![[r#"
            index.ts:5 module.closure: no tool
            tools/add.ts:1 run: add
            tools/drop.ts:6 DropTool.execute: drop
        "#]],
    );
}

#[test]
fn what_describes_itself_as_a_tool_may_do_its_work_in_a_class_that_it_extends() {
    check_steps(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { load } from "./load.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => (await load(request.params.name)).execute(request.params.arguments));
//- load.ts
export async function load(name: string) { return new (await import(`./tools/${name}.js`)).default(); }
//- tools/base.ts
export abstract class Base {
  abstract work(args): Promise<unknown>;
  async execute(args) { return await this.work(args); }
}
//- tools/add.ts
import { Base } from "./base.js";
export default class AddTool extends Base {
  name = "add";
  description = "d";
  async work(args) { return args; }
}
//- tools/drop.ts
import { Base } from "./base.js";
export default class DropTool extends Base {
  name = "drop";
  description = "d";
  async work(args) { return args; }
}
"#,
        "Base.execute",
        &expect![[r#"
            3     fn Base.execute(args) handles add handles drop, async
            3       check is "add"
                    then
            3         result.3 = call AddTool.work(args) on this
                    else
            3         check is "drop"
                      then
            3           result.2 = call DropTool.work(args) on this
            3       work = derived from result.3, result.2
            3       suspend
            3       return work
            tools/drop.ts
        "#]],
    );
}

#[test]
fn a_class_that_answers_requests_itself_is_handed_its_tools_by_a_method_of_its_own() {
    check(
        r#"
//- protocol.ts
export class Server {
  private tools = new Map<string, any>();
  constructor(private readonly kept: Keeper) {}
  addTool(name: string, description: string, handler: (args: any) => Promise<any>) {
    this.kept.keep(this.tools, name, handler);
  }
  async handle(request: any) {
    if (request.method === "tools/call") {
      const work = await this.kept.find(this.tools, request.params.name);
      return work(request.params.arguments);
    }
  }
}
//- server.ts
import { Server } from "./protocol";
import { keeper } from "elsewhere";
const server = new Server(keeper);
server.addTool("add", "adds", async (args) => ({}));
server.addTool("drop", "drops", async (args) => ({}));
"#,
        &expect![[r#"
            protocol.ts:7 Server.handle: no tool
            server.ts:4 module.closure: add
            server.ts:5 module.closure: drop
        "#]],
    );
}
