import { isObject } from "@mcparley/internal/is-object";
import { withSortedMembers } from "@mcparley/internal/sorted-members";
import { toError } from "../values/errors.ts";
import { type Clock, printableJson, type JsonObject } from "mcparley";
import type { CallTool } from "../calls/tool-call.ts";
import type { ToolOutcome, ToolResultPart } from "../conversation/messages.ts";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { OriginUsage } from "../values/usage.ts";
import type { CallActivity } from "../activity/active-calls.ts";
import type { ToolSearch } from "../search/tool-search.ts";
import { type TextLimits, escapeTags } from "../conversation/server-text.ts";
import type { ReadCall } from "./read-call.ts";
import { readResult } from "./read-result.ts";
import type { RunEvent } from "./run-events.ts";
import { type OpenCall, type OpenCalls, type RunStop, waitWithGrace, type RunTimer } from "./run-stop.ts";
import { hostResult, toResultPart } from "../conversation/tool-results.ts";

/** The parts of a run that its calls need. */
export interface CallParts {
  readonly callTool: CallTool;
  readonly search: ToolSearch | undefined;
  readonly limits: TextLimits;
  readonly failures: RepeatedFailures;
  readonly openCalls: OpenCalls;
  readonly stop: RunStop;
  readonly timer: RunTimer;
  readonly clock: Clock;
  readonly emit: (event: RunEvent) => void;
  /** Called with the tokens of each sampling request of a server during the calls. */
  readonly onUsage: (usage: OriginUsage) => void;
}

/** The parts of a run, and its record of one call. */
interface OneCallParts extends CallParts {
  readonly open: OpenCall;
}

/** Number of calls that run at the same time. */
const MAX_PARALLEL = 8;

/** Runs the calls of one answer. Returns their results in the order of the calls. It never rejects. */
export async function runCalls(calls: readonly ReadCall[], parts: CallParts): Promise<ToolResultPart[]> {
  const results = Array.from<ToolResultPart>({ length: calls.length });
  const waiting = calls.map((call) => ({ call, open: parts.openCalls.begin() })).entries();
  async function work(): Promise<void> {
    for (const [index, { call, open }] of waiting) {
      results[index] = await runCall(call, { ...parts, open });
      parts.openCalls.end(open);
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, calls.length) }, work));
  return results;
}

/** Returns the result of a call that was not run because the run has ended. */
export function skippedResult({ callId, name }: Pick<ReadCall, "callId" | "name">, reason: string): ToolResultPart {
  return hostResult({ callId, name }, `The call was not run, because ${reason}.`);
}

/** Runs one call, and emits its events. */
async function runCall(call: ReadCall, parts: OneCallParts): Promise<ToolResultPart> {
  const { callId, name, target } = call;
  if (parts.stop.reason !== undefined) return skippedResult(call, stopText(parts.stop.reason));
  const server = target.kind === "tool" ? target.tool.server : undefined;
  parts.emit({ type: "call", callId, name: call.shownName, server, arguments: call.arguments });
  const { result, outcome } = await resultOf(call, parts).catch((error: unknown): CallEnd => {
    const effect = server === undefined ? "" : " The server may have run it.";
    return { result: hostResult({ callId, name }, `The call failed.${effect} ${toError(error).message}`) };
  });
  parts.emit({ type: "result", callId, result, ...(outcome && { outcome }) });
  return result;
}

/** The end of a call: its result for the model, and its outcome if a server was called. */
interface CallEnd {
  readonly result: ToolResultPart;
  readonly outcome?: ToolOutcome;
}

async function resultOf(call: ReadCall, parts: OneCallParts): Promise<CallEnd> {
  const { target, callId, name } = call;
  const { limits, search } = parts;
  if (parts.open.isCancelled) {
    return ofHost(call, `The call was not run, because the user cancelled it. ${NO_REPETITION}`);
  }
  if (target.kind === "problem") return ofHost(call, target.problem);
  if (target.kind === "read_result") {
    const read = readResult(target.arguments, { store: limits.store, maxBytes: limits.maxBytes });
    return { result: { type: "tool-result", callId, name, ...read } };
  }
  if (target.kind === "search_tools") {
    if (!search) return ofHost(call, "The host has no search for tools.");
    const { text, isError } = search.answer(target.arguments);
    return ofHost(call, text, isError);
  }
  return callServer(call, target.tool, parts);
}

