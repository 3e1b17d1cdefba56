// The notes over HTTP. The body is parsed in a helper that the handler waits for, as `await request.json()` does.
import { createServer } from 'node:http';
import { readFile, writeFile } from 'node:fs/promises';

const load = () => readFile('notes.json', 'utf8').then(JSON.parse, () => []);

async function body(request) {
  const chunks = await request.toArray();
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function handle(request, response) {
  const { id, params } = await body(request);
  const notes = await load();
  notes.push(params.arguments.text);
  await writeFile('notes.json', JSON.stringify(notes));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: String(notes.length) }] } }));
}

const server = createServer(handle).listen(0, '127.0.0.1', () => console.log(JSON.stringify({ id: 0, result: server.address().port })));
process.stdin.resume().on('end', () => process.exit());
