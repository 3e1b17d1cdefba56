import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { registerAllowance } from "./allowance.js";
import { registerFiles } from "./files.js";
import { registerPreferences } from "./preferences.js";
import { registerReports } from "./reports.js";
import { registerSearch } from "./search.js";
import { registerSpending } from "./spending.js";
import { registerStatement } from "./statement.js";
import { registerTransfer } from "./transfer.js";
import { registerUsage } from "./usage.js";

export function build(): McpServer {
  const server = new McpServer({ name: "credits", version: "1.0.0" });
  registerTransfer(server);
  registerSpending(server);
  registerReports(server);
  registerPreferences(server);
  registerAllowance(server);
  registerUsage(server);
  registerStatement(server);
  registerFiles(server);
  registerSearch(server);
  return server;
}
