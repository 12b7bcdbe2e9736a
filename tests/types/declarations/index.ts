import {
  Cancelled,
  Declined,
  ErrorCode,
  LocalError,
  McpError,
  ProtocolError,
  ToolError,
  encode,
  isResourceNotFound,
  loggingLevels,
  printable,
  printableJson,
  redact,
  supportedVersions,
  systemClock,
  wellFormedJson,
} from "mcparley";

export const codes = ErrorCode;
export const failed = [new Cancelled(), new Declined(), new LocalError("closed", "a"), new ProtocolError(1, "a")];
export const toolFailed = new ToolError("a");
export const isOurs = (error: unknown) => error instanceof McpError && error;
export const line = encode({ jsonrpc: "2.0", method: "ping" });
export const isMissing = (error: unknown) => isResourceNotFound(error);
export const levels = loggingLevels;
export const versions = supportedVersions;
export const clock = systemClock;
export const shown = [printable("a"), printableJson({ a: 1 }), redact("a")];
export const json = wellFormedJson({ a: 1 });
