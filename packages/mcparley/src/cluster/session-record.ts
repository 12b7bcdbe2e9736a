import type { InitializeParams } from "../mcp/capabilities.ts";
import { readLoggingLevel } from "../mcp/logging.ts";
import { Method } from "../mcp/methods.ts";
import type { JsonRpcRequest } from "../rpc/messages.ts";
import type { Session, SessionState } from "../server/protocol/session.ts";

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
}

/** Returns the record of a session that is not initialized yet. */
export function initialRecord(session: Session, more: Omit<SessionRecord, "initialize" | "state">): SessionRecord {
  const { info, capabilities, revision } = session.peer;
  return {
    ...more,
    initialize: { protocolVersion: revision, capabilities, clientInfo: info ?? { name: "", version: "" } },
    state: { ready: false, logLevel: session.logLevel ?? "info", subscriptions: [] },
  };
}

/** Parses a record. Only nodes of the server write records, so they are not checked. */
export function parseRecord(text: string): SessionRecord {
  return JSON.parse(text) as SessionRecord;
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
    return (state) => ({ ...state, subscriptions: state.subscriptions.filter((other) => other !== uri) });
  }
  return undefined;
}
