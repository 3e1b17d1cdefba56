// What the Node servers share: where their packages are, their options, and how they are served.
//
//   node NAME.mjs --data FOLDER [--fixed] [--listen PORT]
//
// Without `--listen` a server speaks over stdio. With it, it prints its URL and offers `POST /reset`, which puts it back to its first
// state. Packages are installed outside the source tree, where plain imports do not find them, so they are taken from a folder that
// SERVER_MODULES names.
import { mkdir, readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const beside = fileURLToPath(new URL("../../../../target/servers/node", import.meta.url));
const require = createRequire(path.join(process.env.SERVER_MODULES ?? beside, "package.json"));
const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");

export const { Mutex, Semaphore } = require("async-mutex");
export const { z } = require("zod");

const { values: options } = parseArgs({
  options: { data: { type: "string" }, fixed: { type: "boolean" }, listen: { type: "string" } },
});

// How many requests are worked on at once over HTTP.
const AT_ONCE = 8;

// Whether this is the twin without the race.
export const fixed = options.fixed ?? false;

// A path below the server's own folder.
export const data = (...names) => path.join(options.data, ...names);

export const say = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
export const refuse = (text) => ({ content: [{ type: "text", text }], isError: true });

// Serves what `start` returns: a function that registers the tools of one fresh state.
export async function serve(name, start) {
  // What an earlier instance left in the folder is gone: these servers are about calls that meet, not about what survives a crash.
  const fresh = async () => {
    await mkdir(options.data, { recursive: true });
    for (const entry of await readdir(options.data)) await rm(data(entry), { recursive: true });
    return start();
  };
  let register = await fresh();
  const server = () => {
    const made = new McpServer({ name, version: "1.0.0" });
    register(made);
    return made;
  };
  if (options.listen === undefined) return server().connect(new StdioServerTransport());

  // Only here: a process that speaks over stdio starts in half the time without them.
  const { createMcpExpressApp } = require("@modelcontextprotocol/sdk/server/express.js");
  const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
  const app = createMcpExpressApp();
  app.post("/reset", async (_request, response) => {
    register = await fresh();
    response.sendStatus(204);
  });
  // Whoever sends many calls at once waits for his own.
  const slots = new Semaphore(AT_ONCE);
  app.post("/mcp", async (request, response) => {
    const [, release] = await slots.acquire();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const one = server();
    response.on("close", () => {
      release();
      one.close();
    });
    await one.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  // Without sessions there is nothing to stream and nothing to end.
  app.all("/mcp", (_request, response) => response.sendStatus(405));
  const listener = app.listen(Number(options.listen), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${listener.address().port}/mcp`);
  });
}
