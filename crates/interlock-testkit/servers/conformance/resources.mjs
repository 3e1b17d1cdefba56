// Resources: a text, a picture, one that can be watched, and a template.
import { PNG } from "./content.mjs";

export function resources(server, { sdk }) {
  const one = (name, uri, mimeType, body) =>
    server.registerResource(name, uri, { description: `The resource ${name}`, mimeType }, () => ({
      contents: [{ uri, mimeType, ...body }],
    }));
  one("static-text", "test://static-text", "text/plain", { text: "These words never change." });
  one("static-binary", "test://static-binary", "image/png", { blob: PNG });
  one("watched-resource", "test://watched-resource", "text/plain", { text: "These words may be watched." });

  server.registerResource(
    "template",
    new sdk.ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "Data by id", mimeType: "application/json" },
    (uri, { id }) => ({
      contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify({ id, data: `of ${id}` }) }],
    }),
  );
}
