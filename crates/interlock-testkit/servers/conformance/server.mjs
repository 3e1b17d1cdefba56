// The server that the official conformance suite is run on: what its scenarios call for by name, in both protocol eras, at one URL.
//
//   node server.mjs [--listen PORT]
//
// Handshake revisions have sessions whose streams can be resumed; 2026-07-28 is served request by request. It prints its URL. Without
// `--listen` it speaks over stdio. Packages are taken from a folder that SERVER_MODULES names.
import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { parseArgs } from "node:util";

import { prompts } from "./prompts.mjs";
import { resources } from "./resources.mjs";
import { EXTENSION, taskAnswer, tasked } from "./tasks.mjs";
import { tools } from "./tools.mjs";

const require = createRequire(path.join(process.env.SERVER_MODULES, "package.json"));
const sdk = require("@modelcontextprotocol/server");
const { z } = require("zod");

const { values: options } = parseArgs({ options: { listen: { type: "string" } } });

// One key for the whole process: a question may be answered in a later request.
const states = sdk.createRequestStateCodec({ key: randomBytes(32) });

// Whom a change of a list is told to; over HTTP those who listen at the handler, over stdio the one client.
let listeners = { toolsChanged: () => {}, promptsChanged: () => {} };

function make({ era }) {
  const lists = { listChanged: true };
  const server = new sdk.McpServer(
    { name: "interlock-conformance", version: "1.0.0" },
    {
      capabilities: {
        tools: lists,
        prompts: lists,
        resources: { ...lists, subscribe: true },
        completions: {},
        logging: {},
        ...(era === "modern" && { extensions: { [EXTENSION]: {} } }),
      },
      requestState: { verify: states.verify },
    },
  );
  const kit = { sdk, z, states, changed: () => listeners };
  tools(server, kit);
  resources(server, kit);
  prompts(server, kit);
  if (era === "modern") tasked(server, kit);
  if (options.listen === undefined) {
    listeners = {
      toolsChanged: () => server.sendToolListChanged(),
      promptsChanged: () => server.sendPromptListChanged(),
    };
  }
  if (era === "legacy") {
    const watched = new Set();
    server.server.setRequestHandler("resources/subscribe", ({ params }) => (watched.add(params.uri), {}));
    server.server.setRequestHandler("resources/unsubscribe", ({ params }) => (watched.delete(params.uri), {}));
  }
  return server;
}

// What was sent on a stream, for a client that comes back to it.
function events() {
  const kept = [];
  return {
    async storeEvent(stream, message) {
      kept.push({ stream, message });
      return `${kept.length}`;
    },
    async getStreamIdForEventId(id) {
      return kept[Number(id) - 1]?.stream;
    },
    async replayEventsAfter(last, { send }) {
      const { stream } = kept[Number(last) - 1];
      for (const [index, event] of kept.entries()) {
        // The first event of a stream has no message, only an id to come back with.
        const said = event.stream === stream && Object.keys(event.message).length > 0;
        if (index >= Number(last) && said) await send(`${index + 1}`, event.message);
      }
      return stream;
    },
  };
}

function listen(port) {
  const http = require("@modelcontextprotocol/node");
  const modern = sdk.createMcpHandler(make, { legacy: "reject" });
  listeners = modern.notify;
  const serveModern = http.toNodeHandler(modern);
  const guards = [http.localhostHostValidation(), http.localhostOriginValidation()];
  const sessions = new Map();

  async function serveLegacy(request, response, body) {
    const known = sessions.get(request.headers["mcp-session-id"]);
    if (known !== undefined) return known.handleRequest(request, response, body);
    if (request.headers["mcp-session-id"] !== undefined) {
      const error = { code: -32001, message: "Session not found" };
      return response
        .writeHead(404, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: body?.id ?? null, error }));
    }
    const transport = new http.NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: events(),
      retryInterval: 200,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await make({ era: "legacy" }).connect(transport);
    return transport.handleRequest(request, response, body);
  }

  const listener = createServer(async (request, response) => {
    if (!guards.every((guard) => guard(request, response))) return;
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    let body;
    try {
      body = chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks));
    } catch {
      const error = { code: -32700, message: "Parse error" };
      return void response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
    }
    const answered = taskAnswer(request.headers, body);
    if (answered !== undefined) {
      const [status, answer] = answered;
      return void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    }
    const legacy = await sdk.isLegacyRequest(await http.toWebRequest(request, body), body);
    await (legacy ? serveLegacy : serveModern)(request, response, body);
  });
  listener.listen(port, "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${listener.address().port}/mcp`);
  });
}

// Messages about tasks are answered before the package sees them, as over HTTP.
function stdio() {
  const { serveStdio, StdioServerTransport } = require("@modelcontextprotocol/server/stdio");
  const wire = new StdioServerTransport();
  const transport = {
    start() {
      wire.onerror = (error) => transport.onerror?.(error);
      wire.onclose = () => transport.onclose?.();
      wire.onmessage = (message) => {
        const answered = taskAnswer(undefined, message);
        if (answered === undefined) transport.onmessage?.(message);
        else wire.send(answered[1]);
      };
      return wire.start();
    },
    send: (message) => wire.send(message),
    close: () => wire.close(),
  };
  serveStdio(make, { transport });
}

if (options.listen === undefined) {
  stdio();
} else {
  listen(Number(options.listen));
}
