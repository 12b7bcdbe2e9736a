import { Notification } from "../../mcp/methods.ts";
import type { ServerCore } from "../core.ts";
import type { Session } from "./session.ts";

/** Maximum number of visits of one session that are not complete. One more displaces the oldest. */
const maxPerSession = 100;

/** The URLs that clients were asked to visit (2025-11-25, client/elicitation), by the ids of the visits. */
export class UrlVisits {
  readonly #sessions = new Map<string, Session>();
  readonly #ids = new Map<Session, Set<string>>();

  /** Notes that the client of a session was asked for a visit. If two sessions use the same id, the later one has it. */
  add(id: string, session: Session): void {
    this.take(id);
    const ids = this.#ids.get(session) ?? new Set();
    this.#ids.set(session, ids);
    const [oldest] = ids;
    if (ids.size >= maxPerSession && oldest !== undefined) this.take(oldest);
    // The last removal may have deleted the set of the session.
    this.#ids.set(session, ids.add(id));
    this.#sessions.set(id, session);
  }

  /** Removes a visit. Returns its session. */
  take(id: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (!session) return undefined;
    this.#sessions.delete(id);
    const ids = this.#ids.get(session);
    ids?.delete(id);
    if (ids?.size === 0) this.#ids.delete(session);
    return session;
  }

  /** Removes the visits of a session that has ended. */
  forget(session: Session): void {
    for (const id of this.#ids.get(session) ?? []) this.#sessions.delete(id);
    this.#ids.delete(session);
  }
}

const visits = new WeakMap<ServerCore, UrlVisits>();

/** Returns the visits that the clients of this process were asked for. */
export function visitsOf(core: ServerCore): UrlVisits {
  let known = visits.get(core);
  if (!known) visits.set(core, (known = new UrlVisits()));
  return known;
}

/** Notifies the client that was asked for a visit that the visit is complete. Returns false if there is no such client. */
export async function completeVisit(core: ServerCore, elicitationId: string): Promise<boolean> {
  const params = { elicitationId };
  const session = visitsOf(core).take(elicitationId);
  if (session) return session.send(Notification.elicitationComplete, params);
  return (await core.changes.relay?.completeVisit?.(elicitationId)) ?? false;
}
