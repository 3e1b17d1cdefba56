import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Semaphore } from "async-mutex";
import { z } from "zod";
import { callerOf } from "./caller.js";
import { reply } from "./reply.js";
import { pool } from "./stores.js";

const PER_CALLER = 2;
const TEN_MINUTES = 600_000;
const permits = new Map<string, Semaphore>();

function permitsOf(caller: string): Semaphore {
  let semaphore = permits.get(caller);
  if (!semaphore) {
    semaphore = new Semaphore(PER_CALLER);
    permits.set(caller, semaphore);
    setTimeout(() => permits.delete(caller), TEN_MINUTES);
  }
  return semaphore;
}

export function registerStatement(server: McpServer) {
  server.registerTool(
    "print_statement",
    { description: "Every entry of an account", inputSchema: { account: z.string() }, annotations: { readOnlyHint: true } },
    async ({ account }, extra) =>
      permitsOf(callerOf(extra)).runExclusive(async () => {
        const { rows } = await pool.query("SELECT amount, memo FROM entries WHERE account = $1 ORDER BY id", [account]);
        return reply(rows.map(({ amount, memo }) => `${amount}\t${memo}`).join("\n"));
      }),
  );
}
