// A count in memory with a pause between reading and writing it, asked for in every way there is.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { serve } from './rpc.mjs';

let count = 0;

async function gap(pause) {
  const before = count;
  await pause();
  count = before + 1;
  return count;
}

serve({
  timeout: () => gap(() => new Promise((resolve) => setTimeout(resolve, 5))),
  immediate: () => gap(() => new Promise((resolve) => setImmediate(resolve))),
  promised: () => gap(() => sleep(5)),
  turned: () => gap(() => turn()),
  promisified: () => gap(() => promisify(setTimeout)(5)),
  // A deadline that is never reached must hold nobody up, and one that was cleared must not go off.
  async deadline() {
    let late = false;
    const far = setTimeout(() => (late = true), 60_000);
    const near = setTimeout(() => (late = true), 1);
    clearTimeout(near);
    await gap(() => sleep(5));
    clearTimeout(far);
    return String(late);
  },
  list: () => count,
});
