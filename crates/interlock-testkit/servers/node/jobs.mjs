// Race: the first job is looked up, read and removed in three steps, so two workers take the same one.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { data, fixed, refuse, say, serve, z } from "./kit.mjs";

await serve("jobs", async () => {
  await mkdir(data("queue"));
  await mkdir(data("taken"));
  for (let id = 1; id <= 5; id += 1) await writeFile(data("queue", `job-${id}`), `resize image ${id}`);
  const waiting = async () => (await readdir(data("queue"))).sort();

  // Only one of two renames finds the file; the other looks again.
  async function claim() {
    for (;;) {
      const [id] = await waiting();
      if (id === undefined) return undefined;
      try {
        await rename(data("queue", id), data("taken", id));
        return { id, work: await readFile(data("taken", id), "utf8") };
      } catch (error) {
        if (error.code !== "ENOENT") throw error;
      }
    }
  }

  async function pop() {
    const [id] = await waiting();
    if (id === undefined) return undefined;
    const work = await readFile(data("queue", id), "utf8");
    await rm(data("queue", id), { force: true });
    return { id, work };
  }

  return (server) => {
    server.registerTool(
      "take_job",
      { description: "Takes the next job.", inputSchema: { worker: z.string().default("worker") } },
      async ({ worker }) => {
        const job = await (fixed ? claim() : pop());
        return job ? say({ worker, ...job, takenAt: Date.now() }) : refuse("no job is waiting");
      },
    );
    server.registerTool("list_jobs", { description: "The jobs that wait." }, async () => say(await waiting()));
  };
});
