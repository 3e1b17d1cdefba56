// Keeps notes in one file, read and written back as a whole.
import { readFile, writeFile } from 'node:fs/promises';
import { serve } from './rpc.mjs';

const load = () => readFile('notes.json', 'utf8').then(JSON.parse, () => []);

serve({
  async add({ text }) {
    const notes = await load();
    notes.push(text);
    await writeFile('notes.json', JSON.stringify(notes));
    return notes.length;
  },
  list: async () => (await load()).join(' '),
});
