// The notes again, kept apart in three ways: a chain of promises, a lock file that is polled, one line after another.
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from './rpc.mjs';

const load = () => readFile('notes.json', 'utf8').then(JSON.parse, () => []);

async function add(text) {
  const notes = await load();
  notes.push(text);
  await writeFile('notes.json', JSON.stringify(notes));
  return notes.length;
}

let chain = Promise.resolve();

async function polled(body) {
  for (;;) {
    try {
      await mkdir('lock');
      break;
    } catch {
      await sleep(5);
    }
  }
  try {
    return await body();
  } finally {
    await rmdir('lock');
  }
}

serve({
  chained: ({ text }) => (chain = chain.then(() => add(text))),
  polled: ({ text }) => polled(() => add(text)),
  list: async () => (await load()).join(' '),
});
