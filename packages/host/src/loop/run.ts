import type { Clock } from "mcparley";
import type { CallTool } from "../calls/tool-call.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { ModelRequest, Usage } from "../model/model-request.ts";
import type { ToolSearch } from "../search/tool-search.ts";
import { completeMessages, type ServerInstructions, systemPrompt } from "./request-messages.ts";
import type { AssistantPart, Message } from "../conversation/messages.ts";
import { type EventQueue, createEventQueue } from "./event-queue.ts";
import { type ModelAnswer, type StreamModel, askModel } from "./model-answer.ts";
import { type ReadArguments, type ReadCall, readCall } from "./read-call.ts";
import { createRepeatedFailures, type CallParts, runCalls, skippedResult, stopText } from "./run-calls.ts";
import type { ResultStore } from "../conversation/server-text.ts";
import type { Run, RunEnd, RunOptions } from "./run-events.ts";
import { type OpenCalls, type RunStop, createOpenCalls, createStop, startRunTimer } from "./run-stop.ts";
import { type RunTools, createRunTools } from "./stable-tools.ts";
import type { SecretFilter } from "../values/types.ts";
import { uniqueNames } from "../values/map-texts.ts";

/** The parts of a host that a run needs. */
export interface RunParts {
  readonly stream: StreamModel;
  readonly catalogue: () => Catalogue;
  readonly callTool: CallTool;
  readonly readArguments: ReadArguments;
  /** The instructions of the servers, in a stable order. */
  readonly instructions: () => readonly ServerInstructions[];
  /** Long results. All runs of a host share one store, so that a later run can read the results of an earlier one. */
  readonly results: ResultStore;
  /** Applied to the events and the end of the run. */
  readonly secrets: Pick<SecretFilter, "withoutSecrets" | "lengthBeforeStart">;
  readonly clock: Clock;
  /** Called before the first step, to connect the servers. Default: nothing is awaited. */
  readonly ready?: (signal: AbortSignal) => Promise<unknown>;
  /** If omitted, each request has the definitions of all tools. */
  readonly search?: ToolSearch;
}

/** Starts a run. Throws if an option is invalid. */
export function startRun(parts: RunParts, options: RunOptions): Run {
  checkMessages(options);
  const limits = readRunLimits(options);
  const stop = createStop(options.signal);
  const events = createEventQueue(parts.secrets);
  const openCalls = createOpenCalls(stop.signal);
  const finished = runToEnd({ parts, options, limits, stop, events, openCalls });
  const cancel = (): void => stop.stop("cancelled");
  return {
    finished,
    cancel,
    cancelCalls: openCalls.cancel,
    [Symbol.asyncIterator]: () =>
      events.iterate(async () => {
        cancel();
        await finished;
      }),
  };
}

function checkMessages({ messages, conversation }: RunOptions): void {
  if ((messages === undefined) === (conversation === undefined)) {
    throw new TypeError("`run` requires either `messages` or `conversation`.");
  }
  if (messages?.length === 0) throw new RangeError("`messages` is empty. Add a message of the user.");
}

interface Start {
  readonly parts: RunParts;
  readonly options: RunOptions;
  readonly limits: RunLimits;
  readonly stop: RunStop;
  readonly events: EventQueue;
  readonly openCalls: OpenCalls;
}

/** The state of a run. */
interface RunState extends Start {
  readonly system: string;
  readonly messages: Message[];
  readonly tools: RunTools;
  readonly callParts: CallParts;
  /** Returns an id that no call of the conversation has. */
  readonly uniqueId: (id: string) => string;
  step: number;
  usage: Usage;
}

type Ended = Pick<RunEnd, "reason" | "error">;

