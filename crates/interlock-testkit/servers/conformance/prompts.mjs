// Prompts: plain, with arguments that can be completed, with a resource, with a picture, and one that asks first.
import { embedded, image } from "./content.mjs";

const user = (content) => ({ role: "user", content });
const said = (text) => user({ type: "text", text });

const CITIES = ["paris", "parma", "perth", "porto"];

export function prompts(server, { sdk, z }) {
  const { acceptedContent, completable, inputRequired } = sdk;
  server.registerPrompt("test_simple_prompt", { description: "Plain words" }, () => ({
    messages: [said("A prompt of plain words.")],
  }));

  const completed = completable(z.string(), (begun) => CITIES.filter((city) => city.startsWith(begun)));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "Repeats its arguments", argsSchema: z.object({ arg1: completed, arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [said(`The arguments are ${arg1} and ${arg2}.`)] }),
  );

  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "Holds a resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [user(embedded(resourceUri, "text/plain", "Words of a resource.")), said("Read the resource.")],
    }),
  );

  server.registerPrompt("test_prompt_with_image", { description: "Holds a picture" }, () => ({
    messages: [user(image), said("Look at the picture.")],
  }));

  const context = z.object({ context: z.string() });
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks first" }, (ctx) => {
    const given = acceptedContent(ctx.mcpReq.inputResponses, "user_context", context);
    if (given !== undefined) return { messages: [said(`In the context of ${given.context}.`)] };
    const user_context = inputRequired.elicit({ message: "In which context?", requestedSchema: context });
    return inputRequired({ inputRequests: { user_context } });
  });
}
