import { ToolError } from "mcparley";
import { type Server, createServer, image, link, prompt, resource, tool, toolResult } from "mcparley/server";

/** Text that clears the screen, sets the title and colours the rest if a terminal interprets it. */
export const hostile = "\u001b[2J\u001b]0;owned\u0007\u001b[31mred";

const string = { type: "string" } as const;

const tools = {
  add: tool({
    description: "Adds two numbers.",
    input: {
      type: "object",
      properties: {
        a: { type: "integer", description: "The first" },
        b: { type: "integer", description: "The second", default: 1 },
      },
      required: ["a"],
    },
    output: { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] },
    call: ({ a, b = 1 }: { a?: number; b?: number }) => ({ sum: (a ?? 0) + b }),
  }),
  both: tool({
    input: {
      type: "object",
      properties: {
        colour: { enum: ["ultramarine", "vermilion", "chartreuse", "periwinkle", "aquamarine", "burgundy"] },
      },
    },
    output: { type: "object" },
    call: () => toolResult({ content: [{ type: "text", text: "Three." }], structuredContent: { count: 3 } }),
  }),
  fail: tool({
    call: () => {
      throw new ToolError("The disk is full.");
    },
  }),
  hostile: tool({ description: `Sends ${hostile}`, annotations: { readOnlyHint: true }, call: () => hostile }),
  draw: tool({
    call: () => ["Here it is.", image(new Uint8Array([1, 2, 3]), "image/png"), link("note://a", { name: "A" })],
  }),
  work: tool({
    call: async (_input, ctx) => {
      ctx.log.warning("warming up");
      ctx.log.debug("not wanted");
      ctx.progress(1, 2, "half done");
      if (ctx.signal.aborted) return "never";
      ctx.progress(2, 2);
      return "done";
    },
  }),
  wait: tool({
    call: (_input, ctx) =>
      new Promise<string>((_resolve, reject) => {
        ctx.progress(1, 10, "waiting");
        ctx.signal.addEventListener("abort", () => {
          cancelledTools.push("wait");
          reject(new Error("cancelled"));
        });
      }),
  }),
  destroy: tool({ annotations: { destructiveHint: true }, call: () => "destroyed" }),
  book: tool({
    call: async (_input, ctx) => {
      const schema = {
        type: "object",
        properties: {
          seats: { type: "integer", title: "Seats", minimum: 1, maximum: 4, default: 2 },
          meal: {
            ...string,
            title: "Meal",
            oneOf: [
              { const: "v", title: "Vegan" },
              { const: "n", title: "None" },
            ],
          },
          email: { ...string, format: "email", description: "For the ticket" },
        },
        required: ["meal"],
      };
      return JSON.stringify(await ctx.elicit({ message: `Which ${hostile} seats?`, schema }));
    },
  }),
  visit: tool({
    call: async (_input, ctx) => {
      await ctx.elicit({ message: "Sign in, please.", url: "https://sign.example/in?a=1&b=2" });
      return "went there";
    },
  }),
  think: tool({
    call: async (_input, ctx) => {
      const { content } = await ctx.sample({
        messages: [{ role: "user", content: { type: "text", text: "hi" } }],
        maxTokens: 5,
      });
      return JSON.stringify(content);
    },
  }),
};

/** The names of the tools that noticed the cancellation of their call. */
export const cancelledTools: string[] = [];

/** A server with an example of everything that the client commands handle. */
export function exampleServer(): Server {
  return createServer({
    name: "example",
    title: "Example",
    version: "1.0.0",
    instructions: "Use it with care.",
    onError: () => {},
    tools,
    prompts: {
      review: prompt({
        description: "Review code.",
        arguments: {
          code: { required: true, description: "The code" },
          language: { complete: ["python", "perl", "ruby"] },
        },
        get: ({ code, language = "" }) => `Review this ${language} code: ${code}`,
      }),
      talk: prompt({
        get: () => [
          { role: "user", content: { type: "text", text: "Hi" } },
          { role: "assistant", content: { type: "text", text: "Ho" } },
        ],
      }),
    },
    resources: {
      a: resource("note://a", { mimeType: "text/plain", size: 5, read: () => "text\n" }),
      raw: resource("note://raw", {
        title: "Three bytes that are no text, and a title that is far too long for one line",
        mimeType: "application/octet-stream",
        read: () => new Uint8Array([0, 255, 27]),
      }),
      note: resource("note://{id}", { complete: { id: ["a", "b"] }, read: ({ id }) => `note ${id}` }),
    },
  });
}