/** Runs the steps, and makes the end. It never rejects. */
async function runToEnd(start: Start): Promise<RunEnd> {
  const { parts, options, stop, events, openCalls } = start;
  const { conversation } = options;
  const timer = startRunTimer({ clock: parts.clock, ms: start.limits.maxTime, onExpired: () => stop.stop("time") });
  const before = (): readonly Message[] => options.messages ?? conversation?.messages ?? [];
  let taken = before();
  let state: RunState | undefined;
  let ended: Ended;
  try {
    await parts.ready?.(stop.signal);
    await conversation?.refresh({ signal: stop.signal });
    taken = before();
    state = startState(start, { before: taken, timer });
    ended = await runSteps(state);
  } catch (error) {
    ended = stop.reason === undefined ? { reason: "error", error: toError(error) } : { reason: stop.reason };
  }
  timer.close();
  openCalls.close();
  stop.close();
  const complete = completeMessages(state?.messages ?? taken);
  const unanswered = ended.reason === "error" ? unansweredMessage(complete) : undefined;
  const messages = unanswered ? complete.slice(0, -1) : complete;
  const usage = state?.usage ?? { inputTokens: 0, outputTokens: 0 };
  const end = parts.secrets.withoutSecrets<RunEnd>({ ...ended, messages, ...(unanswered && { unanswered }), usage });
  events.push({ type: "end", end });
  if (conversation) conversation.replace([...end.messages, ...addedSince(taken, conversation.messages)]);
  events.end();
  return end;
}

/** Returns the messages that were added to a conversation during a run, such as those of another attachment. */
function addedSince(taken: readonly Message[], now: readonly Message[]): readonly Message[] {
  return taken.every((message, index) => now[index] === message) ? now.slice(taken.length) : [];
}

/**
 * Returns the last message if the user wrote it, so that the model has answered nothing to it. A message with a text of a server remains
 * in the conversation: the content of an attachment is not sent twice, and a call of the user has run.
 */
function unansweredMessage(messages: readonly Message[]): Message | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  const { content } = last;
  const isOfServer = typeof content !== "string" && content.some((part) => part.type === "text" && part.from);
  return isOfServer ? undefined : last;
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function startState(
  start: Start,
  { before, timer }: { before: readonly Message[]; timer: CallParts["timer"] },
): RunState {
  const { parts, options, limits, stop, events, openCalls } = start;
  const { catalogue, search } = parts;
  const messages = completeMessages(before);
  return {
    ...start,
    system: systemPrompt(options.system, parts.instructions()),
    messages,
    tools: createRunTools({ catalogue, search, maxTokens: limits.maxToolTokens }),
    callParts: {
      callTool: parts.callTool,
      catalogue,
      search,
      limits: { maxBytes: limits.maxResultBytes, store: parts.results },
      failures: createRepeatedFailures(),
      openCalls,
      stop,
      timer,
      clock: parts.clock,
      emit: events.push,
    },
    uniqueId: uniqueNames(callIds(messages)),
    step: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
  };
}

/** Sends requests to the model, and runs its calls, until the run ends. */
async function runSteps(state: RunState): Promise<Ended> {
  for (;;) {
    const reason = state.stop.reason ?? reachedLimit(state.limits, state);
    if (reason !== undefined) return { reason };
    state.step += 1;
    state.events.push({ type: "step", step: state.step });
    const answer = await askModel(requestOf(state), {
      stream: state.parts.stream,
      clock: state.parts.clock,
      signal: state.stop.signal,
      onText: (type, text) => state.events.push({ type, text }),
    });
    addUsage(state, answer.usage);
    const calls = addAnswer(state, answer);
    const ended = endOf(answer, { hasCalls: calls.length > 0, stop: state.stop });
    if (calls.length > 0) {
      const content = ended
        ? calls.map((call) => skippedResult(call, skipReason(ended)))
        : await runCalls(calls, state.callParts);
      state.messages.push({ role: "tool", content });
    }
    if (ended) return ended;
  }
}

function requestOf({ system, messages, tools, limits, stop }: RunState): ModelRequest {
  return {
    messages: [{ role: "system", content: system }, ...messages],
    tools: tools.next(),
    signal: stop.signal,
    ...(limits.maxOutputTokens === undefined ? {} : { maxOutputTokens: limits.maxOutputTokens }),
  };
}

