import { randomUUID } from "node:crypto";
import { link, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { refuse, reply } from "./reply.js";
import { DATA } from "./stores.js";

const inputSchema = { name: z.string().regex(/^[a-z0-9-]+$/), body: z.string() };

export function registerReports(server: McpServer) {
  server.registerTool(
    "create_report",
    { description: "Write a new report", inputSchema },
    async ({ name, body }) => {
      // A link fails if its name is taken, so it is the test and the act in one; and a report that has a name is complete.
      const path = join(DATA, "reports", `${name}.md`);
      const draft = `${path}.${randomUUID()}`;
      try {
        await writeFile(draft, body, { flag: "wx", flush: true });
        await link(draft, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return refuse("a report of that name exists");
      } finally {
        await rm(draft, { force: true });
      }
      return reply(`created ${name}`);
    },
  );
}
