import { listen } from "mcparley/node";
import { createServer, tool } from "mcparley/server";
import { z } from "zod";

const server = createServer({
  name: "features",
  version: "1.0.0",
  tools: {
    echo: tool({ input: z.object({ text: z.string() }), call: ({ text }) => text }),
    fail: tool({
      call: () => {
        throw new Error("postgres://user:secret@host");
      },
    }),
    wrong: tool({ output: z.object({ sum: z.number() }), call: () => ({ sum: "three" }) }),
    ask: tool({
      call: async (_input, ctx) => {
        const { name } = await ctx.elicit({ message: "Who are you?", schema: z.object({ name: z.string() }) });
        return `Hello ${name}`;
      },
    }),
  },
});
const { url } = await listen(server, { port: 0 });
process.stdout.write(`${url}\n`);
