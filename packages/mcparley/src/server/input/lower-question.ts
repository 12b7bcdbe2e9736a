import type { JsonObject } from "../../rpc/messages.ts";
import type { ElicitParams, ElicitResult } from "../../mcp/elicitation.ts";
import { Method } from "../../mcp/methods.ts";
import type { CreateMessageParams } from "../../mcp/sampling.ts";
import type { Call } from "../dispatch/call.ts";

/** An input request as the revision of its call expresses it, and a function that reads the answer. */
export interface LoweredQuestion {
  params: JsonObject;
  lift: (result: JsonObject) => JsonObject;
}

/** Encodes an input request for the revision of its call. */
export function lowerQuestion(call: Call, method: string, params: JsonObject): LoweredQuestion {
  const { lowering } = call;
  if (method === Method.elicit) {
    const { params: lowered, lift } = lowering.elicitation(params as unknown as ElicitParams);
    return {
      params: lowered as unknown as JsonObject,
      lift: (result) => lift(result as unknown as ElicitResult) as unknown as JsonObject,
    };
  }
  const sampling = method === Method.createMessage;
  const lowered = sampling ? lowering.createMessage(withoutContext(call, params)) : params;
  return { params: lowered as JsonObject, lift: (result) => result };
}

/** Removes the context of servers if the client has not declared it (client/sampling, Capabilities). */
function withoutContext({ revision, peer }: Call, params: JsonObject): CreateMessageParams {
  const { includeContext: _, ...rest } = params;
  const isDeclared = !revision.contextCapability || peer.capabilities.sampling?.context;
  return (isDeclared ? params : rest) as unknown as CreateMessageParams;
}
