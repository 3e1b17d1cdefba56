// Race: the next number is the highest file name plus one, so two tickets get the same number and one is overwritten.
import { randomUUID } from "node:crypto";
import { link, mkdir, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { data, fixed, say, serve, z } from "./kit.mjs";

await serve("tickets", async () => {
  await mkdir(data("tickets"));
  const fileOf = (id) => data("tickets", `${id}.json`);
  const numbers = async () => (await readdir(data("tickets"))).map((name) => parseInt(name, 10)).sort((a, b) => a - b);

  // A number that somebody else was quicker to take is an error, and the next one is tried.
  async function take(ticket) {
    const draft = data(`draft-${randomUUID()}`);
    for (let id = ((await numbers()).at(-1) ?? 0) + 1; ; id += 1) {
      await writeFile(draft, JSON.stringify({ id, ...ticket }));
      try {
        await link(draft, fileOf(id));
        await unlink(draft);
        return id;
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
      }
    }
  }

  return (server) => {
    server.registerTool(
      "open_ticket",
      { description: "Opens a ticket and says its number.", inputSchema: { title: z.string().min(3) } },
      async ({ title }) => {
        const ticket = { title, etag: randomUUID(), openedAt: Date.now() };
        if (fixed) return say({ id: await take(ticket), ...ticket });
        const id = ((await numbers()).at(-1) ?? 0) + 1;
        await writeFile(fileOf(id), JSON.stringify({ id, ...ticket }));
        return say({ id, ...ticket });
      },
    );
    server.registerTool("list_tickets", { description: "All tickets by number." }, async () => {
      const texts = (await numbers()).map((id) => readFile(fileOf(id), "utf8"));
      return say((await Promise.all(texts)).map((text) => JSON.parse(text)));
    });
  };
});
