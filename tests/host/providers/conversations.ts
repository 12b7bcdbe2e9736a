import assert from "node:assert/strict";
import type { JsonObject } from "mcparley";
import type { Message } from "../../../packages/host/src/conversation/messages.ts";
import type { LanguageModel } from "../../../packages/host/src/model/language-model.ts";
import type { ModelPart, ModelRequest } from "../../../packages/host/src/model/model-request.ts";
import { streamModel } from "../../../packages/host/src/model/stream-model.ts";
import { joinPieces } from "../../../packages/host/src/model/stream-parts.ts";
import {
  chunk,
  type EndpointReply,
  openAiEndpoint,
  type OpenAiEndpoint,
  usageChunk,
} from "../../support/openai-endpoint.ts";

/** Returns the model of a provider package that sends its requests to the endpoint. */
export type ConnectModel = (settings: { name: string; baseURL: string; apiKey: string }) => LanguageModel;

/**
 * Conversations with a scripted endpoint, by the checked behaviour. Each throws if the model of a provider package is not used
 * correctly. They run in each version of the specification.
 */
export const providerConversations: ReadonlyMap<string, (connect: ConnectModel) => Promise<void>> = new Map([
  ["streams a text with its usage", text],
  ["streams the arguments of a tool call, and sends its result", toolCall],
  ["sends images of the user and of a tool", images],
  ["reports a rejected key without the key", rejectedKey],
  ["reports an error of the provider within the stream", errorInStream],
  ["closes the connection of an aborted request", aborted],
]);

const apiKey = "not-a-known-form-of-key-4711";

/** An endpoint, and a function that reads all parts of an answer. */
interface Talk {
  readonly endpoint: OpenAiEndpoint;
  ask(this: void, request: Partial<ModelRequest>): Promise<ModelPart[]>;
}

async function talk(
  connect: ConnectModel,
  replies: readonly EndpointReply[],
  check: (talk: Talk) => Promise<void>,
): Promise<void> {
  const endpoint = await openAiEndpoint(replies);
  const model = connect({ name: "local", baseURL: endpoint.url, apiKey });
  const ask: Talk["ask"] = async (request) => {
    const parts: ModelPart[] = [];
    for await (const part of streamModel(model, { messages: [question], ...request })) parts.push(part);
    return parts;
  };
  try {
    await check({ endpoint, ask });
  } finally {
    await endpoint.close();
  }
}

const question: Message = { role: "user", content: "How much is 1 + 2?" };

async function text(connect: ConnectModel): Promise<void> {
  const reply = {
    chunks: [chunk({ content: "It is " }), chunk({ content: "3." }), chunk({}, "stop"), usageChunk(7, 2)],
  };
  await talk(connect, [reply], async ({ endpoint, ask }) => {
    assert.deepEqual(await ask({ maxOutputTokens: 9, temperature: 0.5, stopSequences: ["END"] }), [
      { type: "text", text: "It is ", block: 0 },
      { type: "text", text: "3.", block: 0 },
      { type: "finish", reason: "stop", raw: "stop", usage: { inputTokens: 7, outputTokens: 2 } },
    ]);
    const [request] = endpoint.requests;
    const { model, max_tokens, temperature, stop, messages } = bodyOf(request);
    assert.deepEqual([model, max_tokens, temperature, stop], ["test-model", 9, 0.5, ["END"]]);
    assert.deepEqual(messages, [question]);
    assert.equal(request?.headers.authorization, `Bearer ${apiKey}`);
  });
}

async function toolCall(connect: ConnectModel): Promise<void> {
  const first = {
    chunks: [
      callChunk({ id: "c1", type: "function", function: { name: "add", arguments: "" } }),
      callChunk({ function: { arguments: '{"a":1,' } }),
      callChunk({ function: { arguments: '"b":2}' } }),
      chunk({}, "tool_calls"),
    ],
  };
  const second = { chunks: [chunk({ content: "3" }), chunk({}, "stop")] };
  await talk(connect, [first, second], async ({ endpoint, ask }) => {
    const inputSchema = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } };
    const tools = [{ name: "add", description: "Adds numbers.", inputSchema }];
    const parts = await ask({ tools, toolChoice: "auto" });
    assert.deepEqual(joinPieces(parts), [{ type: "tool-call", callId: "c1", name: "add", input: '{"a":1,"b":2}' }]);
    const usage = { inputTokens: 0, outputTokens: 0 };
    assert.deepEqual(parts.at(-1), { type: "finish", reason: "tool-calls", raw: "tool_calls", usage });
    await ask({ tools, messages: [question, ...exchange([{ type: "text", text: "3" }])] });
    const [one, two] = endpoint.requests.map(bodyOf);
    const definition = { name: "add", description: "Adds numbers.", parameters: inputSchema };
    assert.deepEqual(one?.tools, [{ type: "function", function: definition }]);
    const call = { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } };
    const result = { role: "tool", tool_call_id: "c1", content: "3" };
    assert.deepEqual(two?.messages.slice(1), [{ role: "assistant", content: null, tool_calls: [call] }, result]);
  });
}

