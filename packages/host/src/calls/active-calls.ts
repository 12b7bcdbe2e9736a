import type { Task } from "mcparley/tasks";
import type { CallActivity, InputKind } from "../events.ts";

/** A tool call that a server is running. */
interface ActiveCall {
  readonly what: string;
  readonly onActivity: (activity: CallActivity) => void;
  readonly taskIds: Set<string>;
}

/**
 * The calls in flight on one server. It finds the call that an input request or a task belongs to: legacy revisions do not name
 * it, and the client names only the tool.
 */
export interface ActiveCalls {
  /** Records a call of a tool. The returned function removes it. */
  begin(this: void, tool: string, onActivity: (activity: CallActivity) => void): () => void;
  /** Reports an input request to the call that caused it, if that is certain. */
  inputRequest(
    this: void,
    kind: InputKind,
    state: "waiting" | "answered" | "declined",
    during: string | undefined,
  ): void;
  /** Reports a task to the call that created it. */
  task(this: void, task: Task): void;
}

/** Creates the record of the calls on one server. */
export function activeCalls(): ActiveCalls {
  const calls = new Set<ActiveCall>();
  const only = (matching: readonly ActiveCall[]): ActiveCall | undefined =>
    matching.length === 1 ? matching[0] : undefined;
  return {
    begin(tool, onActivity) {
      const call: ActiveCall = { what: `tools/call ${JSON.stringify(tool)}`, onActivity, taskIds: new Set() };
      calls.add(call);
      return () => void calls.delete(call);
    },
    inputRequest(kind, state, during) {
      const matching = [...calls].filter(({ what }) => during === undefined || what === during);
      only(matching)?.onActivity({ type: "input-request", kind, state });
    },
    task(task) {
      const known = [...calls].find(({ taskIds }) => taskIds.has(task.taskId));
      const call = known ?? only([...calls].filter(({ taskIds }) => taskIds.size === 0));
      call?.taskIds.add(task.taskId);
      call?.onActivity({ type: "task", task });
    },
  };
}
