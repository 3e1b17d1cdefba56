import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { wallets } from "./stores.js";

const inputSchema = { from: z.string(), to: z.string(), amount: z.number().int().positive() };

export function registerTransfer(server: McpServer) {
  server.registerTool(
    "transfer_credits",
    { description: "Move credits from one wallet to another", inputSchema },
    async ({ from, to, amount }) => {
      const payer = await wallets.findOne({ _id: from });
      if (!payer || payer.balance < amount) return refuse("not enough credits");
      await wallets.updateOne({ _id: from }, { $inc: { balance: -amount } });
      await wallets.updateOne({ _id: to }, { $inc: { balance: amount } });
      return reply(`${amount} credits moved from ${from} to ${to}`);
    },
  );
}
