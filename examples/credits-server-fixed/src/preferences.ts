import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import lockfile from "proper-lockfile";
import { z } from "zod";
import { reply } from "./reply.js";
import { DATA } from "./stores.js";

type Preferences = Record<string, string>;

const user = z.string().regex(/^[a-z0-9-]+$/);
const RETRIES = { retries: 20, minTimeout: 20, maxTimeout: 1_000, randomize: true };

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

/** Readers see the old file or the new one, never a half. */
async function save(name: string, preferences: Preferences): Promise<void> {
  const temp = `${pathOf(name)}.${randomUUID()}`;
  try {
    await writeFile(temp, JSON.stringify(preferences), { flag: "wx", flush: true });
    await rename(temp, pathOf(name));
  } catch (error) {
    await rm(temp, { force: true });
    throw error;
  }
}

export function registerPreferences(server: McpServer) {
  server.registerTool(
    "set_preference",
    { description: "Set one preference of a user", inputSchema: { user, key: z.string(), value: z.string() } },
    async ({ user, key, value }) => {
      // The lock is a file, because every client on stdio has a process of its own. It is renewed while the work runs; a
      // process that loses it all the same is ended by the library.
      const release = await lockfile.lock(pathOf(user), { realpath: false, retries: RETRIES });
      try {
        const preferences = await load(user);
        preferences[key] = value;
        await save(user, preferences);
      } finally {
        await release();
      }
      return reply("saved");
    },
  );

  server.registerTool(
    "get_preferences",
    { description: "All preferences of a user", inputSchema: { user }, annotations: { readOnlyHint: true } },
    async ({ user }) => reply(JSON.stringify(await load(user))),
  );
}
