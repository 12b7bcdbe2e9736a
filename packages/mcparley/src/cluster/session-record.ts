import type { InitializeParams } from "../mcp/lifecycle.ts";
import { Method } from "../mcp/methods.ts";
import type { LoggingLevel } from "../mcp/logging.ts";
import type { JsonRpcRequest } from "../rpc/messages.ts";
import type { Session, SessionState } from "../server/protocol/session.ts";

/** A session as the store keeps it: what it takes for any node to serve it. */
export interface SessionRecord {
  /** The key of the principal that it belongs to. */
  owner: string;
  /** What its client said when it opened the session; to take it up is to take this once more. */
  initialize: InitializeParams;
  state: SessionState;
  /** How far the changes of the server had come when it was opened. */
  changes: string | undefined;
}

export function initialRecord(session: Session, owner: string, changes: string | undefined): SessionRecord {
  const { info, capabilities, revision } = session.peer;
  return {
    owner,
    initialize: { protocolVersion: revision, capabilities, clientInfo: info ?? { name: "", version: "" } },
    state: { ready: false, logLevel: session.logLevel, subscriptions: [] },
    changes,
  };
}

export type StateChange = (state: SessionState) => SessionState;

export const madeReady: StateChange = (state) => ({ ...state, ready: true });

/** What a request that went well changed of its session's state; undefined for the many that change none. */
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
