import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createHost } from "@mcparley/host";
import { LocalError } from "mcparley";
import { fakeClock } from "mcparley/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { builtInProviders } from "./built-in-providers.ts";
import { type Endpoint, EndpointError } from "./endpoint-error.ts";
import { endpointFetch, endpointModel } from "./endpoint-model.ts";
import { type ScriptedReply, ask, chunk, hello, scriptedEndpoint, textOf } from "./testing/scripted-endpoint.ts";

const key = "not-a-known-form-of-key-4711";

function endpointAt(url: string, more: Partial<Endpoint> = {}): Endpoint {
  const { origin } = new URL(url);
  return { href: url, origin, model: "test-model", key, keyEnv: "LLM_KEY", provider: undefined, ...more };
}

async function failureOf(asked: Promise<unknown>): Promise<Error> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) throw new Error("The request did not fail.");
  expect(`${error.stack}${JSON.stringify(error, Object.getOwnPropertyNames(error))}`).not.toContain(key);
  return error;
}

/** Returns the message of the error for a reply. */
async function messageFor(reply: ScriptedReply, more: Partial<Endpoint> = {}): Promise<string> {
  const { url, origin } = await scriptedEndpoint(reply);
  const model = await endpointModel(endpointAt(url, more), "test");
  const error = await failureOf(ask(model));
  expect(error).toBeInstanceOf(EndpointError);
  return error.message.replaceAll(origin, "ORIGIN");
}

const errorBody = (message: string): string => JSON.stringify({ error: { message, code: 1 } });

describe("a model of an endpoint", () => {
  test("streams a text with its usage, and sends the key to the endpoint", async () => {
    const { url, requests } = await scriptedEndpoint(hello);
    const model = await endpointModel(endpointAt(url), "test");
    const parts = await ask(model, { maxOutputTokens: 9 });
    expect(textOf(parts)).toBe("Hello.");
    expect(parts.at(-1)?.usage?.inputTokens.total).toBe(7);
    expect(requests).toHaveLength(1);
    const [{ path, headers, body } = {}] = requests;
    expect(path).toBe("/v1/chat/completions");
    expect(headers?.authorization).toBe(`Bearer ${key}`);
    expect(body).toMatchObject({ model: "test-model", max_tokens: 9, stream: true });
  });

  test("sends the texts of a message as one, and files in a list", async () => {
    const { url, requests } = await scriptedEndpoint(hello);
    await using host = await createHost({ model: await endpointModel(endpointAt(url), "test"), folder: false });
    const text = (value: string) => ({ type: "text", text: value }) as const;
    const image = { type: "file", mediaType: "image/png", data: "AAAA" } as const;
    await host.run({ messages: [{ role: "user", content: [text("a"), text("b")] }] }).finished;
    await host.run({ messages: [{ role: "user", content: [text("a"), image] }] }).finished;
    const contents = requests.map(({ body }) => (body.messages as { content: unknown }[]).at(-1)?.content);
    const url64 = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    expect(contents).toEqual(["a\n\nb", [text("a"), url64]]);
  });

  test("is sent no file again that the endpoint refuses", async () => {
    const refusal: ScriptedReply = { status: 500, text: errorBody("this model does not support images") };
    const { url, requests } = await scriptedEndpoint(refusal, hello);
    await using host = await createHost({ model: await endpointModel(endpointAt(url), "test"), folder: false });
    const messages = [{ role: "user", content: [{ type: "file", mediaType: "image/png", data: "AAAA" }] }] as const;
    expect(await host.run({ messages }).finished).toMatchObject({ reason: "answered" });
    expect(await host.run({ messages }).finished).toMatchObject({ reason: "answered" });
    expect(requests).toHaveLength(3);
    expect(JSON.stringify(requests.slice(1))).not.toContain("AAAA");
    expect(JSON.stringify(requests.at(-1)?.body)).toContain("[image/png, 3 bytes: left out");
  });

  test("sends no authorization without a key", async () => {
    const { url, requests } = await scriptedEndpoint(hello);
    await ask(await endpointModel(endpointAt(url, { key: undefined }), "test"));
    expect(requests[0]?.headers.authorization).toBeUndefined();
  });

  test("streams a tool call", async () => {
    const call = (part: object): object => chunk({ tool_calls: [{ index: 0, ...part }] });
    const { url } = await scriptedEndpoint({
      chunks: [
        call({ id: "c1", type: "function", function: { name: "add", arguments: '{"a":' } }),
        call({ function: { arguments: "1}" } }),
        chunk({}, "tool_calls"),
      ],
    });
    const parts = await ask(await endpointModel(endpointAt(url), "test"));
    expect(parts.find(({ type }) => type === "tool-call")).toMatchObject({ toolName: "add", input: '{"a":1}' });
  });

  test("limits the output of OpenAI by the name that its newer models require", async () => {
    const { url, requests } = await scriptedEndpoint(hello);
    const provider = builtInProviders.get("openai");
    await ask(await endpointModel(endpointAt(url, { provider }), "openai"), { maxOutputTokens: 9 });
    expect(requests[0]?.body).toMatchObject({ max_completion_tokens: 9 });
    expect(requests[0]?.body).not.toHaveProperty("max_tokens");
  });

  test.each([400, 422])(
    "repeats a request without the option that an endpoint refuses with status %i",
    async (status) => {
      const text = '{"message":{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}}';
      const { url, requests } = await scriptedEndpoint({ status, text }, hello);
      const model = await endpointModel(endpointAt(url), "test");
      expect(textOf(await ask(model))).toBe("Hello.");
      await ask(model);
      expect(requests.map(({ body }) => "stream_options" in body)).toEqual([true, false, false]);
    },
  );

  test("repeats a request only once", async () => {
    const { url, requests } = await scriptedEndpoint({ status: 400, text: errorBody("stream_options is bad") });
    const error = await failureOf(ask(await endpointModel(endpointAt(url), "test")));
    expect(error.message).toContain("(HTTP status 400): stream_options is bad.");
    expect(requests).toHaveLength(2);
  });
});

