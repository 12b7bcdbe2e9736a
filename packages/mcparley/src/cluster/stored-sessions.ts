import { principalKey } from "../server/core/context.ts";
import { displacedError } from "../http/server/sessions/session-shares.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { SessionSeats, type SeatsInit } from "./session-seats.ts";
import type { SharedChanges } from "./shared-changes.ts";
import type { SharedSession } from "./shared-session.ts";
import type { InitializeParams } from "../mcp/capabilities.ts";
import { readLoggingLevel } from "../mcp/logging.ts";
import { Method } from "../mcp/methods.ts";
import type { JsonRpcRequest } from "../rpc/messages.ts";
import type { SessionState } from "../server/protocol/session.ts";

/** Milliseconds by which a seat outlives the session's record, because the seat is written first. */
const seatMargin = 1_000;

interface StoredSessionsInit {
  node: ClusterNode;
  changes: SharedChanges;
  /** Maximum number of sessions in all processes. */
  max: number;
  /** Milliseconds after which an idle session expires. */
  idle: number;
  /** Milliseconds between two renewals of a session in use. */
  interval: number;
  useOf: SeatsInit["useOf"];
  /** Ends the copy of this process, if there is one, because its session has ended. */
  endCopy: (id: string, cause?: Error) => void;
}

/**
 * The sessions of all processes in the store: a record and a seat for each.
 *
 * A session exists if its record exists. The store deletes the record after the idle timeout, so a session in use is renewed
 * several times per timeout. The methods also update the caller's copy.
 */
export class StoredSessions {
  readonly #init: StoredSessionsInit;
  /** Counts the sessions of all processes. */
  readonly #seats: SessionSeats;

  constructor(init: StoredSessionsInit) {
    this.#init = init;
    const { node, max, interval, useOf } = init;
    const { store, core } = node;
    this.#seats = new SessionSeats({ store, clock: core.clock, node: node.id, max, interval, useOf });
  }

  /** Reads the record of a session. Undefined if the session does not exist or has expired. */
  read(id: string): Promise<string | undefined> {
    return this.#init.node.store.get(sessionKey(id));
  }

