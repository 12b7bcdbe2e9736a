import type { Message, RunEnd } from "@mcparley/host";
import { LocalError, ProtocolError } from "mcparley";
import { exitCodeOf } from "../../commands/connection/report-error.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";

/** Returns the exit code of a run. `isDenied` is whether a call was denied. */
export function exitCodeOfRun({ reason, error }: RunEnd, isDenied: boolean): number {
  switch (reason) {
    case "answered":
      return isDenied ? exitCodes.declined : exitCodes.ok;
    case "time":
      return exitCodes.timeout;
    case "cancelled":
      return exitCodes.interrupted;
    case "error":
      return exitCodeOfModelError(error);
    default:
      return exitCodes.incomplete;
  }
}

/** The error of a model, as the host writes it: with the status if the provider answered, and the reason of the provider. */
const modelFailure =
  /^The model "[^"]*" (?:rejected the credentials|failed)(?: \(HTTP status (\d{3})\))?(?:: ([\s\S]*))?/;

/** Reasons of requests that received no response. They are those of Node, and of the packages of the AI SDK. */
const noConnection =
  /\b(?:Cannot connect to API|fetch failed|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+)\b/i;

/**
 * Returns the exit code of an error that ended a run: 3 for the HTTP statuses 401 and 403, 4 if no connection was made, and otherwise
 * 2. The host removes the provider's error from its own, so only the text has the reason.
 */
function exitCodeOfModelError(error: Error | undefined): number {
  if (error instanceof LocalError || error instanceof ProtocolError) return exitCodeOf(error);
  const [, status, reason = ""] = modelFailure.exec(error?.message ?? "") ?? [];
  if (status === "401" || status === "403") return exitCodes.authorization;
  return status === undefined && noConnection.test(reason) ? exitCodes.unreachable : exitCodes.protocol;
}

/** Returns whether the model has answered, or called a tool. An answer can be empty. */
export function hasAnswer({ reason, messages }: RunEnd, previousMessages: readonly Message[]): boolean {
  const isUnfinished = reason === "error" || reason === "cancelled" || reason === "time";
  return !isUnfinished || answersIn(messages) > answersIn(previousMessages);
}

function answersIn(messages: readonly Message[]): number {
  return messages.filter(({ role }) => role !== "user").length;
}