describe("a redirect", () => {
  test("to another origin is refused with the origin and the cure, and nothing is sent there", async () => {
    const other = await scriptedEndpoint(hello);
    const headers = { location: `${other.url}/chat/completions?token=abc` };
    const message = await messageFor({ status: 307, headers });
    expect(message).toBe(
      `The endpoint ORIGIN redirects to ${other.origin} (HTTP status 307). ` +
        `Nothing was sent there. If you trust it, name it: --base-url ${other.origin}/... with --api-key-env NAME.`,
    );
    expect(other.requests).toEqual([]);
  });

  test("within the origin is refused too", async () => {
    const { url, requests } = await scriptedEndpoint({ status: 308, headers: { location: "/v1/other" } }, hello);
    const error = await failureOf(ask(await endpointModel(endpointAt(url), "test")));
    expect(error.message).toContain("(HTTP status 308). Check the address of --base-url.");
    expect(requests).toHaveLength(1);
  });

  test("without a valid address is refused", async () => {
    expect(await messageFor({ status: 302 })).toContain("redirects to an invalid address (HTTP status 302)");
  });
});

test("the requests of a model to another origin are refused", async () => {
  const other = await scriptedEndpoint(hello);
  const fetch = endpointFetch(endpointAt("http://127.0.0.1:9/v1"));
  const headers = { authorization: `Bearer ${key}` };
  for (const url of [other.url, new URL(other.url), new Request(other.url)]) {
    await expect(fetch(url, { method: "POST", headers })).rejects.toThrow(
      `A request to ${other.origin} was refused. The model may only use http://127.0.0.1:9.`,
    );
  }
  expect(other.requests).toEqual([]);
});

