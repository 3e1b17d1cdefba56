// Race: the stock is checked, the sale is logged, and only then is the stock lowered, from what was seen before.
import { appendFile } from "node:fs/promises";
import { data, fixed, refuse, say, serve, z } from "./kit.mjs";

await serve("shop", async () => {
  const stock = new Map([["matinee", 2], ["premiere", 1]]);
  const show = z.enum([...stock.keys()]);
  const log = (line) => appendFile(data("sales.log"), `${line}\n`);

  return (server) => {
    server.registerTool(
      "buy_ticket",
      { description: "Sells one ticket.", inputSchema: { show, buyer: z.string().min(1) } },
      async ({ show, buyer }) => {
        const left = stock.get(show);
        if (left < 1) return refuse(`${show} is sold out`);
        if (fixed) stock.set(show, left - 1);
        await log(`${buyer}: ${show}`);
        if (!fixed) stock.set(show, left - 1);
        return say({ show, buyer, soldAt: new Date().toISOString() });
      },
    );
    server.registerTool("tickets_left", { description: "How many tickets are left." }, async () =>
      say(Object.fromEntries(stock)),
    );
  };
});
