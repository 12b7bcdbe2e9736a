import { onAbort } from "../async/timing.ts";

/** The calls of a run that have no result yet: those in flight, and those that wait for their turn. */
export interface OpenCalls {
  /** Records a call. */
  begin(this: void): OpenCall;
  /** Aborts the calls that were not cancelled before, and returns their number. */
  cancel(this: void): number;
  /** Removes the listener from the signal of the run. */
  close(this: void): void;
}

/** A call of a run, from the answer of the model to its result. */
export interface OpenCall {
  /** Aborted when the user cancels the call, and when the run stops. */
  readonly signal: AbortSignal;
  /** Whether the user has cancelled the call. */
  readonly isCancelled: boolean;
  /** Removes the call. */
  end(this: void): void;
}

/** Returns the record of a run without calls. `stopped` is the signal of the run. */
export function createOpenCalls(stopped: AbortSignal): OpenCalls {
  const open = new Set<OpenCall & { isCancelled: boolean; readonly controller: AbortController }>();
  const close = onAbort(stopped, (reason) => {
    for (const { controller } of open) controller.abort(reason);
  });
  return {
    begin() {
      const controller = new AbortController();
      const call = { controller, signal: controller.signal, isCancelled: false, end: () => void open.delete(call) };
      open.add(call);
      return call;
    },
    cancel() {
      // A call that ignores its cancellation is not counted by a second request of the user.
      const calls = [...open].filter(({ isCancelled }) => !isCancelled);
      for (const call of calls) {
        call.isCancelled = true;
        call.controller.abort(new Error("The user cancelled the call."));
      }
      return calls.length;
    },
    close,
  };
}
