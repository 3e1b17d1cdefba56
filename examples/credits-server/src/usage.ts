import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { pool } from "./stores.js";

const inputSchema = { feature: z.string() };
const usage = new Map<string, number>();

export function registerUsage(server: McpServer) {
  server.registerTool(
    "increment_usage",
    { description: "Count the use of a feature in this session", inputSchema },
    async ({ feature }, extra) => {
      const session = extra.sessionId ?? "stdio";
      const used = usage.get(session) ?? 0;
      const { rows } = await pool.query("SELECT units FROM features WHERE name = $1", [feature]);
      if (rows.length === 0) return refuse("no such feature");
      usage.set(session, used + rows[0].units);
      return reply(`${used + rows[0].units} units used in this session`);
    },
  );
}
