import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { pool } from "./stores.js";

const inputSchema = { account: z.string(), amount: z.number().int().positive() };

export function registerSpending(server: McpServer) {
  server.registerTool(
    "spend_credits",
    { description: "Pay for something from an account", inputSchema },
    async ({ account, amount }) => {
      const { rows } = await pool.query<{ balance: number }>("SELECT balance FROM accounts WHERE id = $1", [account]);
      const found = rows[0];
      if (!found || found.balance < amount) return refuse("not enough credits");
      const left = found.balance - amount;
      await pool.query("UPDATE accounts SET balance = $2 WHERE id = $1", [account, left]);
      return reply(`${left} credits left`);
    },
  );
}
