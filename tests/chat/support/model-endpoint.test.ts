import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type Host, type RunEvent, createHost } from "@mcparley/host";
import { createServer, tool } from "mcparley/server";
import { expect, onTestFinished, test } from "vitest";
import { failWith, hold, openModelEndpoint, say, toolCall } from "./model-endpoint.ts";

/** Starts a host that uses the endpoint as the provider package does. */
async function hostWith(url: string): Promise<Host> {
  const provider = createOpenAICompatible({ name: "local", baseURL: url, apiKey: "the-key", includeUsage: true });
  const echo = tool({ call: (_, ctx) => `echoed for ${ctx.peer.info?.name}` });
  const host = await createHost({
    folder: false,
    servers: { test: createServer({ name: "test", version: "1.0.0", tools: { echo } }) },
    model: provider("small"),
    policy: { review: "changes", rules: [{ decision: "allow" }] },
  });
  onTestFinished(() => host.close());
  return host;
}

async function textOf(events: AsyncIterable<RunEvent>): Promise<string> {
  let text = "";
  for await (const event of events) if (event.type === "text") text += event.text;
  return text;
}

const question = { messages: [{ role: "user", content: "Hello?" }] } as const;

test("answers with texts and calls, and records the requests", async () => {
  const endpoint = await openModelEndpoint([
    say("I call it. ", toolCall("test__echo", { a: 1 })),
    ({ messages }) => say("It returned ", JSON.stringify(messages.at(-1).content)),
  ]);
  const host = await hostWith(endpoint.url);
  expect(await textOf(host.run(question))).toContain("I call it. It returned ");
  const [first, second] = endpoint.requests;
  expect(first).toMatchObject({ number: 1, body: { model: "small", stream: true } });
  expect(first?.tools).toContain("test__echo");
  expect(first?.headers.authorization).toBe("Bearer the-key");
  expect(first?.messages.at(-1)).toEqual({ role: "user", content: "Hello?" });
  expect(second?.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call-1-1" });
});

test("holds an answer until the test releases it", async () => {
  const { held, release } = hold();
  const endpoint = await openModelEndpoint([say("before ", held, "after")]);
  const run = (await hostWith(endpoint.url)).run(question);
  let text = "";
  for await (const event of run) {
    if (event.type === "text") text += event.text;
    if (text === "before ") release();
  }
  expect(text).toBe("before after");
});

test("stops when the client disconnects", async () => {
  const endpoint = await openModelEndpoint([say("before", hold().held, "after")]);
  const stop = new AbortController();
  const response = await fetch(`${endpoint.url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [], stream: true }),
    signal: stop.signal,
  });
  const request = await endpoint.received(1);
  stop.abort();
  await request.disconnected;
  await expect(response.text()).rejects.toThrow("aborted");
});

test("answers each request of an endless conversation by its number", async () => {
  const endpoint = await openModelEndpoint(({ number }) => (number === 2 ? failWith(503, "Busy.") : say(`${number}`)));
  const ask = async (): Promise<unknown> => {
    const body = JSON.stringify({ model: "m", messages: [] });
    const response = await fetch(`${endpoint.url}/chat/completions`, { method: "POST", body });
    return response.json();
  };
  expect(await ask()).toMatchObject({ choices: [{ message: { content: "1" }, finish_reason: "stop" }] });
  expect(await ask()).toEqual({ error: { message: "Busy.", type: "error", code: "503" } });
  expect(await ask()).toMatchObject({ model: "m", choices: [{ message: { content: "3" } }] });
});

test("reports the end and the failure of a script, and unknown paths", async () => {
  const endpoint = await openModelEndpoint([
    () => {
      throw new Error("wrong script");
    },
  ]);
  const post = async (path: string): Promise<string> =>
    (await fetch(endpoint.url + path, { method: "POST", body: '{"model":"m","messages":[]}' })).text();
  expect(await post("/chat/completions")).toContain("The script failed: wrong script");
  expect(await post("/chat/completions")).toContain("The script has no answer 2.");
  expect(await post("/completions")).toContain("POST /v1/completions does not exist.");
});