describe("the error for", () => {
  const ollama = builtInProviders.get("ollama");

  test.each<[string, ScriptedReply, Partial<Endpoint>, string]>([
    [
      "a rejected key names the variable, and not the key",
      { status: 401, text: errorBody(`Incorrect API key provided: ${key}`) },
      {},
      "The endpoint ORIGIN rejected the key (HTTP status 401). Check the key in the variable LLM_KEY.",
    ],
    [
      "a missing key names the option",
      { status: 401, text: "no" },
      { key: undefined, keyEnv: undefined },
      "The endpoint ORIGIN requires a key (HTTP status 401). Name the variable that has it with --api-key-env NAME.",
    ],
    [
      "a refused request has the endpoint's reason without the key",
      { status: 403, text: errorBody(`No access with ${key}`) },
      {},
      "The endpoint ORIGIN refused the request (HTTP status 403): No access with [redacted]. Check the key in the variable LLM_KEY.",
    ],
    [
      "a missing model of Ollama names the commands",
      { status: 404, text: errorBody('model "test-model" not found, try pulling it first') },
      { provider: ollama },
      'Ollama at ORIGIN did not find the model "test-model" (HTTP status 404): model "test-model" not found, try pulling it first. ' +
        "Install it: ollama pull test-model. List the models: ollama list.",
    ],
    [
      "a missing model or path names the base URL",
      { status: 404, text: "404 page not found" },
      {},
      'The endpoint ORIGIN did not find the model "test-model" (HTTP status 404). Check the name of the model. Check the address of --base-url. It usually ends with "/v1".',
    ],
    [
      "too many requests has the time to wait",
      { status: 429, headers: { "retry-after": "20" }, text: errorBody("Rate limit reached") },
      {},
      "The endpoint ORIGIN limits the requests (HTTP status 429): Rate limit reached. Try again in 20 seconds, or check the limits and the credit of your account.",
    ],
    [
      "a web page",
      { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, text: "<!doctype html><p>Sign in" },
      {},
      'The endpoint ORIGIN answered with a web page (HTTP status 200) instead of the answer of a model. Check the address of --base-url. It usually ends with "/v1".',
    ],
    [
      "an error document with status 200",
      { status: 200, text: JSON.stringify({ detail: "Not loaded" }) },
      {},
      'The endpoint ORIGIN answered with application/json instead of an event stream: Not loaded. Check the address of --base-url. It usually ends with "/v1".',
    ],
    [
      "a failure of the endpoint",
      { status: 503, text: JSON.stringify({ error: "overloaded" }) },
      {},
      "The endpoint ORIGIN failed (HTTP status 503): overloaded. Try again later.",
    ],
    [
      "a model without tools",
      { status: 400, text: errorBody("registry.ollama.ai/library/x does not support tools") },
      { provider: ollama },
      "Ollama at ORIGIN rejected the request (HTTP status 400): registry.ollama.ai/library/x does not support tools. " +
        "Choose a model that can call tools, or enable them in the settings of the endpoint.",
    ],
    [
      "a message with control characters escapes them, and is cut",
      { status: 400, text: errorBody(`\u001b[31m${"x".repeat(1_000)}`) },
      {},
      `The endpoint ORIGIN rejected the request (HTTP status 400): \\x1b[31m${"x".repeat(292)}… Check the name of the model and its limits.`,
    ],
  ])("%s", async (_, reply, more, expected) => {
    expect(await messageFor(reply, more)).toBe(expected);
  });

  test("an endpoint that is not running names the command that starts it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    server.close();
    await once(server, "close");
    const { origin } = new URL(url);
    const running = await endpointModel(endpointAt(url, { provider: ollama }), "ollama");
    expect((await failureOf(ask(running))).message).toBe(
      `Ollama is not running at ${origin}. Start it with \`ollama serve\`.`,
    );
    const other = await endpointModel(endpointAt(url), "test");
    expect((await failureOf(ask(other))).message).toBe(
      `A model endpoint is not running at ${origin}. Start it, or check its address.`,
    );
  });

  test("a host that is not found", async () => {
    const model = await endpointModel(endpointAt("http://no-such-host.invalid/v1"), "test");
    expect((await failureOf(ask(model))).message).toMatch(
      /^The endpoint http:\/\/no-such-host\.invalid has a host that is not found \((?:ENOTFOUND|EAI_AGAIN)\)\. Check/,
    );
  });

  test("a connection that closes within the answer", async () => {
    const { url } = await scriptedEndpoint({ chunks: [chunk({ content: "Hel" }), "cut"] });
    const error = await failureOf(ask(await endpointModel(endpointAt(url), "test")));
    expect(error).toBeInstanceOf(EndpointError);
    expect(error.message).toContain("closed the connection before the answer was complete");
  });

  test("an error within the answer, without the key", async () => {
    const { url } = await scriptedEndpoint({ chunks: [{ error: { message: `The key ${key} is at its limit` } }] });
    const parts = await ask(await endpointModel(endpointAt(url), "test"));
    const error = parts.find(({ type }) => type === "error")?.error;
    expect(String(error)).toContain("failed within the answer: The key [redacted] is at its limit. Try again.");
  });

  test("a chunk in another format names the packages of providers", async () => {
    const { url } = await scriptedEndpoint({ chunks: [chunk({ content: 5 })] });
    const parts = await ask(await endpointModel(endpointAt(url), "test"));
    expect(String(parts.find(({ type }) => type === "error")?.error)).toMatch(
      /sent an answer in another format: .* Use a package for its provider: --provider PACKAGE#export\.$/,
    );
  });
});

