import { ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";

/**
 * The error that says a resource does not exist; its code is the one that the client's revision knows.
 *
 * Throw it in a `read` whose URI matches a template and yet names nothing.
 */
export function resourceNotFound(uri: string): ProtocolError {
  return new ProtocolError(ErrorCode.ResourceNotFound, "Resource not found", { data: { uri } });
}
