// The least that a server needs: one JSON-RPC message per line, every call answered when its tool is done.
import { createInterface } from 'node:readline';

export function serve(tools) {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, params } = JSON.parse(line);
    Promise.resolve()
      .then(() => tools[params.name](params.arguments ?? {}))
      .then((text) => answer(id, String(text)));
  });
}

export function answer(id, text) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })}\n`);
}