function addUsage(state: RunState, usage: Usage): void {
  state.usage = {
    inputTokens: state.usage.inputTokens + usage.inputTokens,
    outputTokens: state.usage.outputTokens + usage.outputTokens,
    ...((state.usage.isEstimated || usage.isEstimated) && { isEstimated: true }),
  };
  state.events.push({ type: "usage", step: state.step, usage });
}

/** Adds the answer to the conversation. Returns its calls. */
function addAnswer(state: RunState, { parts }: ModelAnswer): ReadCall[] {
  const calls: ReadCall[] = [];
  const reader = {
    catalogue: state.parts.catalogue,
    readArguments: state.parts.readArguments,
    isSearching: state.tools.isSearching,
    uniqueId: (id: string) => state.uniqueId(id || "call"),
  };
  const content = parts.map((part): AssistantPart => {
    if (part.type !== "tool-call") return part;
    const call = readCall(part, reader);
    calls.push(call);
    return call.part;
  });
  // Providers reject an empty message.
  if (content.length > 0) state.messages.push({ role: "assistant", content });
  return calls;
}

/** Returns the end of the run after an answer, or undefined if the calls of the answer must run. */
function endOf(
  { finish, error }: ModelAnswer,
  { hasCalls, stop }: { hasCalls: boolean; stop: RunStop },
): Ended | undefined {
  if (stop.reason !== undefined) return { reason: stop.reason };
  if (error) return { reason: "error", error };
  if (finish === "error")
    return { reason: "error", error: new Error("The model provider ended the answer with an error.") };
  if (finish === "length") return { reason: "length" };
  if (finish === "content-filter") return { reason: "filtered" };
  return hasCalls ? undefined : { reason: "answered" };
}

/** Returns the reason why the calls of the last answer are not run, as the end of a sentence. */
function skipReason({ reason }: Ended): string {
  if (reason === "cancelled" || reason === "time") return stopText(reason);
  if (reason === "length") return "the answer reached its limit of tokens";
  return reason === "filtered" ? "the provider filtered the answer" : "the model failed";
}

function callIds(messages: readonly Message[]): string[] {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  return calls.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []));
}

/** The limits of a run, with their defaults. */
interface RunLimits {
  readonly maxSteps: number;
  readonly maxTokens: number;
  readonly maxTime: number;
  readonly maxResultBytes: number;
  readonly maxToolTokens: number;
  readonly maxOutputTokens: number | undefined;
}

/** The longest delay of a timer. */
const MAX_DELAY = 2 ** 31 - 1;

/** Reads the limits of a run. Throws a `RangeError` that names the invalid option. */
function readRunLimits(options: RunOptions): RunLimits {
  const { maxOutputTokens } = options;
  return {
    maxSteps: whole("maxSteps", options.maxSteps ?? 20),
    maxTokens: whole("maxTokens", options.maxTokens ?? 1_000_000),
    maxTime: whole("maxTime", options.maxTime ?? 30 * 60_000, { max: MAX_DELAY }),
    maxResultBytes: whole("maxResultBytes", options.maxResultBytes ?? 32 * 1024, { min: 256 }),
    maxToolTokens: whole("maxToolTokens", options.maxToolTokens ?? 8000, { min: 0 }),
    maxOutputTokens: maxOutputTokens === undefined ? undefined : whole("maxOutputTokens", maxOutputTokens),
  };
}

function whole(name: string, value: number, { min = 1, max = Number.MAX_SAFE_INTEGER } = {}): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`\`${name}\` must be a whole number from ${min} to ${max}; got ${String(value)}.`);
}

/** Returns the limit that forbids another request to the model. Limits are checked before each request. */
function reachedLimit(
  limits: RunLimits,
  { step, usage }: { step: number; usage: Usage },
): RunEnd["reason"] | undefined {
  if (step >= limits.maxSteps) return "steps";
  return usage.inputTokens + usage.outputTokens >= limits.maxTokens ? "tokens" : undefined;
}
