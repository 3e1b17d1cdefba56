import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { pool } from "./stores.js";

const inputSchema = { team: z.string(), amount: z.number().int().positive() };
const USE = "UPDATE allowances SET remaining = remaining - $2 WHERE team = $1 AND remaining >= $2 RETURNING remaining";

export function registerAllowance(server: McpServer) {
  server.registerTool(
    "use_allowance",
    { description: "Take credits from a team's allowance", inputSchema },
    async ({ team, amount }) => {
      // There is no cache: a copy of a number that other processes change can only word an answer, not decide one.
      const { rows } = await pool.query<{ remaining: number }>(USE, [team, amount]);
      const used = rows[0];
      return used ? reply(`${used.remaining} left`) : refuse("no such team, or its allowance is used up");
    },
  );
}
