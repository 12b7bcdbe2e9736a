import { type JsonObject, Prepared } from "../../rpc/messages.ts";
import type { Implementation } from "../capabilities.ts";
import type { ContentBlock } from "../content.ts";
import type { ElicitParams, ElicitResult } from "../elicitation.ts";
import { completeType } from "../input-required.ts";
import { MetaKey, Method } from "../methods.ts";
import type { GetPromptResult, Prompt } from "../prompts.ts";
import type { ReadResourceResult, Resource, ResourceTemplate } from "../resources.ts";
import type { CreateMessageParams } from "../sampling.ts";
import type { CallToolResult, Tool } from "../tools.ts";
import type { Revision } from "./revision.ts";

/** The parameters of an elicitation as one revision encodes them, and a function that decodes the client's answer. */
export interface EncodedElicitation {
  /** The params to send. */
  params: ElicitParams;
  /** Decodes the answer to these params. */
  decode: (result: ElicitResult) => ElicitResult;
}

/**
 * Encodes the library's values for one revision.
 *
 * The library's types are those of the newest revision. Each function removes or replaces the parts that the revision
 * does not define. A value that an old client cannot show is replaced by one that it can show, so that nothing is lost
 * silently.
 */
export interface Encoder {
  tool: (tool: Tool) => Tool;
  prompt: (prompt: Prompt) => Prompt;
  resource: (resource: Resource) => Resource;
  resourceTemplate: (template: ResourceTemplate) => ResourceTemplate;
  content: (content: ContentBlock) => ContentBlock;
  callToolResult: (result: CallToolResult) => CallToolResult;
  getPromptResult: (result: GetPromptResult) => GetPromptResult;
  readResourceResult: (result: ReadResourceResult) => ReadResourceResult;
  implementation: (implementation: Implementation) => Implementation;
  progress: (params: JsonObject) => JsonObject;
  elicitation: (params: ElicitParams) => EncodedElicitation;
  createMessage: (params: CreateMessageParams) => CreateMessageParams;
}

const same = <T>(value: T): T => value;

/** The encoder of the newest revision: every function returns its argument. */
export const identity: Encoder = {
  tool: same,
  prompt: same,
  resource: same,
  resourceTemplate: same,
  content: same,
  callToolResult: same,
  getPromptResult: same,
  readResourceResult: same,
  implementation: same,
  progress: same,
  elicitation: (params) => ({ params, decode: same }),
  createMessage: same,
};

/**
 * Returns the encoder of an older revision: that of the next newer revision with some functions replaced. Each replacement
 * calls the function that it replaces if both have an effect on the same value.
 *
 * `content` is also used for the content of results. `callToolResult` encodes the other members.
 */
export function deriveEncoder(newer: Encoder, replacements: Partial<Encoder>): Encoder {
  const encoder = { ...newer, ...replacements };
  const { content } = replacements;
  if (!content) return encoder;
  return {
    ...encoder,
    callToolResult: (result) => encoder.callToolResult({ ...result, content: result.content.map(content) }),
    getPromptResult: (result) => mapMessages(result, content),
  };
}

/** Encodes the content of messages. */
export function mapMessages<C, T extends { messages: { content: C }[] }>(value: T, encode: (content: C) => C): T {
  return { ...value, messages: value.messages.map((message) => ({ ...message, content: encode(message.content) })) };
}

/** Returns a copy of an object without some of its members, or the object itself if it has none of them. */
export function omit<T extends object>(value: T, ...keys: string[]): T {
  if (!keys.some((key) => key in value)) return value;
  // `delete` would make the object slow to serialize, which is the next thing that happens to it.
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as T;
}

/** The request that a result answers, and the revision that the result is encoded for. */
interface ResultTarget {
  readonly revision: Revision;
  readonly encoder: Encoder;
  readonly method: string;
}

/**
 * Encodes a result for a revision. This is the last step before the result is serialized.
 *
 * Pages of lists are not encoded here; each entry is encoded when its page is prepared.
 */
export function encodeResult(
  { revision, encoder, method }: ResultTarget,
  result: JsonObject | Prepared,
  serverInfo: Implementation,
): JsonObject | Prepared {
  if (result instanceof Prepared) return result;
  let encodedResult: object = result;
  if (method === Method.callTool && "content" in result) {
    encodedResult = encoder.callToolResult(result as unknown as CallToolResult);
  } else if (method === Method.getPrompt && "messages" in result) {
    encodedResult = encoder.getPromptResult(result as unknown as GetPromptResult);
  } else if (method === Method.readResource && "contents" in result) {
    encodedResult = encoder.readResourceResult(result as unknown as ReadResourceResult);
  }
  return revision.typedResults ? withEnvelope(encodedResult as JsonObject, serverInfo) : (encodedResult as JsonObject);
}

/**
 * Adds the members that every result of a modern revision has: `resultType`, unless it is present, and the server's name.
 */
export function withEnvelope(result: JsonObject, serverInfo: Implementation): JsonObject {
  const meta = result._meta ? { ...result._meta, [MetaKey.serverInfo]: serverInfo } : metaOf(serverInfo);
  return { resultType: completeType, ...result, _meta: meta };
}

/** The `_meta` of results that have no other members in it. Each server has one object for all of them. */
const metas = /* @__PURE__ */ new WeakMap<Implementation, JsonObject>();

function metaOf(serverInfo: Implementation): JsonObject {
  let meta = metas.get(serverInfo);
  if (!meta) metas.set(serverInfo, (meta = Object.freeze({ [MetaKey.serverInfo]: serverInfo })));
  return meta;
}
