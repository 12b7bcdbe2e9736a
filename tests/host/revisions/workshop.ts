import { type Server, createServer, prompt, resource, tool } from "mcparley/server";
import { asTask, tasks } from "mcparley/tasks";
import { z } from "zod";

const question = (text: string) => ({ role: "user" as const, content: { type: "text" as const, text } });

/** Returns a server that uses each part of the protocol that a host supports. */
export function workshop(): Server {
  let version = 1;
  let cancelled = 0;
  const server: Server = createServer({
    name: "workshop",
    version: "1.0.0",
    instructions: "Measure twice.",
    extensions: [tasks({ pollIntervalMs: 20 })],
    prompts: {
      greet: prompt({
        arguments: {
          language: {},
          name: {
            required: true,
            complete: (typed, { language = "none" }) =>
              ["Ada", "Alan", "Grace"].filter((name) => name.startsWith(typed)).map((name) => `${name} (${language})`),
          },
        },
        get: ({ name }) => `Greet ${name}.`,
      }),
    },
    resources: {
      plan: resource("plan://main", { mimeType: "text/plain", read: () => `plan ${version}` }),
      part: resource("part://{id}", { mimeType: "text/plain", read: ({ id }) => `part ${id}` }),
    },
    tools: {
      add: tool({
        description: "Adds two numbers.",
        input: z.object({ a: z.number(), b: z.number() }),
        output: z.object({ sum: z.number() }),
        call: ({ a, b }) => ({ sum: a + b }),
      }),
      change: tool({
        description: "Changes the plan.",
        call: () => {
          version++;
          server.resources.updated("plan://main");
          return `version ${version}`;
        },
      }),
      order: tool({
        description: "Orders boards.",
        call: async (_, ctx) => {
          const schema = z.object({ boards: z.number().int().min(1) });
          const { boards } = await ctx.elicit({ message: "How many boards?", schema });
          return `${boards} boards`;
        },
      }),
      pay: tool({
        description: "Pays the order.",
        call: async (_, ctx) => {
          await ctx.elicit({ message: "Pay the order.", url: "https://shop.example/pay" });
          return "visited";
        },
      }),
      summarize: tool({
        description: "Summarizes the plan with the model.",
        call: async (_, ctx) => {
          const messages = [question("Summarize the plan.")];
          const { content } = await ctx.sample({ messages, maxTokens: 50, includeContext: "thisServer" });
          return JSON.stringify(content);
        },
      }),
      advise: tool({
        description: "Lets the model use a tool of the server.",
        call: async (_, ctx) => {
          const stock = { name: "stock", description: "Counts boards.", inputSchema: { type: "object" as const } };
          const messages = [question("How many boards are left?")];
          const first = await ctx.sample({ messages, maxTokens: 50, tools: [stock] });
          const [use] = [first.content].flat().filter((block) => block.type === "tool_use");
          if (!use) return "no call";
          const result = {
            type: "tool_result" as const,
            toolUseId: use.id,
            content: [{ type: "text" as const, text: "7" }],
          };
          const { content } = await ctx.sample({
            messages: [...messages, { role: "assistant", content: use }, { role: "user", content: result }],
            maxTokens: 50,
            tools: [stock],
          });
          return `${use.name}: ${JSON.stringify(content)}`;
        },
      }),
      folders: tool({
        description: "Lists the folders of the user.",
        call: async (_, ctx) => (await ctx.roots()).map(({ uri }) => uri).join(" "),
      }),
      saw: tool({
        description: "Saws with progress.",
        call: (_, ctx) => {
          ctx.progress(1, 2, "half");
          ctx.progress(2, 2, "done");
          return "sawed";
        },
      }),
      glue: tool({
        description: "Glues as a task.",
        extensions: [asTask({ support: "required" })],
        call: () => "glued",
      }),
      knock: tool({
        description: "Writes a log message.",
        call: (_, ctx) => {
          ctx.log.warning("noise");
          return "knocked";
        },
      }),
      wait: tool({
        description: "Waits until it is cancelled.",
        call: (_, ctx) =>
          new Promise<string>((resolve) => {
            ctx.signal.addEventListener("abort", () => {
              cancelled++;
              resolve("cancelled");
            });
            ctx.progress(1);
          }),
      }),
      cancellations: tool({ description: "Counts cancelled calls.", call: () => String(cancelled) }),
    },
  });
  return server;
}
