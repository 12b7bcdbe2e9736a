import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { ContentBlock } from "mcparley/client";
import type { Message, ToolOutcome } from "../../../packages/host/src/conversation/messages.ts";
import { ResultStore } from "../../../packages/host/src/conversation/server-text.ts";
import { readBlocks, toResultPart } from "../../../packages/host/src/conversation/tool-results.ts";
import type { LanguageModel } from "../../../packages/host/src/model/language-model.ts";
import type { ModelPart } from "../../../packages/host/src/model/model-request.ts";
import { streamModel } from "../../../packages/host/src/model/stream-model.ts";
import type { Usage } from "../../../packages/host/src/values/usage.ts";

/** A package of the AI SDK with one interface of its provider. */
export interface FileProvider {
  /** Makes the model, which sends its requests below the URL. */
  readonly connect: (baseURL: string) => LanguageModel;
  /** The events of the answer "Hello.", as JSON. Each has its type as the name of the event, if it has one. */
  readonly answer: readonly object[];
  /** The usage that the answer reports. */
  readonly usage: Usage;
  /** Media types that the provider accepts, with the member of the request that has the base64. */
  readonly accepts: Readonly<Record<string, string>>;
}

/** The data of a file, which is found in the body of a request. */
const data = (name: string): string => Buffer.from(`content of the file ${name}`).toString("base64");
const image = (name: string, mimeType: string): ContentBlock => ({ type: "image", data: data(name), mimeType });
const blob = (name: string, mimeType?: string): ContentBlock => ({
  type: "resource",
  resource: { uri: `file:///${name}`, blob: data(name), ...(mimeType !== undefined && { mimeType }) },
});

/** The files of results, by their names, with the media type in which a provider can accept them. */
const files: readonly (readonly [name: string, mediaType: string | undefined, block: ContentBlock])[] = [
  ["png", "image/png", image("png", "image/png")],
  ["jpeg", "image/jpeg", image("jpeg", "image/jpg")],
  ["wav", "audio/wav", { type: "audio", data: data("wav"), mimeType: "audio/x-wav" }],
  ["mp3", "audio/mpeg", { type: "audio", data: data("mp3"), mimeType: "audio/mp3" }],
  ["pdf", "application/pdf", blob("pdf", "application/pdf")],
  ["svg", undefined, image("svg", "image/svg+xml")],
  ["unknown", undefined, blob("unknown")],
  ["zip", undefined, blob("zip", "application/zip")],
];

const call = { callId: "call_1", name: "notes__read", origin: { server: "notes", name: "read" } };
const limits = { maxBytes: 32 * 1024, store: new ResultStore() };

/** Returns a conversation whose last message is the result of a call. */
function withResult(content: ContentBlock[], isError = false): Message[] {
  const outcome: ToolOutcome = { status: "result", result: { content, isError } };
  const { callId, name } = call;
  return [
    { role: "user", content: "Read the file." },
    { role: "assistant", content: [{ type: "tool-call", callId, name, arguments: {} }] },
    { role: "tool", content: [toResultPart(call, outcome, limits)] },
  ];
}

/** Checks by their names. Each throws if a model of the provider does not receive files in the form that the provider accepts. */
export const fileConversations: ReadonlyMap<string, (provider: FileProvider) => Promise<void>> = new Map([
  ["sends each file of a result as a file, or one line that says why not", resultFiles],
  ["sends the file of a failed result", failedResult],
  ["sends the files of the user, and the text of text files", userFiles],
  ["sends a resource link and a text blob of a result as text", texts],
  ["sends the request again without files that the endpoint refuses", refusedFiles],
  ["reports the tokens of the cache and of the reasoning", usage],
]);

async function resultFiles(provider: FileProvider): Promise<void> {
  for (const [name, mediaType, block] of files) {
    const [body] = await requestsOf(provider, withResult([{ type: "text", text: "Here." }, block]));
    checkFile(body, { name, mediaType, provider });
  }
  const [body] = await requestsOf(provider, withResult(files.map(([, , block]) => block)));
  for (const [name, mediaType] of files) checkFile(body, { name, mediaType, provider });
}

