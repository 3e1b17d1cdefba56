// Race: two misses of the cache both make a token, and each caller gets another one.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { data, fixed, say, serve, z } from "./kit.mjs";

await serve("tokens", async () => {
  const cache = new Map();
  const pending = new Map();

  async function issue(service) {
    const token = randomUUID();
    await writeFile(data(`${service}.token`), token);
    cache.set(service, token);
    return token;
  }

  return (server) => {
    server.registerTool(
      "get_token",
      {
        description: "The token of a service, which is made when it is first asked for.",
        inputSchema: { service: z.enum(["mail", "maps"]) },
      },
      async ({ service }) => {
        if (cache.has(service)) return say({ service, token: cache.get(service) });
        if (!fixed) return say({ service, token: await issue(service) });
        if (!pending.has(service)) pending.set(service, issue(service).finally(() => pending.delete(service)));
        return say({ service, token: await pending.get(service) });
      },
    );
    server.registerTool("list_tokens", { description: "The tokens that were made." }, async () =>
      say(Object.fromEntries(cache)),
    );
  };
});
