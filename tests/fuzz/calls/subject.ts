import type { Clock } from "../../../packages/mcparley/src/rpc/clock.ts";
import { ToolError } from "../../../packages/mcparley/src/mcp/errors.ts";
import type { Context } from "../../../packages/mcparley/src/server/core/context.ts";
import { prompt, resource, tool } from "../../../packages/mcparley/src/server/definition.ts";
import { type Server, createServer } from "../../../packages/mcparley/src/server/create-server.ts";
import type { Gates } from "./gates.ts";

export const toolNames = ["now", "deaf", "heeding", "asking", "failing"] as const;

/** How many handlers run at the moment. */
export interface Running {
  handlers: number;
}

/** A server whose handlers return at once, wait, elicit, fail, and observe or ignore cancellation. */
export function subject({ clock, gates, running }: { clock: Clock; gates: Gates; running: Running }): Server {
  const counted =
    (handler: (ctx: Context) => Promise<string>) =>
    async (_: unknown, ctx: Context): Promise<string> => {
      running.handlers++;
      try {
        return await handler(ctx);
      } finally {
        running.handlers--;
      }
    };
  const schema = { type: "object", properties: { ok: { type: "boolean" } } };
  return createServer({
    name: "subject",
    version: "1.0.0",
    clock,
    onError: () => {},
    tools: {
      now: tool({ call: () => "done" }),
      deaf: tool({ call: counted(async (ctx) => (await gates.pass(ctx), "done")) }),
      heeding: tool({ call: counted(async (ctx) => (await gates.pass(ctx, ctx.signal), "done")) }),
      asking: tool({
        call: counted(async (ctx) => {
          ctx.progress(1);
          const { ok } = await ctx.elicit({ message: "Sure?", schema });
          return `ok: ${String(ok)}`;
        }),
      }),
      failing: tool({
        call: counted(async () => {
          throw new ToolError("It failed.");
        }),
      }),
    },
    prompts: {
      hello: prompt({ get: counted(async (ctx) => (await gates.pass(ctx, ctx.signal), "hello")) }),
    },
    resources: { note: resource("note://a", { read: () => "text" }) },
  }) as Server;
}
