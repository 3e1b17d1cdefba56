// Race: the whole JSON file is read, changed and written back, so of two notes one is lost.
import { readFile, writeFile } from "node:fs/promises";
import { data, fixed, Mutex, say, serve, z } from "./kit.mjs";

await serve("notes", async () => {
  const file = data("notes.json");
  await writeFile(file, "[]");
  const lock = new Mutex();
  const guarded = (work) => (fixed ? lock.runExclusive(work) : work());
  const load = async () => JSON.parse(await readFile(file, "utf8"));

  return (server) => {
    server.registerTool(
      "add_note",
      { description: "Adds a note.", inputSchema: { text: z.string().describe("What to remember") } },
      ({ text }) =>
        guarded(async () => {
          const notes = await load();
          const note = { text, savedAt: new Date().toISOString() };
          notes.push(note);
          await writeFile(file, JSON.stringify(notes));
          return say({ saved: note, count: notes.length });
        }),
    );
    server.registerTool(
      "list_notes",
      { description: "All notes, oldest first.", annotations: { readOnlyHint: true } },
      () => guarded(async () => say(await load())),
    );
  };
});
