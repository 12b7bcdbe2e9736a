import type { CallEnd, ObservedCall, Outcome, Refusal, ServerObserver } from "./observer.ts";

type Who = { issuer: string; subject: string } | undefined;

/** One answered call: who did what, with what outcome. It holds the shape of arguments, never their content. */
export interface CallRecord {
  kind: "call";
  /** Milliseconds since the epoch, when the call arrived. */
  at: number;
  durationMs: number;
  method: string;
  /** The tool, prompt or URI that was named. */
  name: string | undefined;
  principal: Who;
  client: string | undefined;
  revision: string;
  outcome: Outcome;
  /** The JSON-RPC code of an error that was answered. */
  code: number | undefined;
  /** The type of each argument: `{ query: "string", limit: "number" }`. */
  arguments: Readonly<Record<string, string>>;
}

/** One request that was refused before it became a call. */
export interface RefusalRecord {
  kind: "refusal";
  at: number;
  /** The method of the protocol, or the method and path of an HTTP request. */
  what: string;
  principal: Who;
  /** The HTTP status, where it was refused over HTTP. */
  status: number | undefined;
  code: number | undefined;
  reason: string;
}

/** One entry of an audit log. */
export type AuditRecord = CallRecord | RefusalRecord;

/** Called with a record of each call and each refusal, once it has ended. */
export type Audit = (record: AuditRecord) => void;

/** Tells an audit of every call and every refusal, once it is over. */
export function auditing(audit: Audit): ServerObserver {
  return {
    started: (call) => ({ ended: (end) => audit(callRecord(call, end)) }),
    refused: (refusal) => audit(refusalRecord(refusal)),
  };
}

export function callRecord(call: ObservedCall, { outcome, code, durationMs }: CallEnd): CallRecord {
  const { at, method, name, peer, principal } = call;
  return {
    kind: "call",
    at,
    durationMs,
    method,
    name,
    principal: principal && { issuer: principal.issuer, subject: principal.subject },
    client: peer.info && `${peer.info.name}/${peer.info.version}`,
    revision: peer.revision,
    outcome,
    code,
    arguments: call.arguments,
  };
}

function refusalRecord({ principal, ...refusal }: Refusal): RefusalRecord {
  return {
    kind: "refusal",
    ...refusal,
    principal: principal && { issuer: principal.issuer, subject: principal.subject },
  };
}
