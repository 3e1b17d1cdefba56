// A counter over MCP on one port without TLS: HTTP/1.1, or HTTP/2 to whoever begins with its preface. Calls over HTTP/1.1 wait for each other;
// those over HTTP/2 do not, and lose what the other added. Told a certificate and its key, it serves the same counter on a port with TLS.
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { setTimeout as pause } from "node:timers/promises";

let value = 0;
let last = Promise.resolve();

async function add(amount) {
  const before = value;
  await pause(10);
  value = before + amount;
  return value;
}

const tools = [
  { name: "add", inputSchema: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] } },
  { name: "get", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
];

async function answer({ method, params }, together) {
  if (method === "initialize") {
    const serverInfo = { name: "h2c", version: "1" };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  const act = () => (params.name === "get" ? value : add(params.arguments.amount));
  const acted = together ? act() : last.then(act);
  if (!together) last = acted;
  return { content: [{ type: "text", text: JSON.stringify({ value: await acted }) }] };
}

async function handle(request, response) {
  let text = "";
  for await (const chunk of request) text += chunk;
  if (request.url === "/reset") {
    value = 0;
    response.writeHead(204).end();
    return;
  }
  const message = JSON.parse(text);
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const result = await answer(message, request.httpVersionMajor === 2);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
}

const one = http.createServer(handle);
const two = http2.createServer(handle);
const listener = net.createServer((socket) => {
  // A client may go at any time.
  socket.on("error", () => {});
  socket.once("readable", () => {
    // Put back as it was: whoever serves the connection reads it from its beginning.
    const first = socket.read();
    if (first === null) return;
    socket.unshift(first);
    (first.subarray(0, 3).toString() === "PRI" ? two : one).emit("connection", socket);
  });
});
listener.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${listener.address().port}/mcp`);
  const [cert, key] = process.argv.slice(2).map((path) => readFileSync(path));
  if (key === undefined) return;
  const secure = http2.createSecureServer({ cert, key, allowHTTP1: true }, handle);
  secure.on("sessionError", () => {});
  secure.listen(0, "127.0.0.1", () => console.log(`https://localhost:${secure.address().port}/mcp`));
});
