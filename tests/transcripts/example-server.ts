import {
  type Server,
  assistant,
  audio,
  createServer,
  embed,
  image,
  link,
  prompt,
  resource,
  tool,
  user,
} from "mcparley/server";

const bytes = new Uint8Array([1, 2, 3]);
const pixel = { src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] };

/** The server that every transcript is held with: one of everything, and nothing that differs from run to run. */
export function exampleServer(): Server {
  const server: Server = createServer({
    name: "transcripts",
    version: "1.0.0",
    title: "Transcripts",
    instructions: "Say what is written.",
    icons: [pixel],
    onError: () => {},
    tools: {
      add: tool({
        title: "Add",
        description: "Adds two numbers.",
        input: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
          additionalProperties: false,
        },
        output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
        annotations: { readOnlyHint: true },
        icons: [pixel],
        call: ({ a, b }) => ({ sum: a + b }),
      }),
      everything: tool({
        description: "Gives content of every kind.",
        call: () => [
          "text",
          image(bytes, "image/png"),
          audio(bytes, "audio/wav"),
          link("doc://guide", { name: "guide", title: "Guide", annotations: { lastModified: "2025-01-01T00:00:00Z" } }),
          embed("doc://guide", "The guide.", { mimeType: "text/plain" }),
        ],
      }),
      report: tool({
        description: "Reports progress and logs.",
        call: (_, ctx) => {
          ctx.log.debug("not shown unless asked for");
          ctx.progress(1, 2, "half");
          ctx.log.warning({ careful: true }, "example");
          ctx.progress(2, 2, "done");
          return "reported";
        },
      }),
      wait: tool({
        description: "Waits until it is cancelled.",
        call: (_, { signal }) =>
          new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("late"))),
      }),
      ask: tool({
        description: "Asks for a name.",
        call: async (_, { elicit }) => {
          const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
          const { name } = await elicit({ message: "Who are you?", schema });
          return `Hello ${String(name)}`;
        },
      }),
      choose: tool({
        description: "Asks for choices with titles.",
        call: async (_, { elicit }) => {
          const schema = {
            type: "object",
            properties: {
              color: {
                type: "string",
                oneOf: [
                  { const: "r", title: "Red" },
                  { const: "g", title: "Green" },
                ],
              },
              sizes: { type: "array", items: { type: "string", enum: ["s", "m", "l"] } },
            },
            required: ["color"],
          };
          return JSON.stringify(await elicit({ message: "Which?", schema }));
        },
      }),
      visit: tool({
        description: "Sends the user to a page.",
        call: async (_, { elicit }) => {
          await elicit({ message: "Please sign in.", url: "https://example.com/sign-in" });
          return "visited";
        },
      }),
      consult: tool({
        description: "Asks the model and for the roots.",
        call: async (_, ctx) => {
          const question = { role: "user" as const, content: { type: "text" as const, text: "Hi?" } };
          const [{ model }, roots] = await Promise.all([
            ctx.sample({ messages: [question], maxTokens: 10 }),
            ctx.roots(),
          ]);
          return `${model} ${roots.map(({ uri }) => uri).join(" ")}`;
        },
      }),
      fail: tool({
        description: "Fails in a way that nobody may see.",
        call: () => {
          throw new Error("postgres://user:secret@host");
        },
      }),
      grow: tool({
        description: "Adds a tool and changes a resource.",
        call: () => {
          server.tools.set("grown", tool({ description: "New.", call: () => "new" }));
          server.resources.updated("doc://guide");
          return "grown";
        },
      }),
    },
    prompts: {
      review: prompt({
        title: "Review",
        description: "Reviews code.",
        arguments: {
          code: { description: "The code", required: true },
          language: { title: "Language", complete: ["python", "perl", "rust"] },
        },
        get: ({ code, language }) => [
          user(`Review this ${language ?? "code"}: ${code}`),
          user(audio(bytes, "audio/wav")),
          assistant("Gladly."),
        ],
      }),
    },
    resources: {
      guide: resource("doc://guide", {
        title: "Guide",
        mimeType: "text/plain",
        size: 10,
        annotations: { audience: ["user"], priority: 1, lastModified: "2025-01-01T00:00:00Z" },
        read: () => "The guide.",
      }),
      picture: resource("doc://picture", { mimeType: "image/png", icons: [pixel], read: () => bytes }),
      page: resource("doc://pages/{number}{?lang}", {
        title: "Page",
        complete: { number: ["1", "2", "12"] },
        read: ({ number, lang }) => `Page ${number} in ${lang ?? "English"}`,
      }),
    },
  });
  return server;
}
