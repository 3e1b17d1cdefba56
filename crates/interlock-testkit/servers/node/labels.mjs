// Race: there is a lock for each item, but it is looked up by an object that every call makes anew.
import { readFile, writeFile } from "node:fs/promises";
import { data, fixed, Mutex, say, serve, z } from "./kit.mjs";

await serve("labels", async () => {
  const file = (item) => data(`${item}.json`);
  for (const item of ["desk", "lamp"]) await writeFile(file(item), "[]");
  const locks = new Map();
  const lockOf = (args) => {
    const key = fixed ? args.item : args;
    if (!locks.has(key)) locks.set(key, new Mutex());
    return locks.get(key);
  };
  const load = async (item) => JSON.parse(await readFile(file(item), "utf8"));
  const item = z.enum(["desk", "lamp"]);

  return (server) => {
    server.registerTool(
      "add_label",
      { description: "Puts a label on an item.", inputSchema: { item, label: z.string().min(1) } },
      (args) =>
        lockOf(args).runExclusive(async () => {
          const labels = [...(await load(args.item)), args.label];
          await writeFile(file(args.item), JSON.stringify(labels));
          return say({ item: args.item, labels });
        }),
    );
    server.registerTool("list_labels", { description: "The labels of an item.", inputSchema: { item } }, (args) =>
      lockOf(args).runExclusive(async () => say(await load(args.item))),
    );
  };
});
