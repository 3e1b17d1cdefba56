import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { reply } from "./reply.js";
import { DATA } from "./stores.js";

type Preferences = Record<string, string>;

const user = z.string().regex(/^[a-z0-9-]+$/);

function pathOf(name: string): string {
  return join(DATA, "preferences", `${name}.json`);
}

async function load(name: string): Promise<Preferences> {
  try {
    return JSON.parse(await readFile(pathOf(name), "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

async function save(name: string, preferences: Preferences): Promise<void> {
  await writeFile(pathOf(name), JSON.stringify(preferences));
}

export function registerPreferences(server: McpServer) {
  server.registerTool(
    "set_preference",
    { description: "Set one preference of a user", inputSchema: { user, key: z.string(), value: z.string() } },
    async ({ user, key, value }) => {
      const preferences = await load(user);
      preferences[key] = value;
      await save(user, preferences);
      return reply("saved");
    },
  );

  server.registerTool(
    "get_preferences",
    { description: "All preferences of a user", inputSchema: { user }, annotations: { readOnlyHint: true } },
    async ({ user }) => reply(JSON.stringify(await load(user))),
  );
}
