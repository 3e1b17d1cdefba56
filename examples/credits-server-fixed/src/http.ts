import { randomUUID } from "node:crypto";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import express from "express";
import { rateLimit } from "express-rate-limit";
import { verifier } from "./caller.js";
import { build } from "./server.js";
import { closeSession, openSession } from "./usage.js";

const sessions = new Map<string, { transport: StreamableHTTPServerTransport; owner: string }>();

export function listen(port: number) {
  const app = express();
  const perCaller = rateLimit({ windowMs: 60_000, limit: 300, keyGenerator: (req) => req.auth?.clientId ?? "" });
  app.use(express.json());
  app.all("/mcp", requireBearerAuth({ verifier }), perCaller, async (req, res) => {
    const owner = req.auth?.clientId ?? "";
    const id = req.get("mcp-session-id");
    const session = id === undefined ? undefined : sessions.get(id);
    if (session?.owner === owner) {
      await session.transport.handleRequest(req, res, req.body);
      return;
    }
    if (id !== undefined || !isInitializeRequest(req.body)) {
      res.status(404).json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "no such session" } });
      return;
    }
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (created) => {
        sessions.set(created, { transport, owner });
        openSession(created);
      },
    });
    transport.onclose = () => {
      if (transport.sessionId === undefined) return;
      sessions.delete(transport.sessionId);
      closeSession(transport.sessionId);
    };
    await build().connect(transport);
    await transport.handleRequest(req, res, req.body);
  });
  return app.listen(port);
}
