import type { Progress } from "mcparley/client";
import type { Task } from "mcparley/tasks";
import { onAbort } from "@mcparley/internal/abort";
import type { OriginUsage } from "../values/usage.ts";
import { ignoreErrors } from "../values/errors.ts";

/** An event of one tool call, between its start and its result. */
export type CallActivity =
  | {
      readonly type: "approval";
      /** The state of the question. */
      readonly state: "waiting" | "approved" | "denied";
    }
  /** The call is allowed, and its request is sent. */
  | {
      readonly type: "sent";
    }
  | {
      readonly type: "input-request";
      /** The kind of the input request. */
      readonly kind: InputKind;
      /** The state of the question. */
      readonly state: "waiting" | "answered" | "declined";
    }
  | {
      readonly type: "progress";
      /** The progress, as the server reports it. */
      readonly progress: Progress;
    }
  | {
      readonly type: "task";
      /** The task of the call. */
      readonly task: Task;
    }
  | {
      readonly type: "usage";
      /** The tokens of a sampling request of the server during the call. */
      readonly usage: OriginUsage;
    };

/** The kind of an input request of a server. */
export type InputKind = "form" | "url" | "sampling" | "roots";

/** The request of a call, and its caller. */
export interface CallStart {
  readonly method: string;
  /** The name of the tool or prompt, or the URI. */
  readonly name: string;
  /** The signal of the caller. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each event of the call. Its errors are ignored. */
  readonly onActivity?: ((activity: CallActivity) => void) | undefined;
}

/** A call on one server, from the check of its arguments to its outcome. All of its steps have one signal. */
export class ActiveCall {
  /** The label that `during` of an input request has. */
  readonly label: string;
  /** Whether consent was given. Input requests and tasks of the server can belong to the call only then. */
  isAllowed = false;
  readonly taskIds: Set<string> = new Set();
  readonly #onActivity: CallStart["onActivity"];
  readonly #controller = new AbortController();
  readonly #removeListener: () => void;
  #rejection: { readonly reason: unknown } | undefined;

  constructor({ method, name, signal, onActivity }: CallStart) {
    this.label = `${method} ${JSON.stringify(name.slice(0, 200))}`;
    this.#onActivity = onActivity;
    this.#removeListener = onAbort(signal, (reason) => this.abort(reason));
  }

  /** Aborted when the caller aborts the call, the host is closed, or the server ends the call. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the call for the caller, or because the host is closed. The call rejects with the reason. */
  abort(reason: unknown): void {
    this.#rejection ??= { reason };
    this.#controller.abort(reason);
  }

  /** Ends the call for its server. The outcome of the call has the reason. */
  cancel(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** Throws the reason of `abort`. Does nothing after `cancel`. */
  throwIfAborted(): void {
    if (this.#rejection) throw this.#rejection.reason;
  }

  /** Reports an event to the caller. */
  report(activity: CallActivity): void {
    ignoreErrors(() => this.#onActivity?.(activity));
  }

  /** Removes the listener from the signal of the caller. */
  end(): void {
    this.#removeListener();
  }
}

/**
 * The calls on one server that have no outcome yet. It finds the call that an input request or a task belongs to: legacy revisions do
 * not name it, and the client names only the tool.
 */
export class ActiveCalls {
  readonly #calls = new Set<ActiveCall>();

  /** Runs the steps of a call. Settles like their promise. */
  async run<T>(start: CallStart, steps: (call: ActiveCall) => Promise<T>): Promise<T> {
    const call = new ActiveCall(start);
    this.#calls.add(call);
    try {
      return await steps(call);
    } finally {
      this.#calls.delete(call);
      call.end();
    }
  }

  /** Reports an input request to the call that caused it, if that is certain. */
  inputRequest(kind: InputKind, state: "waiting" | "answered" | "declined", callLabel: string | undefined): void {
    only(this.#allowedCalls(callLabel))?.report({ type: "input-request", kind, state });
  }

  /** Reports the tokens of a sampling request. One call of several receives it, because the tokens are those of one of them. */
  usage(usage: OriginUsage, callLabel: string | undefined): void {
    this.#allowedCalls(callLabel)[0]?.report({ type: "usage", usage });
  }

  /** Reports a task to the call that created it, if that is certain. */
  task(task: Task): void {
    const calls = this.#allowedCalls(undefined);
    const creator = calls.find(({ taskIds }) => taskIds.has(task.taskId));
    const call = creator ?? only(calls.filter(({ taskIds }) => taskIds.size === 0));
    call?.taskIds.add(task.taskId);
    call?.report({ type: "task", task });
  }

  /** Ends the allowed calls with this label, or all of them if it is undefined. Their outcome has the reason. */
  cancel(callLabel: string | undefined, reason: Error): void {
    for (const call of this.#allowedCalls(callLabel)) call.cancel(reason);
  }

  /** Ends the calls that wait for consent, when the server is removed. The others end with its connection. */
  withdraw(reason: Error): void {
    for (const call of this.#calls) if (!call.isAllowed) call.cancel(reason);
  }

  /** Ends all calls, when the host is closed. They reject with the reason. */
  abort(reason: Error): void {
    for (const call of this.#calls) call.abort(reason);
  }

  /** Returns whether an allowed call has no outcome yet, and its label if it is the only one. */
  current(): { isAny: boolean; label: string | undefined } {
    const calls = this.#allowedCalls(undefined);
    return { isAny: calls.length > 0, label: only(calls)?.label };
  }

  #allowedCalls(callLabel: string | undefined): ActiveCall[] {
    return [...this.#calls].filter(
      ({ isAllowed, label }) => isAllowed && (callLabel === undefined || label === callLabel),
    );
  }
}

function only(matching: readonly ActiveCall[]): ActiveCall | undefined {
  return matching.length === 1 ? matching[0] : undefined;
}
