// @ts-check
import { ProtocolError } from "mcparley";
import { listen } from "mcparley/node";
import { createServer, prompt, resource, tool, toolResult } from "mcparley/server";
import { serveStdio } from "mcparley/stdio";
import { z } from "zod";

/** A text that `slice` has cut in half an emoji. Each text of this server is one. */
const half = "cut \ud83d";
const described = { title: half, description: half };

const server = createServer({
  name: "texts",
  version: "1.0.0",
  title: half,
  instructions: half,
  tools: {
    echo: tool({
      ...described,
      input: z.object({ text: z.string().describe(half) }),
      call({ text }, ctx) {
        ctx.log.info({ [half]: half }, half);
        ctx.progress(1, 2, half);
        return `${half} ${text}`;
      },
    }),
    data: tool({
      output: z.record(z.string(), z.string()),
      call: () => toolResult({ content: [{ type: "text", text: half }], structuredContent: { [half]: half } }),
    }),
    refuse: tool({
      call() {
        throw new ProtocolError(-32001, half, { data: { why: half } });
      },
    }),
    ask: tool({
      async call(_input, ctx) {
        const { name } = await ctx.elicit({ message: half, schema: z.object({ name: z.string().describe(half) }) });
        return `${half} ${name}`;
      },
    }),
    sample: tool({
      async call(_input, ctx) {
        const messages = [
          { role: /** @type {const} */ ("user"), content: { type: /** @type {const} */ ("text"), text: half } },
        ];
        await ctx.sample({ systemPrompt: half, maxTokens: 10, messages });
        return half;
      },
    }),
  },
  prompts: {
    write: prompt({
      ...described,
      arguments: { topic: { description: half, complete: () => [half] } },
      get: ({ topic }) => `${half} ${topic}`,
    }),
  },
  resources: {
    note: resource("note://1", { ...described, read: () => half }),
    page: resource("page://{id}", { ...described, read: () => half }),
  },
});

if (process.argv[2] === "http") process.stdout.write(`${(await listen(server, { port: 0 })).url}\n`);
else await serveStdio(server);
