// Reads the next request when the last is answered.
import { createInterface } from 'node:readline';
import { readFile, writeFile } from 'node:fs/promises';
import { answer } from './rpc.mjs';

for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line);
  const count = Number(await readFile('count', 'utf8').catch(() => '0')) + 1;
  await writeFile('count', String(count));
  answer(id, String(count));
}
