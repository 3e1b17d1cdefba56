import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { DATA } from "./stores.js";

const inputSchema = { name: z.string().regex(/^[a-z0-9-]+$/), body: z.string() };

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

export function registerReports(server: McpServer) {
  server.registerTool(
    "create_report",
    { description: "Write a new report", inputSchema },
    async ({ name, body }) => {
      const path = join(DATA, "reports", `${name}.md`);
      if (await exists(path)) return refuse("a report of that name exists");
      await writeFile(path, body);
      return reply(`created ${name}`);
    },
  );
}
