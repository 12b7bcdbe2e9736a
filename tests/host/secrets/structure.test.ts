import { createServer, prompt, resource, tool } from "mcparley/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { toAiSdkTools } from "../../../packages/host/src/host/ai-sdk-tools.ts";
import { createHost } from "../../../packages/host/src/host/create-host.ts";
import type { Renderer } from "../../../packages/host/src/renderer/renderer.ts";
import { callStep, scriptedModel, textStep } from "../../../packages/host/src/testing/scripted-model.ts";

const a = z.object({ a: z.number() });

const server = createServer({
  name: "s",
  version: "1",
  tools: {
    sum: tool({ input: a, output: a, call: (value) => value }),
    ask: tool({
      input: a,
      async call(_, ctx) {
        await ctx.elicit({ message: "m", schema: a });
        await ctx.sample({ messages: [{ role: "user", content: { type: "text", text: "t" } }], maxTokens: 9 });
        ctx.progress(1, 2, "m");
        return "x";
      },
    }),
    fails: tool({ call: () => Promise.reject(new Error("x")) }),
  },
  prompts: { p: prompt({ get: () => "x" }) },
  resources: { r: resource("test:r", { read: () => "x" }) },
});

/** The members whose values are words of the host and of the protocol. */
const kinds = new Set(
  "type role status reason state kind by subject outcome mode action stopReason finishReason".split(" "),
);

/** Returns a value with its names and the values of its kinds, and the types of all other values. Functions and numbers are left out. */
function structure(value: unknown, name = ""): unknown {
  if (typeof value === "string") return kinds.has(name) ? value : "text";
  if (value instanceof Error) return { error: value.name, members: Object.keys(value) };
  if (typeof value !== "object" || value === null) return typeof value;
  if (Array.isArray(value)) return value.map((item) => structure(item, name));
  if (Object.getPrototypeOf(value) !== Object.prototype) return "class";
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, structure(member, key)]));
}

/** Uses a host that knows a secret. Returns the structure of everything that left it, by its place. */
async function use(secret: string): Promise<Record<string, unknown[]>> {
  const left: Record<string, unknown[]> = {};
  const add = (place: string, value: unknown): void => void (left[place] ??= []).push(structure(value));
  const asked = <T>(place: string, answer: T): ((request: object) => T) => {
    return (request) => {
      add(place, request);
      return answer;
    };
  };
  const renderer: Renderer = {
    review: asked("review", { accepted: "all" }),
    approve: asked("approve", { action: "allow" }),
    form: asked("form", { action: "accept", content: { a: 1 } }),
    sample: asked("sample", { action: "allow" }),
    sampled: asked("sampled", { action: "allow" }),
  };
  const call = (name: string): { name: string; input: object } => ({ name, input: { a: 1 } });
  const model = scriptedModel([
    textStep("x"),
    callStep([call("s__sum"), call("s__ask"), call("s__fails"), call("s__none")], "x"),
    textStep("x"),
    textStep("x"),
    new Error("x"),
  ]);
  const host = await createHost({
    folder: false,
    servers: {
      s: server,
      other: { target: { url: "http://127.0.0.1:9/", headers: { "x-tenant": secret } }, disabled: true },
    },
    policy: { trust: "configured" },
    renderer,
    model,
    onEvent: (event) => add(`event ${event.type}`, event),
  });
  add("catalogue", await host.ready());
  for (const shown of host.servers.values()) add("server", { ...shown });
  const onActivity = (activity: object): void => add("activity", activity);
  for (const name of ["s__sum", "s__ask", "s__fails"]) add(name, await host.callTool(name, { a: 1 }, { onActivity }));
  add("invalid", await host.callTool("s__sum", {}));
  add("aiSdk", toAiSdkTools(host));
  const conversation = host.conversation();
  await conversation.attach({ server: "s", uri: "test:r" });
  await conversation.prompt("s:p");
  add("user call", await conversation.callTool("s__sum", { a: 1 }));
  for (const text of ["x", "y"]) {
    conversation.user(text);
    const run = host.run({ conversation });
    for await (const event of run) add(`run ${event.type}`, event);
    add("finished", await run.finished);
  }
  const stored = JSON.parse(JSON.stringify(conversation)) as unknown;
  add("stored", stored);
  add("restored", host.conversation(stored).messages);
  add("requests", model.requests);
  await host.close();
  return left;
}

/** Returns the names and kinds of a structure that are as long as a secret. */
function wordsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(wordsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...wordsIn(member)]);
}

test("a secret that is a word of the host's structure leaves the structure of everything unchanged", async () => {
  const usual = await use("no word of it");
  const words = new Set(
    Object.values(usual)
      .flatMap(wordsIn)
      .filter(({ length }) => length >= 6),
  );
  expect([...words]).toEqual(expect.arrayContaining(["messages", "assistant", "callId", "content", "tool-result"]));
  for (const word of words) expect([word, await use(word)]).toEqual([word, usual]);
}, 120_000);
