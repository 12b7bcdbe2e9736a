import { describe, expectTypeOf, test } from "vitest";
import * as v from "valibot";
import { z } from "zod";
import type { Schema } from "../schema/standard-schema.ts";
import type { Context } from "./core/context.ts";
import type { Root } from "../mcp/roots.ts";
import type { CreateMessageResult } from "../mcp/sampling.ts";
import { createServer } from "./create-server.ts";
import type { Prompt, Resource, Tool } from "./core/definition-types.ts";
import { prompt, resource, tool, withContext } from "./definition.ts";
import { toolResult } from "./core/tool-types.ts";

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

test("rejects an object of schemas as a schema", () => {
  const call = (): never => undefined as never;
  // @ts-expect-error Make this object one schema, as z.object({ ... }) does.
  tool({ input: { a: z.number() }, call });
  // @ts-expect-error Make this object one schema, as z.object({ ... }) does.
  tool({ output: { a: z.number() }, call });
  // @ts-expect-error Make this object one schema, as z.object({ ... }) does.
  tool({ call: (_, ctx) => ctx.elicit({ message: "?", schema: { a: z.number() } }).then(() => "") });
  // @ts-expect-error Write { type: "object", properties: { ... } }
  tool({ input: { a: { type: "number" } }, call });
  expectTypeOf(tool({ input: z.object({ a: z.number() }), call })).not.toBeAny();
  expectTypeOf(tool({ input: { type: "object", properties: { a: { type: "number" } } }, call })).not.toBeAny();
});

const named = { name: "x", version: "1" };
const plain = tool({ call: () => "plain" });

test("a server without a context refuses what needs one", () => {
  const own = withContext<{ db: number }>();
  const needsDb = own.tool({ call: (_, ctx) => String(ctx.db) });
  // @ts-expect-error -- the server adds no db
  createServer({ ...named, tools: { needsDb } });
  // @ts-expect-error -- the server adds no db
  createServer({ ...named, prompts: { needsDb: own.prompt({ get: (_, ctx) => String(ctx.db) }) } });
  // @ts-expect-error -- the server adds no db
  createServer({ ...named, resources: { needsDb: own.resource("a://b", { read: (_, ctx) => String(ctx.db) }) } });
  // @ts-expect-error -- the server adds no db
  createServer({ ...named, tools: { plain } }).tools.set("a", needsDb);
  // @ts-expect-error -- the db is of another type
  createServer({ ...named, context: () => ({ db: "text" }), tools: { needsDb } });
  const server = createServer({ ...named, context: async () => ({ db: 1, log: "" }), tools: { needsDb, plain } });
  server.tools.set("a", needsDb);
  server.tools.set("b", plain);
});

test("a JSON Schema gives its types to the handler, inline and as a constant", () => {
  const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] } as const;
  tool({ input: schema, call: ({ a }) => expectTypeOf(a).toEqualTypeOf<number>() as never });
  tool({
    input: { type: "object", properties: { a: { enum: ["x", "y"] } } },
    call: ({ a }) => expectTypeOf(a).toEqualTypeOf<"x" | "y" | undefined>() as never,
  });
  // @ts-expect-error -- the result has a number
  tool({ output: schema, call: () => ({ a: "1" }) });
});

test("a handler may return a whole result, content and interfaces", () => {
  interface Found {
    id: string;
  }
  const found: Found = { id: "a" };
  tool({ call: () => toolResult({ content: [], isError: true }) });
  tool({ output: { type: "object" }, call: () => found });
  tool({ call: async () => (Math.random() > 1 ? "a" : [{ type: "text", text: "b" }]) });
  tool({ call: () => ({ content: [{ type: "text", text: "b" }] }) });
  tool({
    call: () =>
      new Promise((resolve) => {
        resolve("a");
      }),
  });
  // @ts-expect-error -- an object needs an output schema
  tool({ call: () => ({ a: 1 }) });
});

test("a factory of tools takes a schema of any values", () => {
  const wrap = <T>(schema: z.ZodType<T>, run: (value: T) => string) =>
    tool({ input: schema, call: (value) => run(value) });
  expectTypeOf(wrap(z.object({ a: z.string() }), ({ a }) => a)).not.toBeAny();
});

