import { digest } from "../../rpc/digest.ts";
import { invalidParams } from "../../rpc/errors.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import type { ServerCore } from "../core/server-core.ts";
import type { Call } from "../core/call.ts";
import type { Context } from "../core/context.ts";
import { storeOf } from "../core/store-of.ts";

const spendings = new WeakMap<Context, Promise<void>>();
const memories = new WeakMap<ServerCore, Store>();

/**
 * Makes the answers of this call usable once. Call it in a handler between its input requests and an effect that must not
 * happen twice, such as a payment.
 *
 * Since 2026-07-28 the client carries the state of a call, so it can send the same answers again. The first call with a state
 * continues, and every other one rejects with -32602, also if the first one failed. Used states are kept in the server's
 * store until they expire, so that all its processes accept a state once. Without a store each process does so for itself.
 * In a session, and before the first answer, there is no state, and the function does nothing. Rejects with
 * `store_unavailable` if the store does not answer.
 *
 * @example
 * ```ts
 * import { spendState, tool } from "mcparley/server";
 * import { z } from "zod";
 *
 * const pay = tool({
 *   description: "Pays 5 EUR.",
 *   call: async (_, ctx) => {
 *     await ctx.elicit({ message: "Pay 5 EUR?", schema: z.object({}) });
 *     await spendState(ctx);
 *     return "Paid.";
 *   },
 * });
 * ```
 */
export function spendState(ctx: Context): Promise<void> {
  const spending = spendings.get(ctx) ?? spend(ctx as Call);
  spendings.set(ctx, spending);
  return spending;
}

async function spend({ core, params, session }: Call): Promise<void> {
  const { requestState } = params;
  if (typeof requestState !== "string" || session) return;
  // Only one text opens as this state, so the digest of the text identifies it.
  const key = `spent-state:${await digest(requestState)}`;
  const store = storeOf(core) ?? memoryOf(core);
  if (await store.compareAndSet(key, undefined, "1", { ttl: core.limits.stateTtl })) return;
  throw invalidParams(
    "params.requestState was used before, and the call may have had its effect. Check that before you send it again without the state.",
  );
}

function memoryOf(core: ServerCore): Store {
  const memory = memories.get(core) ?? memoryStore({ clock: core.clock });
  memories.set(core, memory);
  return memory;
}