test("an aborted request rejects with the abort", async () => {
  const { url } = await scriptedEndpoint(hello);
  const model = await endpointModel(endpointAt(url), "test");
  if (model.specificationVersion !== "v3") throw new Error("unexpected version");
  const request = model.doStream({ prompt: [], abortSignal: AbortSignal.abort() });
  await expect(request).rejects.toMatchObject({ name: "AbortError" });
});

test("a host reports the error of the endpoint with its cure", async () => {
  const { url } = await scriptedEndpoint({ status: 401, text: errorBody(`Incorrect API key: ${key}`) });
  const provider = builtInProviders.get("openai");
  const model = await endpointModel(endpointAt(url, { provider }), "openai");
  await using host = await createHost({ model, folder: false });
  const { reason, error } = await host.run({ messages: [{ role: "user", content: "Hello?" }] }).finished;
  expect(reason).toBe("error");
  expect(error).toMatchObject({ code: "unauthorized" });
  expect(error?.message).toBe(
    `OpenAI at ${new URL(url).origin} rejected the key (HTTP status 401). Check the key in the variable LLM_KEY.`,
  );
});

describe("a host repeats a request to an endpoint", () => {
  /** Sends a message, lets the delays pass at once, and returns them with the end. */
  async function converse(url: string) {
    const clock = fakeClock();
    const delays: number[] = [];
    const host = await createHost({
      folder: false,
      clock,
      model: await endpointModel(endpointAt(url), "test"),
      onEvent: (event) => {
        if (event.type !== "retry") return;
        delays.push(event.retry.delay);
        setImmediate(() => void clock.advance(event.retry.delay));
      },
    });
    onTestFinished(() => host.close());
    const { reason, error } = await host.run({ messages: [{ role: "user", content: "Hi" }] }).finished;
    return { reason, error, delays };
  }

  test.each<[string, ScriptedReply, number | undefined]>([
    ["that is limited, after the time of the endpoint", { status: 429, headers: { "retry-after": "20" } }, 20_000],
    ["that is limited, after milliseconds", { status: 429, headers: { "retry-after-ms": "70" } }, 70],
    ["that failed", { status: 500, text: errorBody("No.") }, undefined],
    ["to which a proxy answered with a page", { status: 502, headers: { "content-type": "text/html" } }, undefined],
    ["whose connection was closed before the answer", { chunks: ["cut"] }, undefined],
    ["whose answer ended before its first part", { chunks: [chunk({ role: "assistant" })] }, undefined],
  ])("%s", async (_name, reply, delay) => {
    const { url, requests } = await scriptedEndpoint(reply, hello);
    const { reason, delays } = await converse(url);
    expect(reason).toBe("answered");
    expect(requests).toHaveLength(2);
    expect(delays).toEqual([delay ?? expect.any(Number)]);
  });

  test("at an address without a server, with the same cure at the end", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.close();
    await once(server, "close");
    const { error, delays } = await converse(`${origin}/v1`);
    expect(delays).toHaveLength(3);
    expect(error).toBeInstanceOf(LocalError);
    expect(error).toMatchObject({ code: "unreachable" });
    expect(error?.message).toBe(
      `A model endpoint is not running at ${origin}. Start it, or check its address. The request was sent 4 times.`,
    );
  });

  test.each<[string, ScriptedReply]>([
    ["the key is refused", { status: 401 }],
    ["the model does not exist", { status: 404 }],
    ["the request is refused", { status: 400 }],
    ["a page is the answer", { status: 200, headers: { "content-type": "text/html" } }],
    ["the start of the answer has arrived", { chunks: [chunk({ content: "Hel" }), "cut"] }],
  ])("but not if %s", async (_name, reply) => {
    const { url, requests } = await scriptedEndpoint(reply, hello);
    expect(await converse(url)).toMatchObject({ reason: "error", delays: [] });
    expect(requests).toHaveLength(1);
  });
});
