import { LocalError } from "../../rpc/errors.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
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
import { type InputChannel, InvalidResponse, type ServerRequest } from "../core/input-channel.ts";
import { capabilityFor, warnOfSecrets } from "./input-request.ts";
import type { FormElicitation, SampleQuestion, UrlElicitation } from "../core/context.ts";
import type { Schema } from "../../schema/standard-schema.ts";
import type { ServerCore } from "../core/server-core.ts";

/** Opens the input channel of a call: requests in a session, replay of the call without one. */
export async function openInputChannel(call: Call, link: Link): Promise<InputChannel> {
  call.core.requireOneCopy(LocalError);
  return call.session ? new RequestChannel(call, call.session, link) : ReplayChannel.open(call);
}

/** The request to fill in a form. Its response is the parsed content. */
export function formRequest(core: ServerCore, request: FormElicitation<Schema>): ServerRequest {
  const { message, schema, key, onProgress, meta } = request;
  const compiledSchema = compileSchema(schema, "input");
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

/** The request to visit a URL. "accept" means that the user agreed to go there, not that anything has been done. */
export function urlRequest(request: UrlElicitation): ServerRequest<void> {
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
export function samplingRequest({ key, onProgress, ...params }: SampleQuestion): ServerRequest<CreateMessageResult> {
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