async function failedResult(provider: FileProvider): Promise<void> {
  const [body] = await requestsOf(provider, withResult([image("png", "image/png")], true));
  checkFile(body, { name: "png", mediaType: "image/png", provider });
}

async function userFiles(provider: FileProvider): Promise<void> {
  const { files: parts } = readBlocks(files.map(([, , block]) => block));
  const notes = { type: "file", mediaType: "text/csv", data: data("csv") } as const;
  const [body] = await requestsOf(provider, [{ role: "user", content: [...parts, notes] }]);
  for (const [name, mediaType] of files.slice(0, 5)) checkFile(body, { name, mediaType, provider });
  assert.match(JSON.stringify(body), /content of the file csv/);
  assert.ok(!JSON.stringify(body).includes(data("csv")));
}

async function texts(provider: FileProvider): Promise<void> {
  const link: ContentBlock = { type: "resource_link", uri: "note://1", name: "one" };
  const [body] = await requestsOf(provider, withResult([link, blob("json", "application/json")]));
  assert.match(JSON.stringify(body), /Link to resource note:\/\/1.*content of the file json/s);
  assert.ok(!JSON.stringify(body).includes(data("json")));
}

async function refusedFiles(provider: FileProvider): Promise<void> {
  const bodies = await requestsOf(provider, withResult([image("png", "image/png")]), [400]);
  assert.equal(bodies.length, 2);
  checkFile(bodies[0], { name: "png", mediaType: "image/png", provider });
  checkFile(bodies[1], { name: "png", mediaType: undefined, provider });
}

async function usage(provider: FileProvider): Promise<void> {
  const parts: ModelPart[] = [];
  await requestsOf(provider, [{ role: "user", content: "Hello" }], [], parts);
  const finish = parts.at(-1);
  assert.deepEqual(finish?.type === "finish" && finish.usage, provider.usage);
}

/** Checks that a request has a file only where the provider accepts it, and otherwise a line with the reason. */
function checkFile(
  body: unknown,
  { name, mediaType, provider }: { name: string; mediaType: string | undefined; provider: FileProvider },
): void {
  const member = mediaType === undefined ? undefined : provider.accepts[mediaType];
  const paths = pathsOf(body, data(name));
  if (member !== undefined) return assert.deepEqual(paths, [member], `the file ${name}`);
  assert.deepEqual(paths, [], `the file ${name}`);
  const bytes = Buffer.byteLength(data(name), "base64");
  assert.match(JSON.stringify(body), new RegExp(`${bytes} bytes: left out, because`), `the line for ${name}`);
}

/** Returns the names of the members whose values contain a text. */
function pathsOf(value: unknown, searched: string, name = ""): string[] {
  if (typeof value === "string") return value.includes(searched) ? [name] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    pathsOf(member, searched, Array.isArray(value) ? name : name === "" ? key : `${name}.${key}`),
  );
}

/**
 * Sends messages to a scripted endpoint, and returns the bodies of the requests. The first ones are refused with the statuses, and the next
 * one is answered.
 */
async function requestsOf(
  { connect, answer }: FileProvider,
  messages: readonly Message[],
  refusals: readonly number[] = [],
  parts: ModelPart[] = [],
): Promise<unknown[]> {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(JSON.parse(body));
      const status = refusals[bodies.length - 1];
      if (status !== undefined) {
        response.writeHead(status, { "content-type": "application/json" });
        return response.end('{"error":{"message":"this model does not support images","type":"invalid","code":400}}');
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of answer) {
        const name = "type" in event ? `event: ${String(event.type)}\n` : "";
        response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
      }
      return response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const model = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const inputSchema = { type: "object", properties: {} };
    const tools = [{ name: call.name, description: "Reads.", inputSchema }];
    for await (const part of streamModel(model, { messages, tools })) parts.push(part);
    assert.ok(
      parts.some((part) => part.type === "text"),
      "The answer has no text.",
    );
    return bodies;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
