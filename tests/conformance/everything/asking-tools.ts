import { type Context, Declined, type InputRequired, type Tool, inputRequired, tool } from "mcparley/server";

const nameForm = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const okForm = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } as const;

/** A question to the model, in the words of `sampling/createMessage`. */
function prompt(words: string, maxTokens = 100): Parameters<Context["sample"]>[0] {
  return { messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens };
}

async function fillIn(
  ctx: Context,
  message: string,
  properties: object,
  required: readonly string[] = [],
): Promise<string> {
  try {
    const content = await ctx.elicit({ message, schema: { type: "object", properties, required } });
    return `The user answered ${JSON.stringify(content)}.`;
  } catch (error) {
    if (error instanceof Declined) return "The user declined.";
    throw error;
  }
}

const accountFields = {
  username: { type: "string", description: "The name of the account" },
  email: { type: "string", description: "Where to write to", format: "email" },
};

const fieldsWithDefaults = {
  name: { type: "string", description: "Your name", default: "John Doe" },
  age: { type: "integer", description: "Your age", default: 30 },
  score: { type: "number", description: "Your score", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", description: "Whether it was checked", default: true },
};

const options = ["option1", "option2", "option3"];
const titled = ["First", "Second", "Third"].map((title, index) => ({ const: `value${index + 1}`, title }));

const choices = {
  untitledSingle: { type: "string", enum: options },
  titledSingle: { type: "string", oneOf: titled },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: options } },
  titledMulti: { type: "array", items: { anyOf: titled } },
};

/** Tools that ask the client: by a request on legacy revisions, by their result on modern ones. */
export const askingTools: Record<string, Tool> = {
  test_sampling: tool({
    description: "Passes a prompt on to the client's model.",
    input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    call: async ({ prompt: words }, ctx) => {
      const { content } = await ctx.sample(prompt(words));
      return `The model answered ${JSON.stringify(content)}.`;
    },
  }),
  test_elicitation: tool({
    description: "Asks the user for an account.",
    input: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
    call: ({ message }, ctx) => fillIn(ctx, message, accountFields, ["username", "email"]),
  }),
  test_elicitation_sep1034_defaults: tool({
    description: "Asks the user with a default for each type of field.",
    call: (_, ctx) => fillIn(ctx, "Check these values.", fieldsWithDefaults),
  }),
  test_elicitation_sep1330_enums: tool({
    description: "Asks the user for each kind of choice.",
    call: (_, ctx) => fillIn(ctx, "Choose.", choices),
  }),
  test_missing_capability: tool({
    description: "Needs a client with a model.",
    call: async (_, ctx) => JSON.stringify((await ctx.sample(prompt("Say hello."))).content),
  }),
  test_streaming_elicitation: tool({
    description: "Reports progress, then asks the user.",
    call: async (_, ctx) => {
      ctx.progress(1, 2);
      return fillIn(ctx, "Go on?", okForm.properties);
    },
  }),
  test_input_required_result_elicitation: tool({
    description: "Asks for a name in the wire's own form.",
    call: (_, ctx) => {
      const name = nameIn(ctx.inputResponses.user_name);
      return name === undefined ? askForName() : `Hello, ${name}!`;
    },
  }),
  test_input_required_result_sampling: tool({
    description: "Asks the client's model for a capital.",
    call: async (_, ctx) => {
      const { content } = await ctx.sample({ ...prompt("What is the capital of France?"), key: "capital_question" });
      return JSON.stringify(content);
    },
  }),
  test_input_required_result_list_roots: tool({
    description: "Names the client's roots.",
    call: async (_, ctx) => (await ctx.roots()).map(({ uri }) => uri).join(", "),
  }),
  test_input_required_result_request_state: tool({
    description: "Asks for a confirmation and keeps a state of its own.",
    call: (_, ctx) => {
      if (ctx.requestState === undefined) return confirmation("waiting for ok");
      return ctx.requestState === "waiting for ok" ? "state-ok" : "An unknown state.";
    },
  }),
  test_input_required_result_multiple_inputs: tool({
    description: "Asks the user, the model and the client at once.",
    call: async (_, ctx) => {
      const [answer, greeting, roots] = await Promise.all([
        ctx.elicit({ key: "user_name", message: "What is your name?", schema: nameForm }),
        ctx.sample({ ...prompt("Generate a greeting", 50), key: "greeting" }),
        ctx.roots(),
      ]);
      return JSON.stringify([answer, greeting.content, roots]);
    },
  }),
  test_input_required_result_multi_round: tool({
    description: "Asks for a name, then for a color.",
    call: async (_, ctx) => {
      const colorForm = { type: "object", properties: { color: { type: "string" } }, required: ["color"] };
      const { name } = await ctx.elicit({ key: "step1", message: "What is your name?", schema: nameForm });
      const { color } = await ctx.elicit({ key: "step2", message: "Which color do you like?", schema: colorForm });
      return `${name} likes ${String(color)}.`;
    },
  }),
  test_input_required_result_tampered_state: tool({
    description: "Asks for a confirmation; its state must come back as it was.",
    call: async (_, ctx) => {
      const { ok } = await ctx.elicit({ key: "confirm", message: "Please confirm.", schema: okForm });
      return ok ? "Confirmed." : "Not confirmed.";
    },
  }),
  test_input_required_result_capabilities: tool({
    description: "Asks whatever the client can be asked.",
    call: async (_, ctx) => {
      const { elicitation, sampling } = ctx.peer.capabilities;
      const asked = [
        ...(elicitation ? [ctx.elicit({ message: "What is your name?", schema: nameForm })] : []),
        ...(sampling ? [ctx.sample(prompt("Generate a greeting", 50))] : []),
      ];
      return JSON.stringify(await Promise.all(asked));
    },
  }),
};

function askForName(): InputRequired {
  const params = { mode: "form", message: "What is your name?", requestedSchema: nameForm };
  return inputRequired({ inputRequests: { user_name: { method: "elicitation/create", params } } });
}

function confirmation(requestState: string): InputRequired {
  const params = { mode: "form", message: "Please confirm.", requestedSchema: okForm };
  return inputRequired({ inputRequests: { confirm: { method: "elicitation/create", params } }, requestState });
}

/** Returns the name in a received answer, if it contains one. */
function nameIn(answer: unknown): string | undefined {
  const { action, content } = Object(answer) as { action?: unknown; content?: unknown };
  const { name } = Object(content) as { name?: unknown };
  return action === "accept" && typeof name === "string" ? name : undefined;
}
