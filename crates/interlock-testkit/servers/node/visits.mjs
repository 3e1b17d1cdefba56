// Race: a session's counter is read before the visit is logged and written after it.
import { randomUUID } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { data, fixed, say, serve, z } from "./kit.mjs";

await serve("visits", async () => {
  const sessions = new Map();
  const sessionOf = ({ sessionId = "local" }) => {
    if (!sessions.has(sessionId)) sessions.set(sessionId, { count: 0 });
    return sessions.get(sessionId);
  };

  return (server) => {
    server.registerTool(
      "record_visit",
      { description: "Counts a visit of a page.", inputSchema: { page: z.string().default("/") } },
      async ({ page }, extra) => {
        const session = sessionOf(extra);
        const receipt = randomUUID();
        if (fixed) {
          const count = ++session.count;
          await appendFile(data("visits.log"), `${receipt} ${page}\n`);
          return say({ count, receipt });
        }
        const seen = session.count;
        await appendFile(data("visits.log"), `${receipt} ${page}\n`);
        session.count = seen + 1;
        return say({ count: session.count, receipt });
      },
    );
    server.registerTool("count_visits", { description: "How many visits this session had." }, async (extra) =>
      say({ count: sessionOf(extra).count }),
    );
  };
});
