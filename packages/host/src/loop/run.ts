import type { Clock } from "mcparley";
import type { CallTool } from "../calls/tool-call.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { OriginUsage } from "../values/usage.ts";
import { UsageCounter } from "../model/usage.ts";
import type { ToolSearch } from "../search/tool-search.ts";
import { completeMessages, type ServerInstructions, systemPrompt } from "./request-messages.ts";
import type { AssistantPart, Message } from "../conversation/messages.ts";
import { EventQueue } from "./event-queue.ts";
import { type ModelAnswer, type StreamModel, askModel } from "./model-answer.ts";
import { type ReadArguments, type ReadCall, readCall } from "./read-call.ts";
import { type CallParts, RepeatedFailures, runCalls, skippedResult, stopText } from "./run-calls.ts";
import type { ResultStore } from "../conversation/server-text.ts";
import type { Run, RunEnd, RunEvent, RunOptions } from "./run-events.ts";
import { OpenCalls, RunStop, RunTimer } from "./run-stop.ts";
import { RunTools } from "./stable-tools.ts";
import { toError } from "../values/errors.ts";
import type { SecretFilter } from "../values/types.ts";
import { uniqueNames } from "../values/map-texts.ts";

/** The parts of a host that a run needs. */
export interface RunParts {
  /** The name of the model, as `provider/modelId`. */
  readonly model: string;
  readonly stream: StreamModel;
  readonly catalogue: () => Catalogue;
  readonly callTool: CallTool;
  readonly readArguments: ReadArguments;
  /** The instructions of the servers, in a stable order. */
  readonly instructions: () => readonly ServerInstructions[];
  /** Long results. All runs of a host share one store, so that a later run can read the results of an earlier one. */
  readonly results: ResultStore;
  /** Applied to the events and the end of the run. */
  readonly secrets: Pick<SecretFilter, "withoutSecrets" | "messageWithoutSecrets" | "lengthBeforeStart">;
  readonly clock: Clock;
  /** Called with the tokens of each step. Default: nothing is called. */
  readonly onUsage?: (usage: OriginUsage) => void;
  /** Called before the first step, to connect the servers. Default: nothing is awaited. */
  readonly ready?: (signal: AbortSignal) => Promise<unknown>;
  /** Called before each step, so that the catalogue has the changes of the last calls. Default: nothing is awaited. */
  readonly readChanges?: (signal: AbortSignal) => Promise<unknown>;
  /** If omitted, each request has the definitions of all tools. */
  readonly search?: ToolSearch;
}

type Ended = Pick<RunEnd, "reason" | "error">;

/** A run, from its start to its end. */
export class ActiveRun implements Run {
  readonly finished: Promise<RunEnd>;
  readonly #parts: RunParts;
  readonly #options: RunOptions;
  readonly #limits: RunLimits;
  readonly #stop: RunStop;
  readonly #events: EventQueue;
  readonly #openCalls: OpenCalls;
  readonly #timer: RunTimer;
  readonly #tools: RunTools;
  readonly #callParts: CallParts;
  /** The conversation with the new messages. Undefined before the first step. */
  #messages: Message[] | undefined;
  readonly #usage = new UsageCounter();
  #step = 0;
  /** The tokens of all steps, without sampling requests of servers. */
  #stepTokens = 0;

