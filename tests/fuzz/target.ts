import type { Clock } from "../../packages/mcparley/src/rpc/clock.ts";
import { prompt, resource, tool } from "../../packages/mcparley/src/server/definition.ts";
import { type Server, createServer } from "../../packages/mcparley/src/server/create-server.ts";

/** A server with one definition of each kind and correct handlers, so that each failure is a defect of the library. */
export function target({ clock, onError }: { clock: Clock; onError: (error: unknown) => void }): Server {
  return createServer({
    name: "target",
    version: "1.0.0",
    clock,
    onError,
    tools: {
      echo: tool({
        input: {
          type: "object",
          properties: { text: { type: "string" }, region: { type: "string", "x-mcp-header": "Region" } },
        },
        call: (args) => JSON.stringify(args),
      }),
      ask: tool({
        call: async (_, ctx) => {
          const schema = { type: "object", properties: { ok: { type: "boolean" } } };
          const { ok } = await ctx.elicit({ message: "Sure?", schema });
          return `ok: ${String(ok)}`;
        },
      }),
      sum: tool({
        input: { type: "object", properties: { of: { type: "array", items: { type: "number" } } }, required: ["of"] },
        output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
        call: ({ of }) => ({ sum: of.reduce((sum, each) => sum + each, 0) }),
      }),
    },
    prompts: {
      hello: prompt({ arguments: { name: { complete: ["Ada", "Alan"] } }, get: ({ name }) => `Hello ${name}` }),
    },
    resources: {
      note: resource("note://{id}", {
        list: () => [{ uri: "note://a", name: "a" }],
        complete: { id: ["a", "b"] },
        read: ({ id }) => `the note ${id}`,
      }),
      fixed: resource("file:///fixed", { read: () => "fixed" }),
    },
  }) as Server;
}
