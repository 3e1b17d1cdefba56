// Counts, with a gap that shows only if a file takes its time, or only between two processes. `safe` has a lock around it.
import { existsSync, readFileSync, renameSync, rmdirSync, mkdirSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const [path, where, mode] = process.argv.slice(2);
let count = 0;
let last = Promise.resolve();

const nap = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
const stored = () => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0);

function lock() {
  for (;;) {
    try {
      return mkdirSync(`${path}.lock`);
    } catch {
      nap();
    }
  }
}

function addInFile(amount) {
  if (mode === 'safe') lock();
  const before = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0; // looks in process
  writeFileSync(`${path}.tmp${process.pid}`, String(before + amount));
  renameSync(`${path}.tmp${process.pid}`, path); // acts in process
  if (mode === 'safe') rmdirSync(`${path}.lock`);
}

async function addInMemory(amount) {
  const before = count; // looks in thread
  await stat('.');
  count = before + amount; // acts in thread
}

const tools = {
  async add({ amount }) {
    if (where === 'process') addInFile(amount);
    else if (mode === 'safe') await (last = last.then(() => addInMemory(amount)));
    else await addInMemory(amount);
    return 'added';
  },
  get_count: async () => String(where === 'process' ? stored() : count),
};

const amount = { type: 'object', properties: { amount: { type: 'integer', minimum: 1 } }, required: ['amount'] };
const listed = [
  { name: 'add', inputSchema: amount },
  { name: 'get_count', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
];

async function answer({ method, params }) {
  if (method === 'tools/call') return { content: [{ type: 'text', text: await tools[params.name](params.arguments ?? {}) }] };
  if (method === 'tools/list') return { tools: listed };
  return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'counter', version: '1' } };
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  const result = await answer(message);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n`);
});
