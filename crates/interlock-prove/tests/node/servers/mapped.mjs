import { readFile } from 'node:fs/promises';
import { serve } from './rpc.mjs';
let count = 0;
async function add() {
  const before = count;
  await readFile('/dev/null');
  count = before + 1;
  return count;
}
serve({ add, list: async () => String(count) });
//# sourceMappingURL=mapped.mjs.map
