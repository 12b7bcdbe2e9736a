import { ToolError, createServer, prompt, resource, tool } from "mcparley/server";

let cancelled = 0;
const names = ["Ada", "Alan", "Grace"];
const number = { type: "number" };

/** The server of the conversations. Loads on every runtime. */
export const server = createServer({
  name: "interop",
  version: "1.0.0",
  tools: {
    add: tool({
      description: "Adds two numbers.",
      input: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
      output: { type: "object", properties: { sum: number }, required: ["sum"] },
      call: ({ a, b }) => ({ sum: a + b }),
    }),
    fail: tool({
      description: "Fails.",
      call: () => {
        throw new ToolError("It failed on purpose.");
      },
    }),
    slow: tool({
      description: "Reports its progress.",
      call: async (_, { progress }) => {
        for (const step of [1, 2, 3]) {
          progress(step, 3, `step ${step}`);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return "done";
      },
    }),
    wait: tool({
      description: "Waits until it is cancelled.",
      call: (_, { signal, progress }) =>
        new Promise((_, reject) => {
          progress(1);
          signal.addEventListener("abort", () => {
            cancelled++;
            reject(signal.reason);
          });
        }),
    }),
    cancelled: tool({ description: "How many waits were cancelled.", call: () => String(cancelled) }),
    ask: tool({
      description: "Asks for a colour.",
      call: async (_, { elicit }) => {
        const schema = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
        const { colour } = await elicit({ message: "Which colour?", schema });
        return `You said: ${String(colour)}`;
      },
    }),
    sample: tool({
      description: "Asks the model.",
      call: async (_, { sample }) => {
        const messages = [{ role: "user", content: { type: "text", text: "What is six times seven?" } }];
        const { content } = await sample({ messages, maxTokens: 10 });
        return `The model said: ${[content].flat()[0].text}`;
      },
    }),
    change: tool({
      description: "Changes memo://a.",
      call: () => {
        server.resources.updated("memo://a");
        return "changed";
      },
    }),
  },
  prompts: {
    greet: prompt({
      description: "Greets somebody.",
      arguments: { name: { required: true, complete: (typed) => names.filter((name) => name.startsWith(typed)) } },
      get: ({ name }) => `Hello ${name}!`,
    }),
  },
  resources: {
    a: resource("memo://a", { mimeType: "text/plain", read: () => "memo a" }),
    memo: resource("memo://{id}", { mimeType: "text/plain", read: ({ id }) => `memo ${id}` }),
  },
});
