import { type Linked, link } from "../../rpc/abort.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import type { JsonObject, JsonRpcRequest } from "../../rpc/messages.ts";
import { Cancelled, Declined, ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import type { Call, CallWatcher, ClientCore } from "../calls/call.ts";
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
  const resume = connection.pauseTimeouts();
  const watched = new WatchedCalls(core.running, signal);
  try {
    const answer = await core.inputRequests();
    return await answer(method, params, core.asker(watched.only, watched.signal));
  } catch (error) {
    if (watched.haveEnded && !signal.aborted) return answerOfEnded(method);
    if (!(error instanceof Declined || error instanceof Cancelled)) throw error;
    // The code that the specification defines for it (2025-11-25, client/sampling, Error Handling).
    throw new ProtocolError(-1, method === Method.createMessage ? "User rejected sampling request" : error.message);
  } finally {
    resume();
    watched.unwatch();
  }
}

/** Answers a request whose call was aborted. A server that still waits for the answer must not wait without end. */
function answerOfEnded(method: string): JsonObject {
  if (method === Method.elicit) return { action: "cancel" };
  throw new ProtocolError(ErrorCode.InternalError, "The call that this request belongs to was cancelled.");
}

/**
 * The calls that an input request may belong to: all that were in flight when it arrived, because a legacy request does not
 * name its call. It is aborted when all of them have ended and at least one without an answer. If all were answered, the
 * request belongs to no call.
 */
class WatchedCalls implements CallWatcher {
  /** The call, if only one was in flight. */
  readonly only: string | undefined;
  readonly #left: Set<Call>;
  readonly #linked: Linked;
  #isAborted = false;

  constructor(running: ReadonlySet<Call>, signal: AbortSignal) {
    this.#left = new Set(running);
    this.#linked = link(signal);
    const [call, ...others] = running;
    this.only = others.length === 0 ? call?.what : undefined;
    for (const one of running) (one.inputs ??= new Set()).add(this);
  }

  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /** Whether the request was aborted because its call has ended. */
  get haveEnded(): boolean {
    return this.#isAborted && this.#left.size === 0;
  }

  callEnded(call: Call, isAnswered: boolean): void {
    this.#left.delete(call);
    if (!isAnswered) this.#isAborted = true;
    if (this.haveEnded)
      this.#linked.abort(new LocalError("aborted", `${call.what} has ended, which needed this input.`));
  }

  unwatch(): void {
    this.#linked.unlink();
    for (const call of this.#left) call.inputs?.delete(this);
  }
}
