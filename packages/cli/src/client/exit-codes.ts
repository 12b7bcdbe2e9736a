import { LocalError, type LocalErrorCode, ProtocolError, ToolError } from "mcparley";
import { UsageError } from "./io.ts";

/** What the client commands exit with. A number keeps its meaning from release to release. */
export const exitCodes = {
  ok: 0,
  usage: 1,
  protocol: 2,
  authorization: 3,
  unreachable: 4,
  toolError: 5,
  timeout: 6,
  declined: 7,
  internal: 70,
  interrupted: 130,
} as const;

/** One line for each exit code, as `--help` shows them. */
export const exitCodeMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.ok, "done"],
  [exitCodes.usage, "the command line, or a file it names, is wrong; no call was made"],
  [exitCodes.protocol, "the server refused the request, or broke the protocol"],
  [exitCodes.authorization, "the server wants you to sign in, or gives you too few rights"],
  [exitCodes.unreachable, "no connection, or it was lost"],
  [exitCodes.toolError, "the tool ran and failed"],
  [exitCodes.timeout, "no answer in time"],
  [exitCodes.declined, "you said no"],
  [exitCodes.internal, "mcparley itself failed: please report it"],
  [exitCodes.interrupted, "ended with Ctrl-C"],
];

const localCodes: Record<LocalErrorCode, number> = {
  timeout: exitCodes.timeout,
  aborted: exitCodes.interrupted,
  closed: exitCodes.unreachable,
  exited: exitCodes.unreachable,
  unreachable: exitCodes.unreachable,
  address_unavailable: exitCodes.unreachable,
  session_lost: exitCodes.unreachable,
  store_unavailable: exitCodes.unreachable,
  unauthorized: exitCodes.authorization,
  forbidden_url: exitCodes.authorization,
  sign_in_required: exitCodes.authorization,
  sign_in_failed: exitCodes.authorization,
  authorization_failed: exitCodes.authorization,
  unsupported_revision: exitCodes.protocol,
  not_capable: exitCodes.protocol,
  invalid_message: exitCodes.protocol,
  invalid_result: exitCodes.protocol,
  too_large: exitCodes.protocol,
  http: exitCodes.protocol,
  declined: exitCodes.declined,
  cancelled: exitCodes.declined,
  unusable_storage: exitCodes.usage,
  invalid_target: exitCodes.usage,
  invalid_definition: exitCodes.internal,
};

/** The exit code for what a command ended with. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof ToolError) return exitCodes.toolError;
  if (error instanceof ProtocolError) return exitCodes.protocol;
  if (error instanceof LocalError) return localCodes[error.code] ?? exitCodes.protocol;
  return exitCodes.internal;
}
