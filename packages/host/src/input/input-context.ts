import type { Clock } from "mcparley";
import { Declined, type InputRequestSource } from "mcparley/client";
import type { Awaitable } from "../values/types.ts";
import type { DecisionRecord } from "../consent/policy.ts";
import type { OriginUsage } from "../values/usage.ts";
import type { InputKind } from "../activity/active-calls.ts";
import type { InputOrigin } from "../renderer/renderer.ts";

/** Limits on the input requests of one server. A request over a limit is declined without a question. */
export interface InputLimits {
  /** Maximum elicitations within one call. Default: 5. */
  readonly elicitationsPerCall: number;
  /** Maximum sampling requests within one call. Default: 10. */
  readonly samplesPerCall: number;
  /** Maximum input requests of a server in a minute. Default: 30. */
  readonly requestsPerMinute: number;
  /** Maximum tokens of one answer of the model. Default: 4,096. */
  readonly tokensPerSample: number;
  /** Maximum tokens that all answers for a server may have in total. Default: 100,000. */
  readonly tokensPerServer: number;
}

/** The limits of a server without settings. */
export const defaultLimits: InputLimits = {
  elicitationsPerCall: 5,
  samplesPerCall: 10,
  requestsPerMinute: 30,
  tokensPerSample: 4_096,
  tokensPerServer: 100_000,
};

/** Returns the limits with the defaults of omitted ones. Throws a `RangeError` for a value that is not a number of at least 0. */
export function checkLimits(...settings: readonly (Partial<InputLimits> | undefined)[]): InputLimits {
  const limits = { ...defaultLimits };
  for (const name of Object.keys(defaultLimits) as (keyof InputLimits)[]) {
    for (const setting of settings) {
      const value = setting?.[name];
      if (value === undefined) continue;
      if (value !== Infinity && !(Number.isInteger(value) && value >= 0)) {
        throw new RangeError(`inputLimits.${name} must be an integer of at least 0, or Infinity; got ${value}.`);
      }
      limits[name] = value;
    }
  }
  return limits;
}

/** The server of input requests, and the parts of the host that answer them. */
export interface InputContext {
  readonly server: string;
  readonly counter: RequestCounter;
  readonly clock: Clock;
  /** Shows a question when no other question is open. Rejects when the signal is aborted. */
  readonly ask: AskUser;
  readonly onDecision: (this: void, record: DecisionRecord) => void;
  readonly onActivity: OnInputActivity;
  /** Called with the tokens of each sampling request, and the call of the request, if it is known. */
  readonly onUsage: (this: void, usage: OriginUsage, callLabel: string | undefined) => void;
  /** Cancels the calls of the server with this label, or all of them if it is undefined. */
  readonly cancelCalls: (this: void, callLabel: string | undefined, reason: Error) => void;
}

type AskUser = <T>(ask: () => Awaitable<T>, signal: AbortSignal) => Promise<T>;

/** `during` is the call of the request, such as `tools/call "book"`, if it is known. */
type OnInputActivity = (
  this: void,
  kind: InputKind,
  state: "waiting" | "answered" | "declined",
  callLabel: string | undefined,
) => void;

/** Returns the origin of a request, for the user. */
export function originOf({ server }: InputContext, source: InputRequestSource): InputOrigin {
  const claims = source.server && { name: source.server.name, version: source.server.version };
  return { server, claims, during: source.during };
}

/** Records a decision about a request of the server. */
export function decide(
  context: Pick<InputContext, "server" | "clock" | "onDecision">,
  decision: Omit<DecisionRecord, "at" | "server">,
): void {
  context.onDecision({ at: context.clock.now(), server: context.server, ...decision });
}

/**
 * Answers a request within the limits of the server, and reports its progress. The result of `answer` is an answer of the user
 * unless `isDeclined` returns true for it.
 *
 * It throws `Declined` for a request over a limit. If the server continues with such requests, the calls that cause them are
 * cancelled, because a server can ignore the refusal.
 */
export async function withinLimits<T>(
  context: InputContext,
  { kind, source, isDeclined = () => false }: RequestToAnswer<T>,
  answer: () => Promise<T>,
): Promise<T> {
  const { during } = source;
  context.onActivity(kind, "waiting", during);
  const stopProgress = reportProgress(source, context.clock);
  let state: "answered" | "declined" = "declined";
  try {
    refuseOverLimit(context, kind, during);
    const result = await answer();
    if (!isDeclined(result)) state = "answered";
    return result;
  } finally {
    stopProgress();
    context.onActivity(kind, state, during);
  }
}

