import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { connect } from "../client.ts";
import { createServer, prompt, resource, tool } from "../server.ts";
import type { Client } from "./client.ts";
import type { GetPromptResult } from "../mcp/prompts.ts";

const server = createServer({
  name: "x",
  version: "1",
  tools: {
    add: tool({
      input: z.object({ a: z.number(), b: z.number().default(1) }),
      output: z.object({ sum: z.number() }),
      call: ({ a, b }) => ({ sum: a + b }),
    }),
    hi: tool({ input: z.object({ name: z.string() }), call: ({ name }) => `hi ${name}` }),
    now: tool({ call: () => "now" }),
    raw: tool({ input: { type: "object" }, call: () => "raw" }),
  },
  prompts: {
    review: prompt({ arguments: { code: { required: true }, language: {} }, get: ({ code }) => code }),
    plain: prompt({ get: () => "plain" }),
    typed: prompt({
      arguments: { n: z.number(), level: z.enum(["low", "high"]).optional() },
      get: ({ n }) => String(n),
    }),
  },
  resources: { note: resource("note://{id}", { read: ({ id }) => id }) },
});

test("a client of a server's type has its tools and prompts as functions", async () => {
  const client = await connect<typeof server>("https://example.com/mcp");
  expectTypeOf(client.tools.add({ a: 1 })).resolves.toEqualTypeOf<{ sum: number }>();
  expectTypeOf(client.tools.add({ a: 1, b: 2 }, { timeout: { idle: 5 } })).resolves.toEqualTypeOf<{ sum: number }>();
  expectTypeOf(client.tools.hi({ name: "x" })).resolves.toBeString();
  expectTypeOf(client.tools.now()).resolves.toBeString();
  expectTypeOf(client.tools.raw({ anything: true })).resolves.toBeString();
  expectTypeOf(client.prompts.review({ code: "x" })).resolves.toEqualTypeOf<GetPromptResult>();
  expectTypeOf(client.prompts.review({ code: "x", language: "y" })).resolves.toEqualTypeOf<GetPromptResult>();
  expectTypeOf(client.prompts.plain()).resolves.toEqualTypeOf<GetPromptResult>();
  // @ts-expect-error -- the argument is a number
  await client.tools.add({ a: "1" });
  // @ts-expect-error -- the argument is required
  await client.tools.add();
  // @ts-expect-error -- there is no such tool
  await client.tools.nope();
  // @ts-expect-error -- the tool has no arguments
  await client.tools.now({ x: 1 });
  expectTypeOf(client.callTool("add", { a: 1 })).resolves.toEqualTypeOf<{ sum: number }>();
  expectTypeOf(client.callTool("a tool that was added later")).resolves.toBeAny();
  // @ts-expect-error -- the argument is a number
  await client.callTool("add", { a: "1" });
  expectTypeOf(client.prompts.typed({ n: "1", level: "low" })).resolves.toEqualTypeOf<GetPromptResult>();
  // @ts-expect-error -- arguments are sent as text
  await client.prompts.typed({ n: 1 });
  // @ts-expect-error -- the level is another one
  await client.prompts.typed({ n: "1", level: "middle" });
  // @ts-expect-error -- code is required
  await client.prompts.review({ language: "x" });
});

test("a server value brings its own type", async () => {
  const client = await connect(server);
  expectTypeOf(client.tools.add({ a: 1 })).resolves.toEqualTypeOf<{ sum: number }>();
});

test("a client of a server without prompts has none", async () => {
  const client = await connect(createServer({ name: "x", version: "1", tools: { now: tool({ call: () => "now" }) } }));
  // @ts-expect-error -- there is no such prompt
  await client.prompts.nope();
});

test("the tools of a mounted server have its prefix", async () => {
  const client = await connect(createServer({ name: "gateway", version: "1" }).mount("x", server));
  expectTypeOf(client.tools["x.add"]({ a: 1 })).resolves.toEqualTypeOf<{ sum: number }>();
  expectTypeOf(client.prompts["x.plain"]()).resolves.toEqualTypeOf<GetPromptResult>();
});

test("an interface is accepted as arguments, and an undefined option as no option", async () => {
  interface Given {
    a: number;
  }
  const given: Given = { a: 1 };
  const client = await connect("https://example.com/mcp");
  await client.callTool("x", given);
  await client.callToolResult("x", given, { signal: undefined, timeout: undefined });
});

test("a client of a server that is not known is a plain one", async () => {
  const client = await connect("https://example.com/mcp", { headers: { "x-key": "1" } });
  expectTypeOf(client).toEqualTypeOf<Client>();
  // @ts-expect-error -- nothing is known of its tools
  void client.tools;
  expectTypeOf(client.callTool("x")).resolves.toBeAny();
  for await (const { name } of client.listTools()) expectTypeOf(name).toBeString();
});

test("targets that are none do not compile", () => {
  // @ts-expect-error -- neither a URL nor a command
  void connect({ port: 3000 });
  // @ts-expect-error -- a number is no target
  void connect(5);
});

test("a member of a list of another library has a type that names the method to use", async () => {
  const client = await connect(server);
  const { tools } = client.listTools();
  // @ts-expect-error Property 'map' does not exist on type '"Use await client.listTools().all(), ...
  expectTypeOf(() => tools?.map(({ name }: { name: string }) => name)).not.toBeAny();
});
