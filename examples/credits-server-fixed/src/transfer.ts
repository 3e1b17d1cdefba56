import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { reply } from "./reply.js";
import { mongo, wallets } from "./stores.js";

const inputSchema = { from: z.string(), to: z.string(), amount: z.number().int().positive() };

export function registerTransfer(server: McpServer) {
  server.registerTool(
    "transfer_credits",
    { description: "Move credits from one wallet to another", inputSchema },
    async ({ from, to, amount }) => {
      // The debit repeats the comparison, and the transaction makes both changes or neither, also in a crash.
      const covered = { _id: from, balance: { $gte: amount } };
      await mongo.withSession((session) =>
        session.withTransaction(async () => {
          const paid = await wallets.updateOne(covered, { $inc: { balance: -amount } }, { session });
          if (paid.modifiedCount !== 1) throw new Error("not enough credits");
          const received = await wallets.updateOne({ _id: to }, { $inc: { balance: amount } }, { session });
          if (received.modifiedCount !== 1) throw new Error("no such payee");
        }),
      );
      return reply(`${amount} credits moved from ${from} to ${to}`);
    },
  );
}
