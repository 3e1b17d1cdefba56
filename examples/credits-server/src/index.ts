import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { listen } from "./http.js";
import { build } from "./server.js";
import { connect } from "./stores.js";

await connect();
if (process.argv.includes("--http")) {
  listen(Number(process.env.PORT ?? 3000));
} else {
  await build().connect(new StdioServerTransport());
}
