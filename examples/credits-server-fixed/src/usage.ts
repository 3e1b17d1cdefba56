import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { pool } from "./stores.js";

const STDIO = "stdio";
const inputSchema = { feature: z.string() };
const usage = new Map<string, number>([[STDIO, 0]]);

export function openSession(session: string): void {
  usage.set(session, 0);
}

export function closeSession(session: string): void {
  usage.delete(session);
}

export function registerUsage(server: McpServer) {
  server.registerTool(
    "increment_usage",
    { description: "Count the use of a feature in this session", inputSchema },
    async ({ feature }, extra) => {
      const { rows } = await pool.query("SELECT units FROM features WHERE name = $1", [feature]);
      if (rows.length === 0) return refuse("no such feature");
      // Nothing is awaited between the read and the write, so no other call of the session can come between.
      const session = extra.sessionId ?? STDIO;
      const used = usage.get(session);
      if (used === undefined) return refuse("the session has ended");
      usage.set(session, used + rows[0].units);
      return reply(`${used + rows[0].units} units used in this session`);
    },
  );
}
