import { ProtocolError } from "../../rpc/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../rpc/messages.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import type { ClientCore } from "../calls/call.ts";
import type { Connection } from "./connection.ts";

/** The number of completed URL visits that are remembered before their call expects them. */
const maxEarly = 100;

/** The visits to URLs whose completion the server announces, by their id (2025-11-25, client/elicitation). */
export class UrlVisits {
  readonly #expected = new Map<unknown, () => void>();
  /** The announcement may arrive before the refusal of the call that needs the visit. */
  readonly #early = new Set<unknown>();

  /** Returns a promise that settles when the server announces that the visit is complete. */
  expect(id: string): Promise<void> {
    if (this.#early.delete(id)) return Promise.resolve();
    return new Promise((resolve) => this.#expected.set(id, resolve));
  }

  cancel(id: string): void {
    this.#expected.delete(id);
  }

  completed({ elicitationId: id }: JsonObject): void {
    const settle = this.#expected.get(id);
    if (settle) return settle();
    this.#early.add(id);
    if (this.#early.size > maxEarly) this.#early.delete(this.#early.values().next().value);
  }
}

/** Answers a request of a legacy server. Modern servers send none. */
export async function answerRequest(
  core: ClientCore,
  { method, params = {} }: JsonRpcRequest,
  { signal, connection }: { signal: AbortSignal; connection: Connection },
): Promise<JsonObject> {
  if (method === Method.ping) return {};
  const [call, ...others] = core.running;
  // A legacy request does not name its call. It is only known if a single call is in flight.
  const during = others.length === 0 ? call?.what : undefined;
  const resume = connection.pauseTimeouts();
  try {
    const answer = await core.inputRequests();
    return await answer(method, params, core.asker(during, signal));
  } catch (error) {
    if (!(error instanceof Declined || error instanceof Cancelled)) throw error;
    // The code that the specification defines for it (2025-11-25, client/sampling, Error Handling).
    throw new ProtocolError(-1, method === Method.createMessage ? "User rejected sampling request" : error.message);
  } finally {
    resume();
  }
}
