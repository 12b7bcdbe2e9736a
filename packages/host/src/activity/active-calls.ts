import type { Task } from "mcparley/tasks";
import type { CallActivity, InputKind } from "./call-activity.ts";

/** The listeners of a call in flight. */
export interface CallListener {
  /** Called with each event of the call. */
  readonly onActivity: (activity: CallActivity) => void;
  /** Ends the call with this reason. */
  readonly cancel: (reason: Error) => void;
}

/** A call that a server is running. */
interface ActiveCall extends CallListener {
  readonly what: string;
  readonly taskIds: Set<string>;
}

/**
 * The calls in flight on one server. It finds the call that an input request or a task belongs to: legacy revisions do not name
 * it, and the client names only the tool.
 */
export interface ActiveCalls {
  /** Records a call. `name` is that of the tool or prompt, or the URI. The returned function removes the call. */
  begin(this: void, call: { method: string; name: string }, listener: CallListener): () => void;
  /** Reports an input request to the call that caused it, if that is certain. */
  inputRequest(
    this: void,
    kind: InputKind,
    state: "waiting" | "answered" | "declined",
    during: string | undefined,
  ): void;
  /** Reports a task to the call that created it, if that is certain. */
  task(this: void, task: Task): void;
  /** Ends the calls with this label, or all calls if it is undefined. */
  cancel(this: void, during: string | undefined, reason: Error): void;
}

/** Creates the record of the calls on one server. */
export function activeCalls(): ActiveCalls {
  const calls = new Set<ActiveCall>();
  const labelled = (during: string | undefined): ActiveCall[] =>
    [...calls].filter(({ what }) => during === undefined || what === during);
  return {
    begin({ method, name }, listener) {
      // The same label as `during` of an input request has.
      const what = `${method} ${JSON.stringify(name.slice(0, 200))}`;
      const call: ActiveCall = { what, ...listener, taskIds: new Set() };
      calls.add(call);
      return () => void calls.delete(call);
    },
    inputRequest(kind, state, during) {
      only(labelled(during))?.onActivity({ type: "input-request", kind, state });
    },
    task(task) {
      const known = [...calls].find(({ taskIds }) => taskIds.has(task.taskId));
      const call = known ?? only([...calls].filter(({ taskIds }) => taskIds.size === 0));
      call?.taskIds.add(task.taskId);
      call?.onActivity({ type: "task", task });
    },
    cancel(during, reason) {
      for (const call of labelled(during)) call.cancel(reason);
    },
  };
}

function only(matching: readonly ActiveCall[]): ActiveCall | undefined {
  return matching.length === 1 ? matching[0] : undefined;
}
