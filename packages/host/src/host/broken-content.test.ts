import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type MixedContent, hasHalf, mixedContent } from "../../../../tests/support/broken-content.ts";
import { type ScriptedServer, scriptedServer, toolNamed } from "../supervision/testing/scripted-server.ts";
import { type ModelCall, callStep, scriptedModel, textStep } from "../testing/scripted-model.ts";
import { createHost } from "./create-host.ts";
import type { Host } from "./host.ts";
import { modernPeer } from "mcparley/testing";

const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const question = [{ role: "user", content: "Call the tool." }] as const;

/** The result of the next request to the server. */
let answer: () => unknown = () => ({ content: [] });
/** The tool that the model calls next. */
let called = "s__free";

function serverWithAnswers(): ScriptedServer {
  const tools = [toolNamed("free"), { ...toolNamed("typed"), outputSchema }];
  const list = (member: string, entries: object[]) => () => ({ [member]: entries, ttlMs: 0, cacheScope: "private" });
  return scriptedServer(() =>
    modernPeer({
      capabilities: { tools: {}, prompts: {}, resources: {} },
      answers: {
        "tools/list": list("tools", tools),
        "prompts/list": list("prompts", [{ name: "p" }]),
        "resources/list": list("resources", [{ uri: "a:b", name: "r" }]),
        "resources/templates/list": list("resourceTemplates", []),
        "tools/call": () => answer() as never,
        "prompts/get": () => answer() as never,
        "resources/read": () => answer() as never,
      },
    }),
  );
}

const options = {
  folder: false,
  servers: { s: serverWithAnswers() },
  policy: { review: "changes", rules: [{ decision: "allow" }] },
} as const;
/** The last request to the model. */
let request: ModelCall | undefined;
/** A model that calls a tool, and then answers. It has no end, because the properties can be repeated with many seeds. */
const model = Object.assign(scriptedModel([]), {
  doStream(options: ModelCall) {
    request = options;
    const isAnswered = options.prompt.some(({ role }) => role === "tool");
    const next = scriptedModel([isAnswered ? textStep("Done.") : callStep([{ name: called }])]);
    return next.doStream(options as never);
  },
});
const hosts: Host[] = [];
afterAll(() => Promise.all(hosts.map((host) => host.close())));

interface Told {
  /** The text of the result for the model. */
  readonly text: string;
  readonly isError: boolean;
}

/** Runs the model, which calls a tool whose answer is `result`. Returns the result that the next request to the model has. */
async function tell(host: Host, tool: string, result: () => unknown): Promise<Told> {
  answer = result;
  called = `s__${tool}`;
  const { reason } = await host.run({ messages: question }).finished;
  expect(reason).toBe("answered");
  const prompt = request?.prompt ?? [];
  expect(hasHalf(JSON.stringify(request))).toBe(false);
  const [message] = prompt.filter(({ role }) => role === "tool");
  const [part] = (message?.content ?? []) as { output: { type: string; value: unknown } }[];
  const { type, value } = part?.output ?? { type: "none", value: "" };
  const texts = typeof value === "string" ? [value] : (value as { text?: string }[]).map(({ text = "" }) => text);
  return { text: texts.join("\n"), isError: type === "error-text" };
}

/** Expects the readable texts in their order. A text over the limit ends with the handle of the whole. */
function expectKept(text: string, { kept }: MixedContent): void {
  const found = kept.map((one) => text.indexOf(one));
  if (text.includes("read_result")) return;
  expect(found.every((at, index) => at > (found[index - 1] ?? -1))).toBe(true);
}

async function openHost(ofModel = model): Promise<Host> {
  const host = await createHost({ ...options, model: ofModel });
  hosts.push(host);
  await host.ready();
  return host;
}

test("of any content the readable texts reach the model in their order, and nothing throws", async () => {
  const host = await openHost();
  const results = fc.record({ mixed: mixedContent, isError: fc.constantFrom(undefined, true, false, null, "x") });
  await fc.assert(
    fc.asyncProperty(results, async ({ mixed, isError }) => {
      const told = await tell(host, "free", () => ({ content: mixed.content, isError }));
      expectKept(told.text, mixed);
      expect(told.isError).toBe(isError === true);
    }),
    { numRuns: 60 },
  );
});