test("a factory of tools keeps the types of a schema that it is called with", async () => {
  const search = <Out, In>(input: z.ZodType<Out, In>, run: (value: Out) => string) =>
    tool({ input, call: (value) => run(value) });
  const report = <Out, In>(output: z.ZodType<Out, In>, make: () => In) => tool({ output, call: () => make() });
  const tools = {
    search: search(z.object({ a: z.string(), b: z.number().default(1) }), ({ a, b }) => a + b.toFixed()),
    report: report(z.object({ n: z.number() }), () => ({ n: 1 })),
  };
  expectTypeOf(tools.search).toEqualTypeOf<Tool<{ a: string; b?: number | undefined }, string, object>>();
  expectTypeOf(tools.report).toEqualTypeOf<Tool<Record<string, never>, { n: number }, object>>();
});

test("names of other libraries are refused with the name to use", () => {
  // @ts-expect-error Use "input" instead of "inputSchema".
  tool({ inputSchema: z.object({}), call: () => "a" });
  // @ts-expect-error Use "call" instead of "handler".
  tool({ handler: () => "a" });
  // @ts-expect-error Use "arguments" instead of "argsSchema".
  prompt({ argsSchema: z.object({}), get: () => "a" });
  const server = createServer(named);
  // @ts-expect-error There is no such method.
  expectTypeOf(() => server.registerTool("a", {}, () => "a")).not.toBeAny();
  // @ts-expect-error Pass a record by name
  createServer({ ...named, tools: [plain] });
});

test("members of other libraries have a type that names the member to use", () => {
  tool({
    call: (_, ctx) => {
      expectTypeOf(ctx.authInfo).toEqualTypeOf<"Use ctx.principal." | undefined>();
      // @ts-expect-error Property 'clientId' does not exist on type '"Use ctx.principal."'.
      return `${ctx.authInfo?.clientId}`;
    },
  });
  const server = createServer(named);
  // @ts-expect-error There is no such method. Call server.resources.updated(uri).
  expectTypeOf(() => server.sendResourceUpdated({ uri: "a:b" })).not.toBeAny();
});

test("middleware has the params of each method", () => {
  createServer(named).use({
    "tools/list": async ({ params }, next) => {
      expectTypeOf(params.cursor).toEqualTypeOf<string | undefined>();
      return next();
    },
    "tools/call": ({ params }, next) => {
      expectTypeOf(params.name).toBeString();
      interface Result {
        content: [];
      }
      const result: Result = { content: [] };
      return params.name === "a" ? result : next();
    },
  });
});

test("options may be undefined, and lists readonly", () => {
  const icons = [{ src: "https://example.com/a.png", sizes: ["48x48"] }] as const;
  const title: string | undefined = undefined;
  tool({ title, icons, call: () => "a" });
  resource("a://b", { title, icons, read: () => "a" });
});

