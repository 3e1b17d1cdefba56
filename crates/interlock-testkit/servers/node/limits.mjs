// Race: the limit is read, the invitation is sent, and only then is it counted.
import { appendFile } from "node:fs/promises";
import { data, fixed, refuse, say, serve, z } from "./kit.mjs";

const LIMIT = 1;

await serve("limits", async () => {
  const sent = new Map();
  const deliver = (sender, to) => appendFile(data("outbox.txt"), `${sender} -> ${to}\n`);

  return (server) => {
    server.registerTool(
      "send_invite",
      {
        description: `Invites somebody; ${LIMIT} an hour for each sender.`,
        inputSchema: { sender: z.enum(["ada", "grace"]), to: z.string().min(1) },
      },
      async ({ sender, to }) => {
        const used = sent.get(sender) ?? 0;
        // The wait is never the same twice, as in life.
        if (used >= LIMIT) return refuse(`limit reached, try again in ${(3600 - Math.random()).toFixed(3)} s`);
        if (fixed) sent.set(sender, used + 1);
        await deliver(sender, to);
        if (!fixed) sent.set(sender, used + 1);
        return say({ sent: true, to });
      },
    );
    server.registerTool("invites_sent", { description: "How many invitations each sender has sent." }, async () =>
      say(Object.fromEntries(sent)),
    );
  };
});
