// Two callers, the second 10 ms after the first: read a number, add one, write it back.
import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

async function call(late) {
  await setTimeout(late);
  const count = Number((await readFile("count", "utf8")) || "-1");
  await writeFile("count", String(count + 1));
}

console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) {
  await Promise.all([call(0), call(10)]);
  console.log("done");
}
