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
      // The filter names the owner, so the database checks and deletes in one step.
      const { deletedCount } = await files.deleteOne({ _id: id, ownerId: callerOf(extra) });
      return deletedCount === 1 ? reply("deleted") : refuse("not your file");
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