describe("arguments of prompts", () => {
  test("a record of options gives texts", () => {
    prompt({
      arguments: { code: { required: true }, language: { complete: (typed, others) => [typed, others.code ?? ""] } },
      get: (args) => expectTypeOf(args).toEqualTypeOf<{ code: string; language?: string }>() as never,
    });
    prompt({ get: (args) => expectTypeOf(args).toEqualTypeOf<{ [name: string]: string | undefined }>() as never });
  });

  test("schemas give their output types to the handler, and texts to the client", () => {
    const shaped = prompt({
      arguments: {
        code: z.string(),
        n: z.number(),
        loud: z.boolean().optional(),
        level: z.enum(["low", "high"]).default("low"),
        at: { title: "At", schema: z.string().transform((text) => new Date(text)) },
        style: {},
      },
      get: (args) =>
        expectTypeOf(args).toEqualTypeOf<{
          code: string;
          n: number;
          level: "low" | "high";
          at: Date;
          loud?: boolean | undefined;
          style?: string;
        }>() as never,
    });
    expectTypeOf<NonNullable<(typeof shaped)["~types"]>["arguments"]>().toEqualTypeOf<{
      code: string;
      n: string;
      at: string;
      loud?: string;
      level?: "low" | "high";
      style?: string;
    }>();
  });

  test("one schema of an object gives the same types", () => {
    const whole = prompt({
      arguments: z.object({ n: z.number(), level: z.enum(["low", "high"]).default("low") }),
      get: ({ n, level }) =>
        expectTypeOf([n, level] as const).toEqualTypeOf<readonly [number, "low" | "high"]>() as never,
    });
    expectTypeOf<NonNullable<(typeof whole)["~types"]>["arguments"]>().toEqualTypeOf<{
      n: string;
      level?: "low" | "high";
    }>();
    const json = prompt({
      arguments: { type: "object", properties: { n: { type: "number" }, word: { type: "string" } }, required: ["n"] },
      get: (args) => expectTypeOf(args).toEqualTypeOf<{ n: number; word?: string }>() as never,
    });
    expectTypeOf<NonNullable<(typeof json)["~types"]>["arguments"]>().toEqualTypeOf<{ n: string; word?: string }>();
  });

  test("members that do not exist are refused", () => {
    // @ts-expect-error -- requierd is no member
    prompt({ arguments: { code: { requierd: true } }, get: () => "a" });
    // @ts-expect-error -- descripton is no member, beside one that is
    prompt({ arguments: { code: { required: true, descripton: "The code" } }, get: () => "a" });
    // @ts-expect-error -- a list is no record
    prompt({ arguments: [{ name: "code" }], get: () => "a" });
    // @ts-expect-error -- a text is no definition
    prompt({ arguments: { code: "The code" }, get: () => "a" });
  });

  test("withContext has the same types", () => {
    withContext<{ db: number }>().prompt({
      arguments: { n: z.number(), code: { complete: (typed) => [typed] } },
      get: ({ n, code = "" }, { db }) => `${n.toFixed()} ${code.length} ${db.toFixed()}`,
    });
  });
});

describe("members that would be ignored are refused", () => {
  const call = (): string => "a";
  const read = (): string => "a";

  test("in a tool", () => {
    // @ts-expect-error -- did you mean title?
    tool({ titel: "A", call });
    // @ts-expect-error -- did you mean readOnlyHint?
    tool({ annotations: { readonlyHint: true }, call });
    // @ts-expect-error -- an icon has src
    tool({ icons: [{ url: "https://example.com/a.png" }], call });
    // @ts-expect-error -- scopes is a list
    tool({ scopes: "a b", call });
    // @ts-expect-error -- meta is an object
    tool({ meta: "a", call });
  });

  test("in a resource", () => {
    // @ts-expect-error -- did you mean mimeType?
    resource("a://b", { mimetype: "text/plain", read });
    // @ts-expect-error -- did you mean ttlMs?
    resource("a://b", { cache: { ttl: 5 }, read });
    // @ts-expect-error -- the template has no such variable
    resource("a://{id}", { complete: { name: ["x"] }, read });
    // @ts-expect-error -- Only a template has variables.
    resource("a://b", { complete: { id: ["x"] }, read });
    // @ts-expect-error -- Only a template has a list.
    resource("a://b", { list: () => [], read });
    // @ts-expect-error -- A template has no size.
    resource("a://{id}", { size: 5, read });
    resource("a://{id}", { list: (ctx) => [ctx.meta.a as string], complete: { id: (typed) => [typed] }, read });
    resource("a://b", { size: 5, read });
    const uri: string = "a://b";
    resource(uri, { size: 5, list: () => [], complete: { id: ["x"] }, read });
  });

  test("in a server", () => {
    // @ts-expect-error -- did you mean tools?
    createServer({ ...named, tolos: { plain } });
    // @ts-expect-error -- did you mean inFlight?
    createServer({ ...named, limits: { inflight: 5 } });
    // @ts-expect-error -- did you mean listChanged?
    createServer({ ...named, capabilities: { listchanged: false } });
  });
});

