import type { Catalogue, Message, RunEnd, RunEvent, ToolResultPart } from "@mcparley/host";
import { type JsonObject, LocalError, ProtocolError } from "mcparley";
import { exitCodeOf } from "../../commands/connection/report-error.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { resultText } from "../history/message-text.ts";

/**
 * The outcome of a call:
 *
 * - `result`: the tool returned a result
 * - `error`: the tool ran and returned an error
 * - `denied`: consent was not given; the server received nothing
 * - `failed`: there is no result: invalid arguments, an unknown tool, or a lost connection
 * - `cancelled`: the run ended before the result
 */
type CallStatus = "result" | "error" | "denied" | "failed" | "cancelled";

/** A call of the model in the document of `--json`. */
export interface ScriptCall {
  /** The name of the tool for the model. */
  readonly name: string;
  /** The name of the server. Null for a tool of the host, and for a tool that does not exist. */
  readonly server: string | null;
  /** The name of the tool at the server. */
  readonly tool: string | null;
  readonly arguments: JsonObject;
  readonly status: CallStatus;
  /** The text of the result, or the reason why there is none. Files are named. */
  readonly text: string;
}

type StartedCall = Pick<ScriptCall, "name" | "server" | "tool" | "arguments">;

/** Collects the calls of a run from its events. */
export class CallRecorder {
  readonly #catalogue: () => Catalogue;
  /** The ids of the calls before the run, which are left out. */
  readonly #earlier: ReadonlySet<string>;
  readonly #started = new Map<string, StartedCall>();

  /** `previousMessages` are those of the conversation at the start of the run. */
  constructor(previousMessages: readonly Message[], catalogue: () => Catalogue) {
    this.#catalogue = catalogue;
    this.#earlier = new Set(callParts(previousMessages).map(({ callId }) => callId));
  }

  /** Reads an event. Returns the call that it ends. */
  take(event: RunEvent): ScriptCall | undefined {
    if (event.type === "call") {
      const { callId, name, server = null, arguments: args } = event;
      const { tool } = this.#toolOf(name);
      this.#started.set(callId, { name, server, tool: server === null ? null : tool, arguments: args });
    }
    const call = event.type === "result" && this.#started.get(event.callId);
    return call ? toScriptCall(call, event.result) : undefined;
  }

  /** Returns all calls, in the order in which the model wrote them, when the run has ended with these messages. */
  finish(messages: readonly Message[]): ScriptCall[] {
    const parts = messages.flatMap((message) => (message.role === "tool" ? message.content : []));
    const results = new Map(parts.map((result) => [result.callId, result]));
    return callParts(messages).flatMap(({ callId, name, arguments: args }) => {
      const result = results.get(callId);
      if (this.#earlier.has(callId) || !result) return [];
      // A call that the end of the run prevented has no events.
      return [toScriptCall(this.#started.get(callId) ?? { name, ...this.#toolOf(name), arguments: args }, result)];
    });
  }

  #toolOf(name: string): Pick<StartedCall, "server" | "tool"> {
    const entry = this.#catalogue().tool(name);
    return { server: entry?.server ?? null, tool: entry?.tool.name ?? null };
  }
}

function toScriptCall(call: StartedCall, result: ToolResultPart): ScriptCall {
  return { ...call, status: statusOf(result), text: resultText(result.content) };
}

/** The starts of the texts that the host writes in place of a result, with their statuses. */
const hostTexts: readonly (readonly [start: RegExp, status: CallStatus])[] = [
  [/^The call was not run, because consent was denied\./, "denied"],
  [/^The call was not run, because it has failed /, "failed"],
  [/^The call was (?:not run|cancelled|interrupted)\b/, "cancelled"],
  [/^The tool returned no content\.$/, "error"],
];

/**
 * Returns the status of a call. Texts of servers name their origin, so that a server cannot imitate the texts of the host. The events
 * of a run do not have the status: a call that a rule denies has no event of an approval.
 */
function statusOf({ isError, content }: ToolResultPart): CallStatus {
  if (!isError) return "result";
  const [first] = content;
  if (first?.type !== "text" || first.from !== undefined) return "error";
  return hostTexts.find(([start]) => start.test(first.text))?.[1] ?? "failed";
}

function callParts(messages: readonly Message[]) {
  const parts = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  return parts.filter((part) => part.type === "tool-call");
}

/** Returns the exit code of a run with these calls. */
export function exitCodeOfRun({ reason, error }: RunEnd, calls: readonly ScriptCall[]): number {
  switch (reason) {
    case "answered":
      return exitCodeOfCalls(calls);
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

function exitCodeOfCalls(calls: readonly ScriptCall[]): number {
  if (calls.some(({ status }) => status === "denied")) return exitCodes.declined;
  return unrecoveredCalls(calls).length > 0 ? exitCodes.toolError : exitCodes.ok;
}

/**
 * Returns the calls that failed, and that no call of the same tool followed. The model can correct a call that failed. A tool that does not
 * exist does not count.
 */
export function unrecoveredCalls(calls: readonly ScriptCall[]): ScriptCall[] {
  const lastCalls = new Map(calls.map((call) => [call.name, call]));
  return [...lastCalls.values()].filter(
    ({ server, status }) => server !== null && (status === "error" || status === "failed"),
  );
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