interface ChatBody extends JsonObject {
  messages: { content: unknown }[];
}

function bodyOf(request: { readonly body: unknown } | undefined): ChatBody {
  assert.ok(request, "The endpoint received no request.");
  return request.body as ChatBody;
}

function callChunk(part: object): object {
  return chunk({ tool_calls: [{ index: 0, ...part }] });
}

/** Returns the messages of a call and its result. */
function exchange(content: Extract<Message, { role: "tool" }>["content"][number]["content"]): Message[] {
  const call = { callId: "c1", name: "add" };
  return [
    { role: "assistant", content: [{ type: "tool-call", ...call, arguments: { a: 1, b: 2 } }] },
    { role: "tool", content: [{ type: "tool-result", ...call, content, isError: false }] },
  ];
}

async function images(connect: ConnectModel): Promise<void> {
  const image = { type: "file", mediaType: "image/png", data: "aW1hZ2U=" } as const;
  const reply = { chunks: [chunk({ content: "A picture." }), chunk({}, "stop")] };
  await talk(connect, [reply], async ({ endpoint, ask }) => {
    await ask({ messages: [{ role: "user", content: [image] }, ...exchange([{ type: "text", text: "see" }, image])] });
    const [user, , result, files] = bodyOf(endpoint.requests[0]).messages;
    const sentImage = { type: "image_url", image_url: { url: "data:image/png;base64,aW1hZ2U=" } };
    assert.deepEqual(user?.content, [sentImage]);
    assert.equal(result?.content, "see\n[file 1: image/png, 5 bytes, in the next message]");
    assert.ok(JSON.stringify(files?.content).includes(JSON.stringify(sentImage)));
  });
}

async function rejectedKey(connect: ConnectModel): Promise<void> {
  const body = { error: { message: `Incorrect key provided: ${apiKey}`, type: "auth", code: "invalid_api_key" } };
  await talk(connect, [{ status: 401, body }], async ({ ask }) => {
    const error = await failed(ask({}));
    assert.match(error.message, /rejected the credentials \(HTTP status 401\)/);
    assert.ok(!show(error).includes(apiKey));
    assert.ok(!show(error).includes("How much"));
  });
}

async function errorInStream(connect: ConnectModel): Promise<void> {
  const reply = {
    chunks: [chunk({ content: "It" }), { error: { message: "overloaded", type: "server", code: null } }],
  };
  await talk(connect, [reply], async ({ ask }) => {
    const error = await failed(ask({}));
    assert.match(error.message, /failed: overloaded/);
    assert.ok(!show(error).includes("How much"));
  });
}

async function aborted(connect: ConnectModel): Promise<void> {
  await talk(connect, [{ chunks: [chunk({ content: "It is" }), "hang"] }], async ({ endpoint, ask }) => {
    const controller = new AbortController();
    const model = connect({ name: "local", baseURL: endpoint.url, apiKey });
    const error = await failed(
      (async () => {
        for await (const part of streamModel(model, { messages: [question], signal: controller.signal })) {
          assert.equal(part.type, "text");
          controller.abort(new Error("enough"));
        }
      })(),
    );
    assert.equal(error.message, "enough");
    await endpoint.disconnected;
    const before = await failed(ask({ signal: AbortSignal.abort(new Error("too late")) }));
    assert.equal(before.message, "too late");
    assert.equal(endpoint.requests.length, 1);
  });
}

async function failed(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Error, "The request did not fail.");
  return error;
}

/** Returns all that a log could show of an error. */
function show(error: Error): string {
  return `${error.stack}${JSON.stringify(error, Object.getOwnPropertyNames(error))}`;
}
