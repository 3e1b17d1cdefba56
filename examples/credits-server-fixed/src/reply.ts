import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";

export function reply(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

export function refuse(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
