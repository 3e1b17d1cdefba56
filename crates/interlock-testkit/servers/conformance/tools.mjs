// Tools: every kind of content, what is said while a call runs, and changes of the lists. Those that ask back are in `asking.mjs`.
import { setTimeout as sleep } from "node:timers/promises";

import { asking } from "./asking.mjs";
import { embedded, image, text, WAV } from "./content.mjs";

export function tools(server, kit) {
  const { sdk, changed } = kit;
  const plain = (name, description, run) => server.registerTool(name, { description }, run);

  plain("test_simple_text", "Answers with words", () => text("Simple words."));
  plain("test_image_content", "Answers with a picture", () => ({ content: [image] }));
  plain("test_audio_content", "Answers with a sound", () => ({
    content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  }));
  plain("test_embedded_resource", "Answers with a resource", () => ({
    content: [embedded("test://embedded-resource", "text/plain", "Words of a resource.")],
  }));
  plain("test_multiple_content_types", "Answers with words, a picture and a resource", () => ({
    content: [
      ...text("Three kinds of content:").content,
      image,
      embedded("test://mixed-content-resource", "application/json", '{"three":true}'),
    ],
  }));
  plain("test_error_handling", "Always fails", () => {
    throw new Error("This tool fails on purpose");
  });

  const logging = async (ctx) => {
    for (const words of ["started", "halfway", "done"]) {
      await ctx.mcpReq.log("info", words);
      await sleep(50);
    }
    return text("Logged.");
  };
  plain("test_tool_with_logging", "Logs while it runs", logging);
  plain("test_logging_tool", "Logs while it runs, to those who asked for it", logging);

  plain("test_tool_with_progress", "Reports how far it is", async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 100 };
        await ctx.mcpReq.notify({ method: "notifications/progress", params });
      }
      await sleep(50);
    }
    return text("All the way.");
  });

  // The answer comes when the client has come back to the stream.
  plain("test_reconnection", "Closes the stream before it answers", async (ctx) => {
    ctx.http?.closeSSE?.();
    await sleep(100);
    return text("Here after all.");
  });

  plain("test_trigger_tool_change", "Says that the tools have changed", () => {
    changed().toolsChanged();
    return text("Told.");
  });
  plain("test_trigger_prompt_change", "Says that the prompts have changed", () => {
    changed().promptsChanged();
    return text("Told.");
  });

  const described = { description: "Has a schema with most of what a schema may have", inputSchema: sdk.fromJsonSchema(CONTACT) };
  server.registerTool("json_schema_2020_12_tool", described, (input) => text(JSON.stringify(input)));

  const mirrored = { description: "Wants two arguments in headers too", inputSchema: sdk.fromJsonSchema(MIRRORED) };
  server.registerTool("test_mirrored_arguments", mirrored, (input) => text(JSON.stringify(input)));

  asking(server, kit);
}

const MIRRORED = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    priority: { type: "integer", "x-mcp-header": "Priority" },
    query: { type: "string" },
  },
};

const CONTACT = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};
