import { ErrorCode } from "../../mcp/errors.ts";
import type { ProtocolError } from "../../rpc/errors.ts";
import type { Call } from "./call.ts";

/** Reports to the server's `onError` that a handler's error was sent with another code. A defect of the server, not of the client. */
export function report(call: Call, error: ProtocolError): void {
  const why = `${call.revision.version} reserves the error code ${error.code}, so ${ErrorCode.InvalidRequest} was sent.`;
  const cure = "Use a code outside of -32768 to -32000.";
  call.core.report(new TypeError(`${why} ${cure}`, { cause: error }), call);
}
