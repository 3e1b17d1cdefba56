// Race: a map is asked whether a handle is free, and filled only after a log line was written.
import { appendFile } from "node:fs/promises";
import { data, fixed, refuse, say, serve, z } from "./kit.mjs";

await serve("handles", async () => {
  const owners = new Map();
  const log = (line) => appendFile(data("log.txt"), `${line}\n`);

  return (server) => {
    server.registerTool(
      "claim_handle",
      {
        description: "Takes a handle for a person, if nobody has it.",
        inputSchema: { handle: z.enum(["ada", "grace"]), person: z.string().min(1) },
      },
      async ({ handle, person }) => {
        if (owners.has(handle)) return refuse(`${handle} is taken`);
        if (fixed) owners.set(handle, person);
        await log(`${person} takes ${handle}`);
        if (!fixed) owners.set(handle, person);
        return say({ handle, person });
      },
    );
    server.registerTool("list_handles", { description: "Who has which handle." }, async () =>
      say(Object.fromEntries(owners)),
    );
  };
});
