import { ErrorCode } from "../jsonrpc/errors.ts";
import { type JsonRpcResponse, encode, failure } from "../jsonrpc/messages.ts";
import type { ServerCore } from "../server/core.ts";

/** Serialises a response. A result that is no JSON is a defect of its handler: reported whole, and hidden from the client. */
export function encodeReply(core: ServerCore, message: JsonRpcResponse): string {
  try {
    return encode(message);
  } catch (error) {
    core.report(error, undefined);
    return encode(failure(message.id, { code: ErrorCode.InternalError, message: "Internal error" }));
  }
}