test("of a result with any structured content the texts reach the model, and it knows that the server has run the call", async () => {
  const host = await openHost();
  const structured = fc.constantFrom<unknown>(
    undefined,
    null,
    5,
    "x",
    [],
    { n: "wrong-content" },
    { n: 1 },
    { m: [{}] },
  );
  await fc.assert(
    fc.asyncProperty(mixedContent, structured, async (mixed, structuredContent) => {
      const told = await tell(host, "typed", () => ({ content: mixed.content, structuredContent }));
      expectKept(told.text, mixed);
      expect(told.isError).toBe(false);
      const isValid = JSON.stringify(structuredContent) === '{"n":1}';
      expect(/The server has run the call\. Its content was not checked/.test(told.text)).toBe(!isValid);
      expect(told.text).not.toContain("wrong-content");
    }),
    { numRuns: 60 },
  );
});

test.each<[string, unknown]>([
  ["a text", "the whole text"],
  ["a block", { type: "text", text: "the whole text" }],
])("%s in place of the list of content reaches the model", async (_what, content) => {
  const told = await tell(await openHost(), "free", () => ({ content }));
  expect(told).toMatchObject({ isError: false, text: expect.stringContaining("the whole text") });
});

test.each<[string, unknown]>([
  ["missing", undefined],
  ["null", null],
])("content that is %s is no error", async (_what, content) => {
  expect(await tell(await openHost(), "free", () => ({ content }))).toEqual({
    isError: false,
    text: "The tool returned no content.",
  });
});

test("structured content that does not match reaches the model if the result has nothing else", async () => {
  const told = await tell(await openHost(), "typed", () => ({ content: [], structuredContent: { m: "only-content" } }));
  expect(told.text).toMatch(/only-content[^]*was not checked/);
  expect(told.isError).toBe(false);
});

describe("after a failure the model knows whether the server may have run the call", () => {
  test("a result of an unknown type", async () => {
    const told = await tell(await openHost(), "free", () => ({ resultType: "x", content: [] }));
    expect(told).toMatchObject({ isError: true, text: expect.stringContaining("The server may have run it.") });
  });
});

test("prompts and resources with any content become messages with the readable texts", async () => {
  const host = await openHost();
  await fc.assert(
    fc.asyncProperty(mixedContent, fc.boolean(), async (mixed, isOneMessage) => {
      const conversation = host.conversation();
      const messages = isOneMessage
        ? [{ role: "user", content: mixed.content }]
        : mixed.content.map((content) => ({ role: "assistant", content }));
      answer = () => ({ messages });
      expectKept(JSON.stringify(await conversation.prompt("s:p")), mixed);
      answer = () => ({ contents: mixed.content, ttlMs: 0, cacheScope: "private" });
      await conversation.attach({ server: "s", uri: "a:b" });
      expectKept(JSON.stringify(conversation.messages.at(-1)), mixed);
      expect(hasHalf(JSON.stringify(conversation.toJSON()))).toBe(false);
      await conversation.close();
    }),
    { numRuns: 40 },
  );
});

test("a conversation of an older file, of the user and of a program is sent without half of a surrogate pair", async () => {
  const answering = scriptedModel([textStep("Done.")]);
  const host = await openHost(answering);
  const half = "cut \ud83d";
  const stored = {
    version: 1,
    messages: [
      { role: "system", content: half },
      { role: "user", content: half },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: half, providerData: { p: { signature: half } } },
          { type: "text", text: half },
          { type: "tool-call", callId: half, name: "t", arguments: { [half]: [half] } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", callId: half, name: "t", isError: false, content: [{ type: "text", text: half }] },
        ],
      },
    ],
    attachments: [],
  };
  const conversation = host.conversation(stored);
  conversation.user(half);
  await host.run({ conversation, system: half }).finished;
  const json = JSON.stringify(answering.requests[0]);
  expect(hasHalf(json)).toBe(false);
  expect(json.match(/cut \ufffd/g)?.length).toBe(12);
  expect(hasHalf(JSON.stringify(conversation.toJSON()))).toBe(false);
});
