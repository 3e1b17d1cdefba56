import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { callerOf } from "./caller.js";
import { refuse, reply } from "./reply.js";
import { pool, redis } from "./stores.js";

const PER_MINUTE = 30;

/** Redis runs a script as one step: it counts, sets the expiry, and compares the number that this very call produced. */
const TAKE = `
local used = redis.call("INCR", KEYS[1])
if used == 1 then redis.call("EXPIRE", KEYS[1], 60) end
if used > tonumber(ARGV[1]) then return 0 end
return 1`;

async function allow(caller: string): Promise<boolean> {
  const taken = await redis.eval(TAKE, { keys: [`searches:${caller}`], arguments: [String(PER_MINUTE)] });
  return taken === 1;
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
