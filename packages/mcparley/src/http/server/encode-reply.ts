import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonRpcResponse, Prepared, encode, failure } from "../../rpc/messages.ts";
import type { ServerCore } from "../../server/dispatch/core.ts";

/** Serialises a response. A result that is no JSON is a defect of its handler: reported whole, and hidden from the client. */
export function encodeReply(core: ServerCore, message: JsonRpcResponse): string {
  try {
    return encode(message);
  } catch (error) {
    core.report(error, undefined);
    return encode(failure(message.id, { code: ErrorCode.InternalError, message: "Internal error" }));
  }
}

/** A prepared result of more characters is sent as bytes: to put it together with the rest of its response copies it thrice. */
const longText = 2_048;

const ends = new WeakMap<Prepared, Uint8Array>();

/** The end of a response, from its result on, where that was prepared and is long: in bytes, which are made once. */
export function preparedEnd(message: JsonRpcResponse): Uint8Array | undefined {
  if (!("result" in message) || !(message.result instanceof Prepared)) return undefined;
  const { result } = message;
  if (result.json.length <= longText) return undefined;
  const known = ends.get(result);
  if (known) return known;
  const end = new TextEncoder().encode(`${result.json}}`);
  ends.set(result, end);
  return end;
}