  /** Throws if an option is invalid. */
  constructor(parts: RunParts, options: RunOptions) {
    checkMessages(options);
    const { catalogue, callTool, clock, results, search, secrets } = parts;
    const limits = readRunLimits(options);
    const stop = new RunStop(options.signal);
    this.#parts = parts;
    this.#options = options;
    this.#limits = limits;
    this.#stop = stop;
    this.#events = new EventQueue(secrets);
    this.#openCalls = new OpenCalls(stop.signal);
    this.#timer = new RunTimer({ clock, ms: limits.maxTime, onExpired: () => stop.stop("time") });
    this.#tools = new RunTools({ catalogue, search, maxTokens: limits.maxToolTokens });
    this.#callParts = {
      callTool,
      search,
      limits: { maxBytes: limits.maxResultBytes, store: results },
      failures: new RepeatedFailures(),
      openCalls: this.#openCalls,
      stop,
      timer: this.#timer,
      clock,
      emit: (event) => this.#events.push(event),
      onUsage: (usage) => this.#addUsage(usage),
    };
    this.finished = this.#run();
  }

  readonly cancel = (): void => this.#stop.stop("cancelled");
  readonly cancelCalls = (): number => this.#openCalls.cancel();

  // A member of the instance, so that a program can copy a run with a spread.
  readonly [Symbol.asyncIterator] = (): AsyncIterator<RunEvent> =>
    this.#events.iterate(async () => {
      this.cancel();
      await this.finished;
    });

  /** Runs the steps, and makes the end. It never rejects. */
  async #run(): Promise<RunEnd> {
    const { ready, secrets } = this.#parts;
    const { conversation, messages: initialMessages } = this.#options;
    const stop = this.#stop;
    const messagesNow = (): readonly Message[] => initialMessages ?? conversation?.messages ?? [];
    let start = messagesNow();
    let outcome: Ended;
    try {
      await ready?.(stop.signal);
      await conversation?.refresh({ signal: stop.signal });
      start = messagesNow();
      outcome = await this.#runSteps(start);
    } catch (error) {
      outcome = stop.reason === undefined ? { reason: "error", error: toError(error) } : { reason: stop.reason };
    }
    this.#timer.close();
    this.#openCalls.close();
    stop.close();
    const complete = completeMessages(this.#messages ?? start);
    const unanswered = outcome.reason === "error" ? unansweredMessage(complete) : undefined;
    const messages = unanswered ? complete.slice(0, -1) : complete;
    const { messageWithoutSecrets } = secrets;
    const end = secrets.withoutSecrets<RunEnd>({
      ...outcome,
      messages: messages.map(messageWithoutSecrets),
      ...(unanswered && { unanswered: messageWithoutSecrets(unanswered) }),
      usage: this.#usage.total,
    });
    this.#events.push({ type: "end", end });
    if (conversation) conversation.replace([...end.messages, ...addedSince(start, conversation.messages)]);
    this.#events.end();
    return end;
  }

  /** Sends requests to the model, and runs its calls, until the run ends. */
  async #runSteps(start: readonly Message[]): Promise<Ended> {
    const { model, stream, clock, instructions, onUsage, readChanges } = this.#parts;
    const { maxOutputTokens } = this.#limits;
    const { signal } = this.#stop;
    const messages = completeMessages(start);
    const system: Message = { role: "system", content: systemPrompt(this.#options.system, instructions()) };
    const uniqueId = uniqueNames(callIds(messages));
    this.#messages = messages;
    const onText = (type: "text" | "reasoning", text: string): void => this.#events.push({ type, text });
    for (let step = 1; ; step += 1) {
      await readChanges?.(signal);
      const reason = this.#stop.reason ?? this.#reachedLimit(step);
      if (reason !== undefined) return { reason };
      this.#step = step;
      this.#events.push({ type: "step", step });
      const request = {
        messages: [system, ...messages],
        tools: this.#tools.next(),
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      };
      const answer = await askModel(request, { stream, clock, signal, onText });
      if (answer.usage) {
        this.#stepTokens += answer.usage.inputTokens + answer.usage.outputTokens;
        const usage = { model, ...answer.usage };
        this.#addUsage(usage);
        onUsage?.(usage);
      }
      const { content, calls } = this.#readAnswer(answer, uniqueId);
      // Providers reject an empty message.
      if (content.length > 0) messages.push({ role: "assistant", content });
      const outcome = this.#stop.reason ? { reason: this.#stop.reason } : endOf(answer, calls.length > 0);
      if (calls.length > 0) {
        const results = outcome
          ? calls.map((call) => skippedResult(call, skipReason(outcome)))
          : await runCalls(calls, this.#callParts);
        messages.push({ role: "tool", content: results });
      }
      if (outcome) return outcome;
    }
  }

  /** Returns the limit that forbids another request to the model. */
  #reachedLimit(step: number): RunEnd["reason"] | undefined {
    if (step > this.#limits.maxSteps) return "steps";
    return this.#stepTokens >= this.#limits.maxTokens ? "tokens" : undefined;
  }

  #addUsage(usage: OriginUsage): void {
    this.#usage.add(usage);
    this.#events.push({ type: "usage", step: this.#step, usage });
  }

  /** Returns the answer for the conversation, and its calls. */
  #readAnswer(
    { parts }: ModelAnswer,
    uniqueId: (id: string) => string,
  ): { content: AssistantPart[]; calls: ReadCall[] } {
    const { catalogue, readArguments } = this.#parts;
    const { isSearching } = this.#tools;
    const calls: ReadCall[] = [];
    const content = parts.map((part): AssistantPart => {
      if (part.type !== "tool-call") return part;
      const call = readCall(part, { catalogue, readArguments, isSearching, uniqueId: (id) => uniqueId(id || "call") });
      calls.push(call);
      return call.part;
    });
    return { content, calls };
  }
}

function checkMessages({ messages, conversation }: RunOptions): void {
  if ((messages === undefined) === (conversation === undefined)) {
    throw new TypeError("`run` requires either `messages` or `conversation`.");
  }
  if (messages?.length === 0) throw new RangeError("`messages` is empty. Add a message of the user.");
}

/** Returns the messages that were added to a conversation during a run, such as those of another attachment. */
function addedSince(initialMessages: readonly Message[], now: readonly Message[]): readonly Message[] {
  return initialMessages.every((message, index) => now[index] === message) ? now.slice(initialMessages.length) : [];
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

/** Returns the end of the run after an answer, or undefined if the calls of the answer must run. */
function endOf({ finish, error }: ModelAnswer, hasCalls: boolean): Ended | undefined {
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

type RunLimits = ReturnType<typeof readRunLimits>;

/** The longest delay of a timer. */
const MAX_DELAY = 2 ** 31 - 1;

/** Returns the limits of a run, with their defaults. Throws a `RangeError` that names the invalid option. */
function readRunLimits(options: RunOptions) {
  const { maxOutputTokens } = options;
  return {
    maxSteps: readInteger("maxSteps", options.maxSteps ?? 20),
    maxTokens: readInteger("maxTokens", options.maxTokens ?? 1_000_000),
    maxTime: readInteger("maxTime", options.maxTime ?? 30 * 60_000, { max: MAX_DELAY }),
    maxResultBytes: readInteger("maxResultBytes", options.maxResultBytes ?? 32 * 1024, { min: 256 }),
    maxToolTokens: readInteger("maxToolTokens", options.maxToolTokens ?? 8000, { min: 0 }),
    maxOutputTokens: maxOutputTokens === undefined ? undefined : readInteger("maxOutputTokens", maxOutputTokens),
  };
}

function readInteger(name: string, value: number, { min = 1, max = Number.MAX_SAFE_INTEGER } = {}): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`\`${name}\` must be a whole number from ${min} to ${max}; got ${String(value)}.`);
}
