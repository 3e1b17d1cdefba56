import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { pool } from "./stores.js";

const inputSchema = { account: z.string(), amount: z.number().int().positive() };
const SPEND = "UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND balance >= $2 RETURNING balance";

export function registerSpending(server: McpServer) {
  server.registerTool(
    "spend_credits",
    { description: "Pay for something from an account", inputSchema },
    async ({ account, amount }) => {
      // One statement compares and subtracts; whether it found a row is the answer.
      const { rows } = await pool.query<{ balance: number }>(SPEND, [account, amount]);
      const spent = rows[0];
      return spent ? reply(`${spent.balance} credits left`) : refuse("not enough credits");
    },
  );
}
