import type { JsonObject } from "../../rpc/messages.ts";
import type { Session } from "../connect/session.ts";
import type * as AfterFailure from "./after-failure.ts";
import { type Call, type Next, sessionFor } from "./call.ts";

/** Sends a call again after a failure that can be repaired. In all these cases the server has not run the call. */
export async function repair(call: Call, next: Next): Promise<JsonObject> {
  const repaired = new Set<string>();
  for (;;) {
    // In a later round of input requests the server has run a part of the call.
    call.isSent = call.answers !== undefined;
    call.session = await openFor(call);
    try {
      return await next.step(call, next.next);
    } catch (error) {
      const failure = await loadAfterFailure();
      // The next step may have opened another session.
      const possible = failure?.repairOf(call, call.session, error);
      if (!possible || repaired.has(possible.kind)) {
        possible?.giveUp?.();
        throw failure?.explain(call, error) ?? error;
      }
      repaired.add(possible.kind);
      await possible.run();
    }
  }
}

/** Returns the session of a call. An error has `safeToRepeat`. */
export async function openFor(call: Call): Promise<Session> {
  try {
    return await sessionFor(call);
  } catch (error) {
    throw (await loadAfterFailure())?.explain(call, error) ?? error;
  }
}

/** Loads the code that most calls do not need. Undefined if it cannot be loaded, for example because the network is down. */
function loadAfterFailure(): Promise<typeof AfterFailure | undefined> {
  return import("./after-failure.ts").catch(() => undefined);
}
