import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { pool } from "./stores.js";

const inputSchema = { team: z.string(), amount: z.number().int().positive() };
const allowances = new Map<string, number>();

export function registerAllowance(server: McpServer) {
  server.registerTool(
    "use_allowance",
    { description: "Take credits from a team's allowance", inputSchema },
    async ({ team, amount }) => {
      let remaining = allowances.get(team);
      if (remaining === undefined) {
        const { rows } = await pool.query("SELECT remaining FROM allowances WHERE team = $1", [team]);
        if (rows.length === 0) return refuse("no such team");
        remaining = Number(rows[0].remaining);
        allowances.set(team, remaining);
      }
      if (remaining < amount) return refuse("the allowance is used up");
      allowances.set(team, remaining - amount);
      await pool.query("UPDATE allowances SET remaining = remaining - $2 WHERE team = $1", [team, amount]);
      return reply(`${remaining - amount} left`);
    },
  );
}
