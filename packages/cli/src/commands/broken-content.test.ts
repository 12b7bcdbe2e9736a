import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "mcparley";
import { type MixedContent, hasHalf, mixedContent } from "../../../../tests/support/broken-content.ts";
import { runWith } from "./testing/fake-io.ts";
import { connectToScript, oneOfEach } from "./testing/refusing-peer.ts";

const url = "http://127.0.0.1:1/mcp";
const page = { resultType: "complete", ttlMs: 0, cacheScope: "public" };
const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const typed = { ...page, tools: [{ name: "a_tool", inputSchema: { type: "object" }, outputSchema }] };

/** Runs a command on a server that answers with a result. */
async function run(words: string, result: JsonObject, options: { terminal?: boolean; lists?: object } = {}) {
  const lists = Object.fromEntries(
    Object.entries(options.lists ?? {}).map(([method, list]) => [method, { result: list }]),
  );
  const methods = ["tools/call", "prompts/get", "resources/read"];
  const answers = Object.fromEntries(methods.map((method) => [method, { result: { ...page, ...result } }]));
  const connect = connectToScript({ ...oneOfEach, ...lists, ...answers });
  const { code, io } = await runWith({ connect, terminal: options.terminal ?? false, env: { NO_COLOR: "1" } }, words);
  return { code, out: io.out(), err: io.err() };
}

function expectKept(text: string, { kept }: MixedContent): void {
  const found = kept.map((one) => text.indexOf(one));
  expect(found.every((at, index) => at > (found[index - 1] ?? -1))).toBe(true);
}

test("of any content the readable texts are printed in their order, and no command fails", async () => {
  await fc.assert(
    fc.asyncProperty(mixedContent, fc.boolean(), fc.boolean(), async (mixed, terminal, isOneMessage) => {
      const { content } = mixed;
      const messages = isOneMessage
        ? [{ role: "user", content }]
        : content.map((block) => ({ role: "assistant", content: block }));
      for (const [words, result] of [
        [`call ${url} a_tool`, { content }],
        [`prompt ${url} a_prompt`, { messages }],
        [`read ${url} note://1`, { contents: content }],
      ] as const) {
        const shown = await run(words, result, { terminal });
        expect([shown.code, shown.err.includes("internal")]).toEqual([0, false]);
        expectKept(shown.out, mixed);
        const json = await run(`${words} --json`, result, { terminal });
        expect(json.code).toBe(0);
        expect(hasHalf(json.out)).toBe(false);
        expectKept(json.out, mixed);
      }
    }),
    { numRuns: 20 },
  );
});

test("a tool that fails with any content is reported with its texts", async () => {
  const content = [null, { type: "video" }, { type: "text", text: "The disk is full." }, { type: "image" }];
  const { code, err } = await run(`call ${url} a_tool`, { content, isError: true });
  expect(code).toBe(5);
  expect(err).toContain("The disk is full.");
});

describe("structured content that does not match the output schema", () => {
  const lists = { "tools/list": typed };
  const content = [{ type: "text", text: "the text" }];

  test.each([
    ["missing", undefined, "it has no structuredContent"],
    ["wrong", { n: "wrong-content" }, "/n: must be number"],
  ])("is %s: the text is printed with a warning, and the exit code is 0", async (_what, structuredContent, reason) => {
    const result = { content, ...(structuredContent && { structuredContent }) };
    const { code, out, err } = await run(`call ${url} a_tool`, result, { lists });
    expect([code, out]).toEqual([0, "the text\n"]);
    expect(err.replaceAll(/\s+/g, " ")).toContain(`does not match its output schema: ${reason}`);
    expect(err.replaceAll(/\s+/g, " ")).toContain(
      "Its content was not checked, and its structured content was left out.",
    );
    const json = await run(`call ${url} a_tool --json`, result, { lists });
    expect(json.code).toBe(0);
    expect(JSON.parse(json.out)).toEqual({ ...page, content });
  });

  test("is printed as text if the result has nothing else", async () => {
    const { code, out, err } = await run(`call ${url} a_tool`, { content: [], structuredContent: { m: 1 } }, { lists });
    expect([code, JSON.parse(out)]).toEqual([0, { m: 1 }]);
    expect(err.replaceAll(/\s+/g, " ")).toMatch(/ Its structured content was not checked. $/);
  });

  test("is no problem of a failed tool", async () => {
    const { code, err } = await run(`call ${url} a_tool`, { content, isError: true }, { lists });
    expect(code).toBe(5);
    expect(err).not.toContain("output schema");
  });
});

test.each([
  [
    "a call",
    `call ${url} a_tool`,
    (deep: unknown) => ({ content: [{ type: "text", text: "kept" }], structuredContent: deep }),
  ],
  [
    "a prompt",
    `prompt ${url} a_prompt`,
    (deep: unknown) => ({
      messages: [{ role: "user", content: { type: "text", text: "kept" } }],
      _meta: { "a.b/c": deep },
    }),
  ],
  [
    "a resource",
    `read ${url} note://1`,
    (deep: unknown) => ({ contents: [{ uri: "note://1", text: "kept", _meta: { "a.b/c": deep } }] }),
  ],
])("%s with a value of many levels is printed as JSON with its text", async (_what, words, resultOf) => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(900)}1${"}".repeat(900)}`);
  const { code, out } = await run(`${words} --json`, resultOf(deep));
  expect(code).toBe(0);
  expect(JSON.stringify(JSON.parse(out))).toContain('"text":"kept"');
  expect(out.split('"a": {')).toHaveLength(900);
});

test("structured content of many levels is printed if the result has nothing else", async () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(900)}1${"}".repeat(900)}`);
  for (const lists of [{}, { "tools/list": typed }]) {
    const { code, out } = await run(`call ${url} a_tool`, { content: [], structuredContent: deep }, { lists });
    expect([code, out.split('"a": ').length]).toEqual([0, 901]);
  }
});

test("a result of many thousand levels is an error that names the limit", async () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
  const { code, out, err } = await run(`call ${url} a_tool`, { content: [], structuredContent: deep });
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("the result was not read. The value is nested more than 1000 levels deep.");
});

test("a list with entries and members of wrong types is printed with its other entries", async () => {
  const wrong = {
    title: 5,
    description: null,
    annotations: "x",
    icons: {},
    mimeType: [],
    size: "3",
    arguments: { a: 1 },
  };
  const tools = [{ ...wrong, name: "kept", inputSchema: { type: "object" } }, null, { name: "no schema" }];
  const prompts = [
    { ...wrong, name: "kept-prompt" },
    { name: "p", arguments: [null, { name: "a", description: 5 }] },
    5,
  ];
  const resources = [{ ...wrong, uri: "note://kept", name: "r" }, { uri: 5 }];
  const lists = {
    "tools/list": { ...page, tools },
    "prompts/list": { ...page, prompts },
    "resources/list": { ...page, resources },
  };
  const { code, out } = await run(`list ${url}`, {}, { lists });
  expect(code).toBe(0);
  expect(out).toMatch(/kept[^]*kept-prompt[^]*- a \(optional\)[^]*note:\/\/kept/);
});
