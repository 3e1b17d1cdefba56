// Counts in a file, in ways that leave a gap and in ways that leave none. The tests name lines of this file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { serve } from './rpc.mjs';

let count = 0;
let last = Promise.resolve();
const stored = async () => Number(await readFile('count', 'utf8').catch(() => '0'));

serve({
  async behind_a_read() {
    const before = count;
    await readFile(import.meta.filename ?? process.argv[1]);
    count = before + 1;
    return count;
  },
  async without_waiting() {
    const before = count;
    await Promise.resolve();
    count = Math.max(before, count) + 1;
    return count;
  },
  async locked() {
    const mine = last.then(async () => {
      const before = await stored();
      await writeFile('count', String(before + 1));
    });
    last = mine;
    await mine;
    return 'ok';
  },
  async in_one_go() {
    const before = existsSync('count') ? Number(readFileSync('count', 'utf8')) : 0;
    writeFileSync('count', String(before + 1));
    return 'ok';
  },
  list: async () => (existsSync('count') ? readFileSync('count', 'utf8') : String(count)),
});
