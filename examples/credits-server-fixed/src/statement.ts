import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { callerOf } from "./caller.js";
import { refuse, reply } from "./reply.js";
import { pool } from "./stores.js";

const PER_CALLER = 2;
const running = new Map<string, number>();

/** Tests and takes in one step: nothing is awaited in between. */
function enter(caller: string): boolean {
  const count = running.get(caller) ?? 0;
  if (count >= PER_CALLER) return false;
  running.set(caller, count + 1);
  return true;
}

/** The last one out removes the entry, so the map holds only callers that are running something. */
function leave(caller: string): void {
  const count = running.get(caller) ?? 0;
  if (count > 1) running.set(caller, count - 1);
  else running.delete(caller);
}

export function registerStatement(server: McpServer) {
  server.registerTool(
    "print_statement",
    { description: "Every entry of an account", inputSchema: { account: z.string() }, annotations: { readOnlyHint: true } },
    async ({ account }, extra) => {
      const caller = callerOf(extra);
      if (!enter(caller)) return refuse("too many statements at once: wait for one to end");
      try {
        const { rows } = await pool.query("SELECT amount, memo FROM entries WHERE account = $1 ORDER BY id", [account]);
        return reply(rows.map(({ amount, memo }) => `${amount}\t${memo}`).join("\n"));
      } finally {
        leave(caller);
      }
    },
  );
}
