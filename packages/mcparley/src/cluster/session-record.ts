import type { InitializeParams } from "../mcp/capabilities.ts";
import { Method } from "../mcp/methods.ts";
import type { LoggingLevel } from "../mcp/logging.ts";
import type { JsonRpcRequest } from "../rpc/messages.ts";
import type { Session, SessionState } from "../server/protocol/session.ts";

/** A session as the store keeps it. Any node can restore the session from it. */
export interface SessionRecord {
  /** The key of the principal that it belongs to. */
  owner: string;
  /** The params of the client's `initialize`. A node that restores the session processes them again. */
  initialize: InitializeParams;
  state: SessionState;
  /** Position of the last change when the session was opened. */
  changes: string | undefined;
  /** The number of its seat; see `SessionSeats`. */
  seat: number;
}

export function initialRecord(session: Session, more: Omit<SessionRecord, "initialize" | "state">): SessionRecord {
  const { info, capabilities, revision } = session.peer;
  return {
    ...more,
    initialize: { protocolVersion: revision, capabilities, clientInfo: info ?? { name: "", version: "" } },
    state: { ready: false, logLevel: session.logLevel, subscriptions: [] },
  };
}

export type StateChange = (state: SessionState) => SessionState;

export const madeReady: StateChange = (state) => ({ ...state, ready: true });

/** Returns how a successful request changes the state of its session. Undefined for a request that does not. */
export function changeBy({ method, params = {} }: JsonRpcRequest): StateChange | undefined {
  const { level, uri } = params as { level: LoggingLevel; uri: string };
  switch (method) {
    case Method.setLevel:
      return (state) => ({ ...state, logLevel: level });
    case Method.subscribe:
      return (state) => ({ ...state, subscriptions: [...new Set([...state.subscriptions, uri])] });
    case Method.unsubscribe:
      return (state) => ({ ...state, subscriptions: state.subscriptions.filter((other) => other !== uri) });
    default:
      return undefined;
  }
}
