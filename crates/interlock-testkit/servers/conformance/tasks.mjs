// Tasks, an extension of 2026-07-28 that the packages do not have: tools that answer with a task to clients that know what that is, and the
// methods by which a task is asked, answered and given up.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { text } from "./content.mjs";

export const EXTENSION = "io.modelcontextprotocol/tasks";

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const TTL = 10 * 60 * 1000;
const ENDED = ["completed", "failed", "cancelled"];

// All tasks of this process; a server of tests does not live long enough to forget them.
const tasks = new Map();

const knows = (meta) => meta?.[CAPABILITIES]?.extensions?.[EXTENSION] !== undefined;

class Task {
  constructor(run) {
    const now = new Date().toISOString();
    const taskId = randomUUID();
    this.told = { taskId, status: "working", createdAt: now, lastUpdatedAt: now, ttlMs: TTL, pollIntervalMs: 200 };
    this.given = new AbortController();
    tasks.set(taskId, this);
    // Not before the client has been told of the task, so that it begins as one that is worked on.
    const begun = sleep(1).then(() => run(this));
    begun.then(
      (result) => this.become("completed", { result }),
      (error) => this.become("failed", { error: { code: -32603, message: error.message } }),
    );
  }

  become(status, more = {}) {
    if (ENDED.includes(this.told.status)) return;
    const { inputRequests: _, ...kept } = this.told;
    this.told = { ...kept, status, lastUpdatedAt: new Date().toISOString(), ...more };
  }

  // Waits until the client has answered every question.
  ask(inputRequests) {
    this.become("input_required", { inputRequests });
    this.answers = {};
    return new Promise((answered) => (this.answered = answered));
  }

  answer(inputResponses) {
    const open = { ...this.told.inputRequests };
    for (const key of Object.keys(inputResponses ?? {})) {
      if (open[key] === undefined) continue;
      this.answers[key] = inputResponses[key];
      delete open[key];
    }
    if (this.told.status !== "input_required") return;
    if (Object.keys(open).length > 0) return this.become("input_required", { inputRequests: open });
    this.become("working");
    this.answered(this.answers);
  }

  cancel() {
    this.become("cancelled");
    this.given.abort();
  }
}

const METHODS = {
  "tasks/get": (task) => task.told,
  "tasks/update": (task, { inputResponses }) => void task.answer(inputResponses),
  "tasks/cancel": (task) => void task.cancel(),
};

// What cannot be had without a task.
const REQUIRED = ["failing_job", "test_tool_with_task"];

// What a request about tasks is answered with, and the HTTP status; nothing for requests that the packages answer. Over stdio there are no
// headers, and whoever stands before it has looked at them.
export function taskAnswer(headers, body) {
  const { method, params, id } = body ?? {};
  const act = METHODS[method];
  const requires = method === "tools/call" && REQUIRED.includes(params?.name);
  const fail = (status, code, message, data) => [status, { jsonrpc: "2.0", id, error: { code, message, data } }];
  if (headers !== undefined && act !== undefined && (headers["mcp-method"] !== method || headers["mcp-name"] !== params?.taskId)) {
    return fail(400, -32020, "The headers do not say what the body says");
  }
  if ((act !== undefined || requires) && !knows(params._meta)) {
    const requiredCapabilities = { extensions: { [EXTENSION]: {} } };
    return fail(400, -32021, "The client has not declared the extension", { requiredCapabilities });
  }
  if (act === undefined) return undefined;
  const task = tasks.get(params.taskId);
  if (task === undefined) return fail(200, -32602, "There is no such task");
  return [200, { jsonrpc: "2.0", id, result: { resultType: "complete", ...act(task, params) } }];
}

export function tasked(server, { sdk, z }) {
  const { acceptedContent, inputRequired } = sdk;
  const name = { type: "string" };
  const form = (message, properties) =>
    inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required: Object.keys(properties) } });
  const begin = (run) => ({ resultType: "task", ...new Task(run).told });
  const clientKnows = (ctx) => knows(ctx.mcpReq.envelope);
  const tool = (title, description, shape, run) =>
    server.registerTool(title, { description, inputSchema: z.object(shape) }, run);

  tool("greet", "Greets at once", { name: z.string() }, (input) => text(`Hello, ${input.name}!`));
  tool("slow_compute", "Takes as long as it is told to", { seconds: z.number(), label: z.string().optional() }, (input, ctx) => {
    const run = async (task) => {
      await sleep(input.seconds * 1000, undefined, { signal: task?.given.signal });
      return text(`Computed ${input.label ?? "it"}.`);
    };
    return clientKnows(ctx) ? begin(run) : run();
  });
  tool("failing_job", "Fails as a tool does", {}, () =>
    begin(async () => (await sleep(1000), { ...text("It did not work."), isError: true })),
  );
  tool("protocol_error_job", "Fails as a server does", {}, (_, ctx) => {
    const run = async () => {
      await sleep(100);
      throw new Error("The server broke");
    };
    return clientKnows(ctx) ? begin(run) : run();
  });
  tool("confirm_delete", "Asks before it deletes", { filename: z.string().optional() }, (input, ctx) => {
    if (!clientKnows(ctx)) return text("Not deleted: nobody can be asked.");
    const question = form(`Delete ${input.filename}?`, { confirm: { type: "boolean" } });
    return begin(async (task) => text(JSON.stringify(await task.ask({ [randomUUID()]: question }))));
  });
  tool("multi_input", "Asks two things at once", {}, (_, ctx) => {
    if (!clientKnows(ctx)) return text("Nobody can be asked.");
    const questions = { [randomUUID()]: form("Who?", { name }), [randomUUID()]: form("Where?", { place: name }) };
    return begin(async (task) => text(JSON.stringify(await task.ask(questions))));
  });
  tool("test_tool_with_task", "Asks first, then takes its time", {}, (_, ctx) => {
    const given = acceptedContent(ctx.mcpReq.inputResponses, "user_name", z.object({ name: z.string() }));
    if (given === undefined) return inputRequired({ inputRequests: { user_name: form("Who are you?", { name }) } });
    return begin(async () => (await sleep(100), text(`Done for ${given.name}.`)));
  });
}
