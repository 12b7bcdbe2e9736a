import { LocalError } from "../../rpc/errors.ts";
import { Cancelled, Declined, ToolError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { readElicitResult } from "../../mcp/elicitation.ts";
import { Method } from "../../mcp/methods.ts";
import { type Root, readRoots } from "../../mcp/roots.ts";
import { type CreateMessageResult, findToolImbalance, readCreateMessageResult } from "../../mcp/sampling.ts";
import { toRequestedSchema, withoutUnrequested } from "../../mcp/form-schema.ts";
import { compileSchema } from "../../schema/validation/compile-schema.ts";
import type { Call, Link } from "../core/call.ts";
import { ReplayChannel } from "./by-replay.ts";
import { RequestChannel } from "./by-request.ts";
import { checkNames, isRecord } from "../checks/known-members.ts";
import { type InputChannel, InvalidResponse, type ServerRequest, Unanswered } from "../core/input-channel.ts";
import { capabilityFor, warnOfSecrets } from "./input-request.ts";
import type { FormElicitation, InputOptions, SampleQuestion, UrlElicitation } from "../core/context.ts";
import { type Schema, isStandardSchema } from "../../schema/standard-schema.ts";
import type { ServerCore } from "../core/server-core.ts";

/** Opens the input channel of a call: requests in a session, replay of the call without one. */
export async function openInputChannel(call: Call, link: Link): Promise<InputChannel> {
  call.core.requireOneCopy(LocalError);
  return call.session ? new RequestChannel(call, call.session, link) : ReplayChannel.open(call);
}

/**
 * Sends an input request and returns the response. If there is none in time, returns the result of `fallback`, or throws a
 * `ToolError`. Throws a `TypeError` for invalid options.
 */
export async function sendRequest<T, F>(
  call: Call,
  request: ServerRequest<T>,
  options: InputOptions<F> = {},
): Promise<T | F> {
  const { askTimeout, stateTtl } = call.core.limits;
  checkNames("timeout:number fallback:function", options, "options");
  const { fallback, timeout = fallback && Math.min(askTimeout, stateTtl) } = options;
  if (timeout !== undefined && !(timeout >= 1 && timeout <= stateTtl))
    throw new TypeError(`"timeout" must be from 1 to ${stateTtl} ms (limits.stateTtl); got ${timeout}`);
  const channel = await call.input;
  try {
    return await channel.request({ ...request, timeout });
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    if (fallback) return fallback(error);
    throw new ToolError(error.message, { cause: error });
  }
}

const questionMembers =
  "message:string schema=requestedSchema,schemas url key:string elicitationId onProgress:function meta:object=_meta the_second_parameter=timeout,fallback,signal";

/** The request to fill in a form or to visit a URL. Throws a `TypeError` for a question with other members. */
export function elicitRequest(core: ServerCore, question: FormElicitation<Schema> | UrlElicitation): ServerRequest {
  checkNames(questionMembers, question, "question");
  return "url" in question ? urlRequest(question) : formRequest(core, question);
}

/** The request to fill in a form. Its response is the parsed content. */
function formRequest(core: ServerCore, request: FormElicitation<Schema>): ServerRequest {
  const { message, schema, key, onProgress, meta } = request;
  const compiledSchema = compileSchema(reuseLiteral(schema), "input");
  const requestedSchema = toRequestedSchema(compiledSchema.json);
  // The form has no format "password", so the schema of the author is checked.
  warnOfSecrets(core, compiledSchema.json);
  return {
    method: Method.elicit,
    params: {
      mode: "form",
      message,
      requestedSchema,
      ...(meta && { _meta: meta }),
    },
    key,
    onProgress,
    requires: { elicitation: { form: {} } },
    read: async (result) => {
      const { content } = withoutUnrequested(acceptedContent(result) ?? {}, requestedSchema);
      const outcome = await compiledSchema.validate(content);
      if (!outcome.issues) return outcome.value;
      const issues = outcome.issues.map((issue) => `${issue.path || "/"}: ${issue.message}`).join("; ");
      throw new InvalidResponse(`The answer to "${message}" does not match the requested schema: ${issues}`);
    },
  };
}

/** JSON Schemas that handlers have written as literals, by their text. */
const literals = new Map<string, Schema>();
const maxLiterals = 100;
const maxLiteralLength = 10_000;

/**
 * Returns an equal schema of an earlier call, if there is one. A literal in a handler is a new object in each call, and compiling
 * it takes longer than comparing its text.
 */
function reuseLiteral(schema: Schema): Schema {
  if (isStandardSchema(schema)) return schema;
  const text = JSON.stringify(schema) as string | undefined;
  if (text === undefined || text.length > maxLiteralLength) return schema;
  const knownSchema = literals.get(text);
  if (knownSchema) return knownSchema;
  // Throws for an object that is no schema. Its text could be that of one.
  compileSchema(schema, "input");
  // The handler may change its object later.
  const copy = JSON.parse(text) as Schema;
  literals.set(text, copy);
  if (literals.size > maxLiterals) literals.delete(literals.keys().next().value!);
  return copy;
}

/** The request to visit a URL. "accept" means that the user agreed to go there, not that anything has been done. */
function urlRequest(request: UrlElicitation): ServerRequest<void> {
  const { message, url, key, elicitationId, onProgress, meta } = request;
  const id = elicitationId === undefined ? {} : { elicitationId };
  return {
    method: Method.elicit,
    params: { mode: "url", message, url, ...id, ...(meta && { _meta: meta }) },
    key,
    onProgress,
    requires: { elicitation: { url: {} } },
    read: (result) => {
      acceptedContent(result);
    },
  };
}

/** The request to sample the model of the client. */
export function samplingRequest(question: SampleQuestion): ServerRequest<CreateMessageResult> {
  if (!isRecord(question)) throw new TypeError("sample needs { messages, maxTokens }");
  const { key, onProgress, ...params } = question;
  const imbalance = Array.isArray(params.messages) ? findToolImbalance(params.messages) : undefined;
  if (imbalance) throw new TypeError(`sample: ${imbalance}.`);
  return {
    method: Method.createMessage,
    params,
    key,
    onProgress,
    requires: capabilityFor(Method.createMessage, { ...params }),
    read: readAs(readCreateMessageResult),
  };
}

/** The request for the roots of the client. */
export function rootsRequest(): ServerRequest<Root[]> {
  return { method: Method.listRoots, params: {}, key: undefined, requires: { roots: {} }, read: readAs(readRoots) };
}

function acceptedContent(result: unknown): JsonObject | undefined {
  const { action, content } = readAs(readElicitResult)(result);
  if (action === "decline") throw new Declined();
  if (action === "cancel") throw new Cancelled();
  return content;
}

/** Makes a malformed response an `InvalidResponse`, so that the request is sent again. */
function readAs<T>(read: (result: unknown) => T): (result: unknown) => T {
  return (result) => {
    try {
      return read(result);
    } catch (error) {
      throw error instanceof LocalError ? new InvalidResponse(error.message) : error;
    }
  };
}
