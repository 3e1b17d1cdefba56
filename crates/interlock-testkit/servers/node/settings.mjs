// Race: settings are read, changed and renamed over the old file. No reader ever sees half a file, and still one change is lost.
import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { data, fixed, Mutex, say, serve, z } from "./kit.mjs";

await serve("settings", async () => {
  const file = data("settings.json");
  await writeFile(file, "{}");
  const lock = new Mutex();

  async function change(name, value) {
    const settings = JSON.parse(await readFile(file, "utf8"));
    settings[name] = value;
    const draft = data(`settings-${randomUUID()}`);
    await writeFile(draft, JSON.stringify(settings));
    await rename(draft, file);
  }

  // Keys come in any order, as from a hash map.
  const shuffled = (object) => Object.fromEntries(Object.entries(object).sort(() => Math.random() - 0.5));

  return (server) => {
    server.registerTool(
      "set_setting",
      {
        description: "Sets one setting.",
        inputSchema: { name: z.enum(["theme", "language", "font"]), value: z.string().min(1) },
      },
      async ({ name, value }) => {
        await (fixed ? lock.runExclusive(() => change(name, value)) : change(name, value));
        return say(shuffled({ name, value, ok: true }));
      },
    );
    server.registerTool(
      "get_settings",
      { description: "All settings.", annotations: { readOnlyHint: true } },
      async () => say(shuffled({ version: 1, ...JSON.parse(await readFile(file, "utf8")) })),
    );
  };
});