interface RequestToAnswer<T> {
  readonly kind: InputKind;
  readonly source: InputRequestSource;
  readonly isDeclined?: (result: T) => boolean;
}

/** Milliseconds between two reports of progress. Servers of legacy revisions commonly wait for a minute. */
const progressInterval = 15_000;

/** Reports progress until the returned function is called, because a person may need longer than the time limit of the server. */
function reportProgress({ progress, signal }: InputRequestSource, clock: Clock): () => void {
  let reports = 0;
  let timer: unknown;
  const wait = (): void => {
    timer = clock.setTimeout(() => {
      if (signal.aborted) return;
      progress(++reports);
      wait();
    }, progressInterval);
  };
  wait();
  return () => clock.clearTimeout(timer);
}

function refuseOverLimit(context: InputContext, kind: InputKind, callLabel: string | undefined): void {
  const refusal = context.counter.take(kind, callLabel);
  if (!refusal) return;
  const subject = kind === "form" || kind === "url" ? "elicitation" : kind;
  decide(context, { subject, name: kind, outcome: "denied", by: "limit" });
  const message = `The server "${context.server}" exceeded the limit ${refusal.limit} on input requests.`;
  if (!refusal.isFlood) throw new Declined(message);
  const error = new Error(`${message} It continued after many refused requests, so its calls were cancelled.`);
  context.cancelCalls(callLabel, error);
  throw error;
}

/** Number of refused requests of a call after which the call is ended. */
const maxRefused = 10;

const minute = 60_000;

/**
 * Counts the input requests of one server, and the calls that may have caused them. A request of a legacy server does not name its call,
 * so the calls with the same label share their limits: three calls in flight may cause three times as many requests. A request outside of
 * a call has only the limit per minute.
 */
export class RequestCounter {
  readonly #limits: InputLimits;
  readonly #clock: Clock;
  readonly #active = new Map<string, number>();
  readonly #counts = new Map<string, { elicitations: number; samples: number; refusals: number }>();
  #times: number[] = [];

  constructor(limits: InputLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Notes that a call has started. Returns a function that notes its end. */
  callStarted(label: string): () => void {
    this.#active.set(label, (this.#active.get(label) ?? 0) + 1);
    return () => {
      const remaining = (this.#active.get(label) ?? 1) - 1;
      if (remaining > 0) this.#active.set(label, remaining);
      else {
        this.#active.delete(label);
        this.#counts.delete(label);
      }
      if (this.#active.size === 0) this.#counts.clear();
    };
  }

  /**
   * Counts a request. Returns the limit that it exceeds, if any. `isFlood` is true if the server continues after many
   * refused requests of a call.
   */
  take(kind: InputKind, callLabel: string | undefined): { limit: keyof InputLimits; isFlood: boolean } | undefined {
    const total = [...this.#active.values()].reduce((sum, count) => sum + count, 0);
    const calls = callLabel === undefined ? total : (this.#active.get(callLabel) ?? Math.min(total, 1));
    const counts = this.#counts.get(callLabel ?? "") ?? { elicitations: 0, samples: 0, refusals: 0 };
    this.#counts.set(callLabel ?? "", counts);
    const now = this.#clock.now();
    this.#times = this.#times.filter((time) => time > now - minute);
    const limit = this.#exceeded(kind, calls, counts);
    if (limit === undefined) this.#times.push(now);
    return limit && { limit, isFlood: calls > 0 && ++counts.refusals > maxRefused };
  }

  #exceeded(
    kind: InputKind,
    calls: number,
    counts: { elicitations: number; samples: number },
  ): keyof InputLimits | undefined {
    const { elicitationsPerCall, samplesPerCall, requestsPerMinute } = this.#limits;
    const isElicitation = kind === "form" || kind === "url";
    if (calls > 0 && isElicitation && ++counts.elicitations > elicitationsPerCall * calls) return "elicitationsPerCall";
    if (calls > 0 && kind === "sampling" && ++counts.samples > samplesPerCall * calls) return "samplesPerCall";
    return this.#times.length >= requestsPerMinute ? "requestsPerMinute" : undefined;
  }
}
