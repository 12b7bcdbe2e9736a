import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Context } from "./dispatch/context.ts";
import { type Prompt, type Resource, type Tool, prompt, resource, tool, withContext } from "./definition.ts";

test("the context has its type also where the definition goes into a record of any definitions", () => {
  const tools: Record<string, Tool> = {
    a: tool({ call: (_, ctx) => expectTypeOf(ctx).toEqualTypeOf<Context & object>() as never }),
  };
  const prompts: Record<string, Prompt> = {
    a: prompt({ get: (_, ctx) => expectTypeOf(ctx).toEqualTypeOf<Context & object>() as never }),
  };
  const resources: Record<string, Resource> = {
    a: resource("a://b", { read: (_, ctx) => expectTypeOf(ctx.uri).toEqualTypeOf<string>() as never }),
  };
  expectTypeOf({ tools, prompts, resources }).not.toBeAny();
});

test("withContext adds to it", () => {
  const own = withContext<{ db: number }>();
  const tools: Record<string, Tool> = {
    a: own.tool({ call: (_, ctx) => expectTypeOf(ctx).toEqualTypeOf<Context & { db: number }>() as never }),
  };
  expectTypeOf(tools).not.toBeAny();
});

test("refuses an object of schemas in place of a schema", () => {
  const call = (): never => undefined as never;
  // @ts-expect-error Make this object one schema, as z.object({ ... }) does.
  tool({ input: { a: z.number() }, call });
  // @ts-expect-error Make this object one schema, as z.object({ ... }) does.
  tool({ output: { a: z.number() }, call });
  // @ts-expect-error Make this object one schema, as z.object({ ... }) does.
  tool({ call: async (_, ctx) => void (await ctx.elicit({ message: "?", schema: { a: z.number() } })) });
  expectTypeOf(tool({ input: z.object({ a: z.number() }), call })).not.toBeAny();
  expectTypeOf(tool({ input: { type: "object", properties: { a: { type: "number" } } }, call })).not.toBeAny();
});