/** Calls the tool of a server, unless the same call has failed too often. */
async function callServer(call: ReadCall, tool: CatalogueTool, parts: OneCallParts): Promise<CallEnd> {
  const { callId, name } = call;
  if (parts.failures.isBlocked(call.shownName, call.arguments)) {
    const text = `The call was not run, because it has failed ${MAX_FAILURES} times with the same arguments.`;
    return ofHost(call, `${text} Change the arguments, use another tool, or tell the user about the problem.`);
  }
  const outcome = await outcomeOf(call, tool, parts);
  // A call that was cancelled has not failed. The user may want the model to repeat it.
  if (outcome.status === "cancelled") return ofHost(call, cancelledText(outcome, parts));
  const origin = { server: tool.server, name: tool.tool.name };
  const result = withEditedArguments(toResultPart({ callId, name, origin }, outcome, parts.limits), outcome);
  parts.failures.record({ name: call.shownName, arguments: call.arguments, isError: result.isError });
  return { result, outcome };
}

function ofHost({ callId, name }: ReadCall, text: string, isError = true): CallEnd {
  return { result: hostResult({ callId, name }, text, isError) };
}

/** Adds the arguments that the user edited to a result. The model would otherwise take its own for those of the call. */
function withEditedArguments(result: ToolResultPart, outcome: ToolOutcome): ToolResultPart {
  const editedArguments = outcome.status === "result" ? outcome.editedArguments : undefined;
  if (editedArguments === undefined) return result;
  const text = escapeTags(`The user edited the arguments. The tool was called with ${printableJson(editedArguments)}.`);
  return { ...result, content: [{ type: "text", text }, ...result.content] };
}

/** The end of a call that was cancelled before it had an outcome. */
interface CancelledOutcome {
  readonly status: "cancelled";
  /** Whether the user was asked for approval and had not answered, so that the server received nothing. */
  readonly isUnanswered: boolean;
}

/** Returns the outcome of a call, or its end if the user or the end of the run cancelled it. */
async function outcomeOf(
  call: ReadCall,
  tool: CatalogueTool,
  parts: OneCallParts,
): Promise<ToolOutcome | CancelledOutcome> {
  const { callId } = call;
  let outcome: ToolOutcome | undefined;
  let isOpen = true;
  let isUnanswered = false;
  const onActivity = (activity: CallActivity): void => {
    if (activity.type === "usage") return parts.onUsage(activity.usage);
    if (!isOpen) return;
    if (activity.type === "approval") isUnanswered = activity.state === "waiting";
    parts.timer.activity(callId, activity);
    parts.emit({ type: "activity", callId, activity });
  };
  const { signal } = parts.open;
  const request = { tool, arguments: call.arguments, origin: { callId, by: "model" as const }, signal, onActivity };
  const calling = parts.callTool(request).then(
    (result) => void (outcome = result),
    (error: unknown) => void (outcome = failedOutcome(error, signal)),
  );
  await waitWithGrace(calling, { signal, clock: parts.clock });
  isOpen = false;
  parts.timer.removeCall(callId);
  return outcome ?? { status: "cancelled", isUnanswered };
}

/** A rejection of `callTool` is the abort of the call. Any other one is a defect, which the model sees as a failed call. */
function failedOutcome(error: unknown, signal: AbortSignal): ToolOutcome | undefined {
  if (signal.aborted) return undefined;
  const failure = toError(error);
  return { status: "failed", message: failure.message, error: failure, mayHaveRun: true };
}

/** The advice after a call that the user cancelled. */
const NO_REPETITION = "Do not repeat it without a new request of the user.";

/** Returns the result of a call that was cancelled, for the model. */
function cancelledText({ isUnanswered }: CancelledOutcome, { open, stop }: OneCallParts): string {
  const effect = isUnanswered ? "The server did not run it." : "The server may have run it.";
  if (open.isCancelled) return `The user cancelled the call. ${effect} ${NO_REPETITION}`;
  return `The call was cancelled, because ${stopText(stop.reason ?? "cancelled")}. ${effect}`;
}

/** Returns the reason of a stop, as the end of a sentence. */
export function stopText(reason: "cancelled" | "time"): string {
  return reason === "time" ? "the run reached its limit of time" : "the run was cancelled";
}

/** Number of failures after which a call is blocked. */
const MAX_FAILURES = 3;

/** Finds calls that fail again and again with the same arguments. */
export class RepeatedFailures {
  readonly #failures = new Map<string, number>();

  /** Whether a call has failed so often that it must not run again. */
  isBlocked(name: string, args: JsonObject): boolean {
    return (this.#failures.get(callKey(name, args)) ?? 0) >= MAX_FAILURES;
  }

  /** Records the outcome of a call. A success permits all calls again, because it may have changed the outcome of others. */
  record({ name, arguments: args, isError }: { name: string; arguments: JsonObject; isError: boolean }): void {
    if (!isError) return this.#failures.clear();
    const key = callKey(name, args);
    this.#failures.set(key, (this.#failures.get(key) ?? 0) + 1);
  }
}

function callKey(name: string, args: JsonObject): string {
  return `${name} ${JSON.stringify(args, sortedKeys)}`;
}

function sortedKeys(_key: string, value: unknown): unknown {
  return isObject(value) ? withSortedMembers(value) : value;
}
