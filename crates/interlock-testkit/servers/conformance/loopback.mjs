// Loaded before a server that would listen at every address: it listens on loopback, and prints its URL.
import { Server } from "node:net";

const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
  const told = rest.filter((argument) => typeof argument === "function");
  this.once("listening", () => console.log(`http://127.0.0.1:${this.address().port}/mcp`));
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...told);
};
