import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { callerOf } from "./caller.js";
import { refuse, reply } from "./reply.js";
import { pool, redis } from "./stores.js";

const PER_MINUTE = 30;

async function allow(caller: string): Promise<boolean> {
  const key = `searches:${caller}`;
  const used = Number((await redis.get(key)) ?? 0);
  if (used >= PER_MINUTE) return false;
  await redis.multi().incr(key).expire(key, 60).exec();
  return true;
}

export function registerSearch(server: McpServer) {
  server.registerTool(
    "search_entries",
    { description: "Entries whose memo contains a word", inputSchema: { word: z.string() }, annotations: { readOnlyHint: true } },
    async ({ word }, extra) => {
      if (!(await allow(callerOf(extra)))) return refuse("too many searches: try again in a minute");
      const { rows } = await pool.query("SELECT account, memo FROM entries WHERE position($1 in memo) > 0 LIMIT 50", [word]);
      return reply(JSON.stringify(rows));
    },
  );
}
