// Race: whether a document exists is asked in one step and it is written in another, so two creators both succeed.
import { randomUUID } from "node:crypto";
import { access, link, mkdir, readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { data, fixed, refuse, say, serve, z } from "./kit.mjs";

await serve("documents", async () => {
  await mkdir(data("documents"));
  const fileOf = (name) => data("documents", name);
  const there = (name) => access(fileOf(name)).then(() => true, () => false);

  // The text is complete before its name appears, and a name that is there already is an error.
  async function publish(name, body) {
    const draft = data(`draft-${randomUUID()}`);
    await writeFile(draft, body);
    try {
      await link(draft, fileOf(name));
      return true;
    } catch (error) {
      if (error.code === "EEXIST") return false;
      throw error;
    } finally {
      await unlink(draft);
    }
  }

  return (server) => {
    server.registerTool(
      "create_document",
      {
        description: "Creates a document; fails if the name is in use.",
        inputSchema: { name: z.string().regex(/^[a-z]{1,20}$/), body: z.string() },
      },
      async ({ name, body }) => {
        if (fixed) {
          if (!(await publish(name, body))) return refuse(`${name} exists (request ${randomUUID()})`);
        } else {
          if (await there(name)) return refuse(`${name} exists (request ${randomUUID()})`);
          await writeFile(fileOf(name), body);
        }
        return say({ created: name, request: randomUUID() });
      },
    );
    server.registerTool("read_documents", { description: "Every document with its text." }, async () => {
      const names = (await readdir(data("documents"))).sort();
      return say(await Promise.all(names.map(async (name) => [name, await readFile(fileOf(name), "utf8")])));
    });
  };
});
