import type { Clock } from "mcparley";
import { Declined, type InputRequestSource } from "mcparley/client";
import type { Awaitable } from "../values/awaitable.ts";
import type { DecisionRecord } from "../consent/decision-record.ts";
import type { InputKind } from "../activity/call-activity.ts";
import type { InputOrigin } from "../renderer/elicitation.ts";
import type { RequestCounter } from "./request-counter.ts";

/** The server of input requests, and the parts of the host that answer them. */
export interface InputContext {
  readonly server: string;
  readonly counter: RequestCounter;
  readonly clock: Clock;
  /** Shows a question when no other question is open. Rejects when the signal is aborted. */
  readonly ask: AskUser;
  readonly onDecision: (this: void, record: DecisionRecord) => void;
  readonly onActivity: OnInputActivity;
  /** Cancels the calls of the server with this label, or all of them if it is undefined. */
  readonly cancelCalls: (this: void, during: string | undefined, reason: Error) => void;
}

export type AskUser = <T>(ask: () => Awaitable<T>, signal: AbortSignal) => Promise<T>;

/** `during` is the call of the request, such as `tools/call "book"`, if it is known. */
export type OnInputActivity = (
  this: void,
  kind: InputKind,
  state: "waiting" | "answered" | "declined",
  during: string | undefined,
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

function refuseOverLimit(context: InputContext, kind: InputKind, during: string | undefined): void {
  const refusal = context.counter.take(kind, during);
  if (!refusal) return;
  const subject = kind === "form" || kind === "url" ? "elicitation" : kind;
  decide(context, { subject, name: kind, outcome: "denied", by: "limit" });
  const message = `The server "${context.server}" exceeded the limit ${refusal.limit} on input requests.`;
  if (!refusal.isFlood) throw new Declined(message);
  const error = new Error(`${message} It continued after many refused requests, so its calls were cancelled.`);
  context.cancelCalls(during, error);
  throw error;
}
