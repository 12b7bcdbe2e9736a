import { link, pause, routineEnd } from "../../rpc/abort.ts";
import { LocalError, type ProtocolError } from "../../rpc/errors.ts";
import { guarded } from "../../rpc/guarded.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Cancelled, Declined } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { maxRequests, awaitUser } from "../calls/call.ts";
import type { Call, ClientCore } from "../core.ts";

/** Maximum number of ids of each kind that are remembered. One more displaces the oldest. */
const maxIds = 100;

/**
 * The visits to URLs whose completion the server announces, by `elicitationId` (2025-11-25, client/elicitation). An
 * announcement has no effect if the server has not requested the visit, or if the visit is complete already.
 */
export class UrlVisits {
  readonly #onComplete: (id: string) => void;
  /** The calls that wait for a visit. */
  readonly #expected = new Map<string, () => void>();
  readonly #requested = new Set<string>();
  /** The ids of announcements that arrived before the request for the visit. */
  readonly #early = new Set<string>();
  readonly #complete = new Set<string>();

  constructor(onComplete: (id: string) => void) {
    this.#onComplete = onComplete;
  }

  /** Called when the server requests a visit. */
  noteRequest(id: string): void {
    if (this.#complete.has(id)) return;
    remember(this.#requested, id);
    if (this.#early.delete(id)) this.#completed(id);
  }

  /** Returns a promise that settles when the server announces that the visit is complete. */
  expect(id: string): Promise<void> {
    this.noteRequest(id);
    if (this.#complete.has(id)) return Promise.resolve();
    return new Promise((resolve) => this.#expected.set(id, resolve));
  }

  /** Called when no call waits for the visit any more. Its completion is still announced to the host. */
  cancel(id: string): void {
    this.#expected.delete(id);
  }

  /** Called when the server announces that a visit is complete. */
  noteAnnouncement(id: unknown): void {
    if (typeof id !== "string" || this.#complete.has(id)) return;
    if (this.#requested.has(id)) this.#completed(id);
    else remember(this.#early, id);
  }

  #completed(id: string): void {
    this.#requested.delete(id);
    remember(this.#complete, id);
    this.#expected.get(id)?.();
    this.#onComplete(id);
  }
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > maxIds && oldest !== undefined) ids.delete(oldest);
}

const visitsOfClients = new WeakMap<ClientCore, UrlVisits>();

/** Returns the visits that the server of a client has requested. */
export function visitsOf(core: ClientCore): UrlVisits {
  let visits = visitsOfClients.get(core);
  if (!visits) {
    visits = new UrlVisits((id) => guarded(() => core.options.onElicitationComplete?.(id), core.report));
    visitsOfClients.set(core, visits);
  }
  return visits;
}

/**
 * Sends the user to the URLs that a call needs, one after another, and waits until the server announces that all visits are
 * complete, for as long as the call has time (2025-11-25, client/elicitation).
 */
export async function visitUrls(call: Call, refusal: ProtocolError): Promise<void> {
  const { core, what } = call;
  const requests = readVisits(refusal);
  const { answer } = await core.input();
  const scope = link(call.options.signal, core.closing);
  // Expected before the user is asked, since a visit may be complete before the last answer.
  const urlVisits = visitsOf(core);
  const visits = Promise.all(requests.map(({ elicitationId }) => urlVisits.expect(elicitationId)));
  try {
    for (const params of requests) {
      const answering = answer(Method.elicit, { ...params }, core.inputSource(what, scope.signal));
      const { action } = await awaitUser(call, answering);
      if (action === "decline") throw new Declined();
      if (action === "cancel") throw new Cancelled();
    }
    const timeLeft = Math.max(0, call.endsAt - core.clock.now());
    const isDone = await Promise.race([
      visits.then(() => true),
      pause(core.clock, timeLeft, scope.signal).then(() => false),
    ]);
    if (!isDone) throw new LocalError("timeout", `${what}: the server did not announce that the visit is complete.`);
  } finally {
    scope.abort(routineEnd);
    scope.unlink();
    for (const { elicitationId } of requests) urlVisits.cancel(elicitationId);
  }
}

type Visit = JsonObject & { elicitationId: string };

function readVisits(refusal: ProtocolError): readonly Visit[] {
  const requests: unknown = isObject(refusal.data) ? refusal.data.elicitations : undefined;
  if (Array.isArray(requests) && requests.length > 0 && requests.length <= maxRequests && requests.every(isVisit))
    return requests;
  throw refusal;
}

function isVisit(visit: unknown): visit is Visit {
  return isObject(visit) && visit.mode === "url" && typeof visit.elicitationId === "string";
}
