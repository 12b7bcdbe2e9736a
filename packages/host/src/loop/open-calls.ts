/** The calls of a run that have no result yet: those in flight, and those that wait for their turn. */
export interface OpenCalls {
  /** Records a call. */
  begin(this: void): OpenCall;
  /** Aborts the calls that were not cancelled before, and returns their number. */
  cancel(this: void): number;
}

/** A call of a run, from the answer of the model to its result. */
interface OpenCall {
  /** Aborted when the user cancels the call. */
  readonly cancelled: AbortSignal;
  /** Removes the call. */
  end(this: void): void;
}

/** Returns the record of a run without calls. */
export function createOpenCalls(): OpenCalls {
  const open = new Set<AbortController>();
  return {
    begin() {
      const controller = new AbortController();
      open.add(controller);
      return { cancelled: controller.signal, end: () => void open.delete(controller) };
    },
    cancel() {
      const left = [...open];
      // Removed at once, so that a second request of the user does not count a call that ignores its cancellation.
      open.clear();
      for (const controller of left) controller.abort(new Error("The user cancelled the call."));
      return left.length;
    },
  };
}
