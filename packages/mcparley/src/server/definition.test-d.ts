import { expectTypeOf, test } from "vitest";
import type { Context } from "./context.ts";
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