  /**
   * Stores a new session, which expires after `handshake` milliseconds. Its first renewal extends that, so an unused session
   * ends even if its process dies. Returns false if there is no seat for it.
   */
  async create(copy: SharedSession, handshake: number): Promise<boolean> {
    const { node, idle } = this.#init;
    const ttl = Math.min(handshake, idle);
    if (!(await this.#seats.take(copy, ttl + seatMargin, (id) => this.delete(id, displacedError)))) return false;
    copy.openedAt = this.#init.changes.position;
    const { session, openedAt: changes, seat, startedAt: since } = copy;
    const { info, capabilities, revision } = session.peer;
    const record: SessionRecord = {
      owner: principalKey(session.principal),
      changes,
      seat,
      since,
      initialize: { protocolVersion: revision, capabilities, clientInfo: info ?? { name: "", version: "" } },
      state: { ready: false, logLevel: session.logLevel ?? "info", subscriptions: [] },
    };
    const text = JSON.stringify(record);
    await node.store.set(sessionKey(copy.id), text, { ttl });
    copy.record = text;
    copy.renewedAt = node.core.clock.now();
    return true;
  }

  /** Changes the state of a session, and notifies the other nodes. Does nothing if the session has ended. */
  async update(copy: SharedSession, change: StateChange): Promise<void> {
    const { node, changes, idle } = this.#init;
    const key = sessionKey(copy.id);
    for (;;) {
      const text = await node.store.get(key);
      if (text === undefined) return;
      const record = parseRecord(text);
      const state = change(record.state);
      // Another process may have subscribed as well, so the copy's own check is not enough.
      try {
        copy.session.checkSubscriptions(state.subscriptions);
      } catch (error) {
        copy.session.restore(record.state);
        throw error;
      }
      const newText = JSON.stringify({ ...record, state });
      if (!(await node.store.compareAndSet(key, text, newText, { ttl: idle }))) continue;
      copy.apply(newText, state);
      // Other nodes need not know this one at once, and it would displace changes in their log.
      if (change === markReady) return;
      // Before the reply, so that the owner of the stream knows the new state before any later change.
      return changes.sendSessionChange(copy.id);
    }
  }

  /** Reads the state of a session again, because another node has changed it. */
  async refresh(copy: SharedSession): Promise<void> {
    const text = await this.read(copy.id);
    if (text !== undefined && text !== copy.record) copy.apply(text, parseRecord(text).state);
  }

  /** Restarts the idle timeout of a session. Ends the copy if the session has ended. Never rejects. */
  async renew(copy: SharedSession): Promise<void> {
    const { node, idle, endCopy } = this.#init;
    const { core, store } = node;
    const previousRenewal = copy.renewedAt;
    copy.renewedAt = core.clock.now();
    try {
      const key = sessionKey(copy.id);
      for (;;) {
        const text = await store.get(key);
        if (text === undefined) return endCopy(copy.id);
        if (await store.compareAndSet(key, text, text, { ttl: idle })) break;
      }
      await this.renewSeat(copy);
      copy.delivery.save();
    } catch (error) {
      copy.renewedAt = previousRenewal;
      node.report(error);
    }
  }

  /** Renews the seat of a session. Ends the session if another one has taken its seat. Never rejects. */
  async renewSeat(copy: SharedSession): Promise<void> {
    const { node, idle, interval } = this.#init;
    try {
      // The record can be extended between two renewals of its seat, by a change of its state.
      if (!(await this.#seats.renew(copy, idle + 2 * interval))) await this.delete(copy.id, displacedError);
    } catch (error) {
      node.report(error);
    }
  }

  async freeSeat(copy: SharedSession): Promise<void> {
    await this.#seats.free(copy);
  }

  /** Deletes a session, and ends its copies on all nodes. */
  async delete(id: string, cause: Error): Promise<void> {
    const { node, endCopy } = this.#init;
    await node.store.delete(sessionKey(id));
    endCopy(id, cause);
    await node.broadcast({ about: "ended", session: id });
  }

  /** Notes that the end of a session is reported here. Returns false if another node reports it. */
  claimEnd(id: string): Promise<boolean> {
    const { node, interval } = this.#init;
    // Other copies notice the end at their next renewal at the latest.
    return node.store.compareAndSet(`session-end:${id}`, undefined, node.id, { ttl: 2 * interval });
  }

  /** Deletes a session unless another node has changed it. Returns false if it has. */
  deleteUnchanged(copy: SharedSession): Promise<boolean> {
    return this.#init.node.store.compareAndSet(sessionKey(copy.id), copy.record, undefined, { ttl: 1 });
  }
}

/** Returns the key of the record of a session. */
export function sessionKey(id: string): string {
  return `session:${id}`;
}

/** A session in the store. Any node can restore the session from it. */
export interface SessionRecord {
  /** The key of the principal that the session belongs to. */
  owner: string;
  /** The params of the client's `initialize`. A node that restores the session processes them again. */
  initialize: InitializeParams;
  state: SessionState;
  /** Position of the last change when the session was opened, in the server's change log. */
  changes: string | undefined;
  /** The number of its seat; see `SessionSeats`. */
  seat: number;
  /** Time at which the session was opened, in milliseconds since the epoch. Missing in records of older versions. */
  since?: number;
}

/** Parses a record. Only nodes of the server write records, so they are not checked. */
export function parseRecord(text: string): SessionRecord {
  return JSON.parse(text);
}

export type StateChange = (state: SessionState) => SessionState;

/** The change of state by `notifications/initialized`. */
export const markReady: StateChange = (state) => ({ ...state, ready: true });

/** Returns how a successful request changes the state of its session. Undefined for a request that does not. */
export function changeBy({ method, params = {} }: JsonRpcRequest): StateChange | undefined {
  if (method === Method.setLevel) {
    const logLevel = readLoggingLevel(params.level, "params.level");
    return (state) => ({ ...state, logLevel });
  }
  const uri = String(params.uri);
  if (method === Method.subscribe) {
    return (state) => ({ ...state, subscriptions: [...new Set([...state.subscriptions, uri])] });
  }
  if (method === Method.unsubscribe) {
    return (state) => ({ ...state, subscriptions: state.subscriptions.filter((subscription) => subscription !== uri) });
  }
  return undefined;
}
