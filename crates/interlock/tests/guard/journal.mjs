// A server made with the TypeScript SDK that keeps a list of names in a file: read, wait, write. Its handler looks at no signal, and so goes on whatever
// becomes of its call.
//
//   node journal.mjs 1 | 2 FILE
//
// The number is the SDK's: 1 has the handshake, 2 has both eras. Packages are taken from a folder that SERVER_MODULES names.
import { existsSync } from "node:fs";
import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(path.join(process.env.SERVER_MODULES, "package.json"));
const { z } = require("zod");
const [version, file] = process.argv.slice(2);

async function read() {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

async function add({ name, ms = 0, until }) {
  await appendFile(`${file}.begun`, `${name}\n`);
  const names = await read();
  const end = performance.now() + ms;
  for (let left; (left = end - performance.now()) > 0 && !(until && existsSync(until)); ) await sleep(Math.min(left, 10));
  await writeFile(`${file}.new`, JSON.stringify([...names, name]));
  await rename(`${file}.new`, file);
  await appendFile(`${file}.ended`, `${name}\n`);
  return { content: [{ type: "text", text: "added" }] };
}

const description = "Adds a name to the list. It takes so long, or until there is such a file.";
const inputs = { name: z.string(), ms: z.number().optional(), until: z.string().optional() };
const info = { name: "journal", version: "1.0.0" };

if (version === "1") {
  const { McpServer } = require("@modelcontextprotocol/sdk/server/mcp.js");
  const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
  const server = new McpServer(info);
  server.registerTool("add", { description, inputSchema: inputs }, add);
  await server.connect(new StdioServerTransport());
} else {
  const { McpServer } = require("@modelcontextprotocol/server");
  const { serveStdio } = require("@modelcontextprotocol/server/stdio");
  serveStdio(() => {
    const server = new McpServer(info);
    server.registerTool("add", { description, inputSchema: z.object(inputs) }, add);
    return server;
  });
}
