// Tools that need something of the client before they can answer. Each is written once: it returns its questions, and is called again
// with the answers. In the handshake era the package asks them by requests of the server and calls again by itself.
import { text } from "./content.mjs";

export function asking(server, { sdk, z, states }) {
  const { acceptedContent, inputRequired, inputResponse } = sdk;

  // Whether all questions have an answer of any kind.
  const answered = (ctx, questions) =>
    Object.keys(questions).every((key) => inputResponse(ctx.mcpReq.inputResponses, key).kind !== "missing");
  const shown = (ctx) => text(JSON.stringify(ctx.mcpReq.inputResponses));
  const asks = (name, description, questions, state) =>
    server.registerTool(name, { description }, async (ctx) => {
      if (answered(ctx, questions) && (state === undefined || ctx.mcpReq.requestState() !== undefined)) {
        return state === undefined ? shown(ctx) : text(`${state}: ${JSON.stringify(ctx.mcpReq.inputResponses)}`);
      }
      const requestState = state === undefined ? undefined : await states.mint({ name });
      return inputRequired({ inputRequests: questions, ...(requestState && { requestState }) });
    });
  const form = (message, properties, required = Object.keys(properties)) =>
    inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required } });
  const sample = (words, maxTokens = 100) =>
    inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens });
  const string = { type: "string" };

  // Their questions come with the call.
  server.registerTool(
    "test_sampling",
    { description: "Lets the client's model answer", inputSchema: z.object({ prompt: z.string() }) },
    ({ prompt }, ctx) => {
      const questions = { reply: sample(prompt) };
      return answered(ctx, questions) ? shown(ctx) : inputRequired({ inputRequests: questions });
    },
  );
  server.registerTool(
    "test_elicitation",
    { description: "Asks the user who they are", inputSchema: z.object({ message: z.string() }) },
    ({ message }, ctx) => {
      const questions = { who: form(message, { username: string, email: string }) };
      return answered(ctx, questions) ? shown(ctx) : inputRequired({ inputRequests: questions });
    },
  );

  asks("test_elicitation_sep1034_defaults", "Asks with defaults", {
    person: form(
      "Who are you?",
      {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
      [],
    ),
  });
  const titled = [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Choice ${n}` }));
  const untitled = { type: "string", enum: ["option1", "option2", "option3"] };
  asks("test_elicitation_sep1330_enums", "Asks for choices of every form", {
    choices: form(
      "What will it be?",
      {
        untitledSingle: untitled,
        titledSingle: { type: "string", oneOf: titled },
        legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
        untitledMulti: { type: "array", items: untitled },
        titledMulti: { type: "array", items: { anyOf: titled } },
      },
      [],
    ),
  });
  asks("test_streaming_elicitation", "Asks on a stream", { user_name: form("Who are you?", { name: string }) });

  const named = z.object({ name: z.string() });
  server.registerTool("test_input_required_result_elicitation", { description: "Asks for a name" }, (ctx) => {
    const given = acceptedContent(ctx.mcpReq.inputResponses, "user_name", named);
    if (given !== undefined) return text(`Good day, ${given.name}.`);
    return inputRequired({ inputRequests: { user_name: form("Who are you?", { name: string }) } });
  });
  asks("test_input_required_result_sampling", "Asks a model", { capital_question: sample("Name a capital.") });
  asks("test_input_required_result_list_roots", "Asks for the roots", { client_roots: inputRequired.listRoots() });
  const confirm = { confirm: form("Is it all right?", { ok: { type: "boolean" } }) };
  asks("test_input_required_result_request_state", "Asks, and gets its state back", confirm, "state-ok");
  asks("test_input_required_result_tampered_state", "Asks, and looks hard at its state", confirm, "untouched");
  asks(
    "test_input_required_result_multiple_inputs",
    "Asks three things at once",
    {
      user_name: form("Who are you?", { name: string }),
      greeting: sample("Say something kind.", 50),
      client_roots: inputRequired.listRoots(),
    },
    "all",
  );

  server.registerTool("test_input_required_result_multi_round", { description: "Asks twice" }, async (ctx) => {
    const state = ctx.mcpReq.requestState();
    const { inputResponses } = ctx.mcpReq;
    const ask = async (step, inputRequests) =>
      inputRequired({ inputRequests, requestState: await states.mint({ ...state, step }) });
    if (state?.step === undefined) return ask(1, { step1: form("Who are you?", { name: string }) });
    if (state.step === 1) return ask(2, { step2: form("Which colour?", { color: string }) });
    return text(JSON.stringify(inputResponses));
  });

  server.registerTool("test_input_required_result_capabilities", { description: "Asks what it may" }, (ctx) => {
    const able = ctx.mcpReq.envelope?.[sdk.CLIENT_CAPABILITIES_META_KEY] ?? {};
    const inputRequests = {
      ...(able.sampling && { thought: sample("Think of something.") }),
      ...(able.elicitation && { user_name: form("Who are you?", { name: string }) }),
    };
    return Object.keys(inputRequests).length === 0 || answered(ctx, inputRequests)
      ? text("Nothing more to ask.")
      : inputRequired({ inputRequests });
  });

  // The package itself refuses to ask a client for what it has not declared.
  asks("test_missing_capability", "Cannot do without sampling", { thought: sample("Think of something.") });
}