test("the result of an input request is its answer or that of the fallback", () => {
  const ask = async (ctx: Context) => {
    const form = { message: "?", schema: z.object({ a: z.number() }) };
    expectTypeOf(await ctx.elicit(form)).toEqualTypeOf<{ a: number }>();
    expectTypeOf(await ctx.elicit(form, { timeout: 5 })).toEqualTypeOf<{ a: number }>();
    expectTypeOf(await ctx.elicit(form, { fallback: () => "none" })).toEqualTypeOf<{ a: number } | string>();
    expectTypeOf(await ctx.elicit(form, { fallback: async () => undefined })).toEqualTypeOf<
      { a: number } | undefined
    >();
    const { a } = await ctx.elicit(form, { timeout: 5, fallback: () => ({ a: 2 }) });
    expectTypeOf(a).toEqualTypeOf<number>();
    const fallback = (error: Error): never => {
      throw error;
    };
    expectTypeOf(await ctx.elicit(form, { fallback })).toEqualTypeOf<{ a: number }>();
    const visit = { message: "?", url: "https://a.example" };
    expectTypeOf(await ctx.elicit(visit)).toEqualTypeOf<void>();
    expectTypeOf(await ctx.elicit(visit, { fallback: () => false })).toEqualTypeOf<void | boolean>();
    expectTypeOf(await ctx.roots({ fallback: () => undefined })).toEqualTypeOf<Root[] | undefined>();
    const sampled = await ctx.sample({ messages: [], maxTokens: 1 }, { timeout: 5, fallback: () => null });
    expectTypeOf(sampled).toEqualTypeOf<CreateMessageResult | null>();
    // @ts-expect-error -- the time limit is in the second parameter
    await ctx.elicit({ ...form, timeout: 5 });
    // @ts-expect-error -- a fallback is a function
    await ctx.elicit(form, { fallback: { a: 2 } });
  };
  expectTypeOf(ask).not.toBeAny();
});

test("a function of other libraries is an error with the name to use", () => {
  const call = (ctx: Context): void => {
    // @ts-expect-error -- Use ctx.notify, ctx.log or ctx.progress.
    ctx.sendNotification({ method: "notifications/message" });
    // @ts-expect-error -- Use ctx.elicit, ctx.sample or ctx.roots.
    ctx.sendRequest({ method: "roots/list" });
    // @ts-expect-error -- Use ctx.elicit({ message, schema }).
    ctx.elicitInput({ message: "?" });
    // @ts-expect-error -- Use ctx.progress(done, total).
    ctx.reportProgress({ progress: 1 });
  };
  expectTypeOf(call).not.toBeAny();
});

test("a form with a nested or nullable field is an error that names the field", () => {
  const ask = async (ctx: Context, any: Schema, ofLibrary: z.ZodObject, untyped: z.ZodType): Promise<void> => {
    // @ts-expect-error -- "a" is an object
    await ctx.elicit({ message: "?", schema: z.object({ a: z.object({ b: z.string() }) }) });
    // @ts-expect-error -- "a" is a list of objects
    await ctx.elicit({ message: "?", schema: z.object({ ok: z.boolean(), a: z.array(z.object({ b: z.string() })) }) });
    // @ts-expect-error -- "a" can be null
    await ctx.elicit({ message: "?", schema: v.object({ a: v.nullable(v.string()) }) });
    await ctx.elicit({
      message: "?",
      // @ts-expect-error -- "a" is an object
      schema: { type: "object", properties: { a: { type: "object", properties: {} } } },
    });
    const fields = z.object({
      a: z.string().optional(),
      b: z.int().default(1),
      c: z.boolean(),
      d: z.enum(["x", "y"]),
      e: z.array(z.enum(["x", "y"])),
      f: z.coerce.number(),
      g: z.email().brand("email"),
    });
    const { a } = await ctx.elicit({ message: "?", schema: fields });
    expectTypeOf(a).toEqualTypeOf<string | undefined>();
    await ctx.elicit({ message: "?", schema: z.object({}) });
    await ctx.elicit({ message: "?", schema: { type: "object", properties: { a: { type: "string" } } } });
    await ctx.elicit({ message: "?", schema: any });
    await ctx.elicit({ message: "?", schema: ofLibrary });
    await ctx.elicit({ message: "?", schema: untyped });
  };
  expectTypeOf(ask).not.toBeAny();
});
