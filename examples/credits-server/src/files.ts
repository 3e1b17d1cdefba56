import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { callerOf } from "./caller.js";
import { refuse, reply } from "./reply.js";
import { files } from "./stores.js";

const id = z.string();

export function registerFiles(server: McpServer) {
  server.registerTool(
    "delete_file",
    { description: "Delete a file of yours", inputSchema: { id } },
    async ({ id }, extra) => {
      const file = await files.findOne({ _id: id });
      if (file?.ownerId !== callerOf(extra)) return refuse("not your file");
      await files.deleteOne({ _id: id });
      return reply("deleted");
    },
  );

  server.registerTool(
    "hand_over_file",
    { description: "Give a file of yours to someone else", inputSchema: { id, to: z.string() } },
    async ({ id, to }, extra) => {
      const mine = { _id: id, ownerId: callerOf(extra) };
      const { matchedCount } = await files.updateOne(mine, { $set: { ownerId: to } });
      return matchedCount === 1 ? reply(`handed over to ${to}`) : refuse("not your file");
    },
  );
}
