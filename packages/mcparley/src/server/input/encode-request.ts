import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { ElicitParams, ElicitResult } from "../../mcp/elicitation.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { without } from "../../mcp/revisions/encoder.ts";
import type { CreateMessageParams } from "../../mcp/sampling.ts";
import type { Call } from "../dispatch/call.ts";
import { warnOfSecrets } from "../warnings.ts";

/** An input request as the revision of its call expresses it, and a function that reads the answer. */
export interface EncodedRequest {
  params: JsonObject;
  decode: (result: JsonObject) => JsonObject;
}

/** Encodes an input request for the revision of its call. */
export function encodeRequest(call: Call, method: string, params: JsonObject): EncodedRequest {
  const { encoder } = call;
  if (method === Method.elicit) {
    if (isObject(params.requestedSchema)) warnOfSecrets(call.core, params.requestedSchema);
    const { params: encoded, decode } = encoder.elicitation(withoutId(call, params));
    return {
      params: encoded as unknown as JsonObject,
      decode: (result) => decode(result as unknown as ElicitResult) as unknown as JsonObject,
    };
  }
  const sampling = method === Method.createMessage;
  const encoded = sampling ? encoder.createMessage(withoutContext(call, params)) : params;
  return { params: encoded as JsonObject, decode: (result) => result };
}

/** Removes the id of a visit if the revision does not announce the completion of visits. */
function withoutId({ revision }: Call, params: JsonObject): ElicitParams {
  const hasIds = revision.serverNotifications.has(Notification.elicitationComplete);
  return (hasIds ? params : without(params, "elicitationId")) as unknown as ElicitParams;
}

/** Removes the context of servers if the client has not declared it (client/sampling, Capabilities). */
function withoutContext({ revision, peer }: Call, params: JsonObject): CreateMessageParams {
  const { includeContext: _, ...rest } = params;
  const isDeclared = !revision.contextCapability || peer.capabilities.sampling?.context;
  return (isDeclared ? params : rest) as unknown as CreateMessageParams;
}
