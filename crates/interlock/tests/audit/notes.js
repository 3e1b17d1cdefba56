// A server of notes with no package behind it, which reads its file, waits, and writes it back.
const { readFile, writeFile } = require('node:fs/promises');
const { createInterface } = require('node:readline');
require('helper');

const FILE = 'notes.json';
const load = async () => JSON.parse(await readFile(FILE, 'utf8').catch(() => '[]'));
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const tools = {
  add_note: {
    inputSchema: text,
    call: async ({ text }) => {
      const notes = await load();
      notes.push(text);
      await writeFile(FILE, JSON.stringify(notes));
      return 'added';
    },
  },
  list_notes: {
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
    call: async () => JSON.stringify(await load()),
  },
};
const methods = {
  initialize: async (params) => ({
    protocolVersion: params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  'tools/list': async () => ({ tools: Object.entries(tools).map(([name, { call, ...tool }]) => ({ name, ...tool })) }),
  'tools/call': async ({ name, arguments: given }) => ({ content: [{ type: 'text', text: await tools[name].call(given) }] }),
};
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = methods[method] ? { result: await methods[method](params) } : { error: { code: -32601, message: 'unknown' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...result }) + '\n');
});
