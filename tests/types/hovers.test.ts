import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OpenFile, openFile } from "./language-server.ts";

const folder = fileURLToPath(new URL("./.generated/hovers/", import.meta.url));
const file = `${folder}program.ts`;
const program = `import { connect } from "mcparley/client";
import { createServer, prompt, resource, tool } from "mcparley/server";
import { z } from "zod";
const add = tool({
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  output: z.object({ sum: z.number() }),
  call: ({ a, b }, ctx) => { ctx.progress(1); return { sum: a + b }; },
});
const review = prompt({
  arguments: { code: { required: true }, language: {} },
  get: (values, context) => values.code + String(context.signal.aborted),
});
const note = resource("note://{id}{?tags*}", { read: (variables, call) => variables.id + call.uri });
const server = createServer({ name: "x", version: "1", tools: { add }, prompts: { review }, resources: { note } });
const client = await connect<typeof server>(server);
await client.tools.add({ a: 1 });
await client.prompts.review({ code: "a" });
await client.callTool("add", { a: 1 });
await client.readResource("note://1");
export {};
`;
let opened: OpenFile;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, program);
  opened = await openFile(file, program);
  // The first answer waits for the whole program to be read.
  await opened.hover("client.tools.add");
}, 60_000);

afterAll(async () => {
  await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the hover text of an editor on one line. */
async function hover(code: string): Promise<string> {
  return (await opened.hover(code)).replaceAll(/\s+/g, " ");
}

test("a tool of a client shows its arguments and its value", async () => {
  expect(await hover("client.tools.add")).toBe(
    "(property) add: (args: { a: number; b?: number | undefined; }, options?: RequestOptions) => Promise<{ sum: number; }>",
  );
  expect(await hover("client.callTool")).toContain(
    `Client.callTool<"add">(name: "add", args: { a: number; b?: number | undefined; }, options?: RequestOptions | undefined): Promise<{ sum: number; }>`,
  );
});

test("a prompt of a client shows its arguments", async () => {
  expect(await hover("client.prompts.review")).toBe(
    "(property) review: (args: { code: string; language?: string | undefined; }, options?: RequestOptions) => Promise<GetPromptResult>",
  );
});

test("resources are read with plain types", async () => {
  expect(await hover("client.readResource")).toMatch(
    /^\(method\) Client\.readResource\(uri: string, options\?: RequestOptions\): Promise<ReadResourceResult>/,
  );
});

test("the parameters of handlers show resolved types", async () => {
  expect(await hover("(values")).toBe("(parameter) values: { code: string; language?: string | undefined; }");
  expect(await hover("(variables")).toBe("(parameter) variables: { id: string; tags?: string[] | undefined; }");
  expect(await hover("call: ({ a, b }, ctx")).toBe("(parameter) ctx: Context & object");
  expect(await hover("(values, context")).toBe("(parameter) context: Context & object");
  expect(await hover("(variables, call")).toBe("(parameter) call: Context & object & { readonly uri: string; }");
});

test("a definition shows its types without those of the schema library", async () => {
  expect(await hover("const add")).toBe(
    "const add: Tool<{ a: number; b?: number | undefined; }, { sum: number; }, object>",
  );
  expect(await hover("const review")).toBe(
    "const review: Prompt<{ code: string; language?: string | undefined; }, object>",
  );
  expect(await hover("const note")).toBe('const note: Resource<"note://{id}{?tags*}", object>');
});
