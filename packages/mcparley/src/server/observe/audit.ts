import type { CallRecord } from "../../mcp/observe.ts";
import type { RejectedRequest, ServerObserver } from "../core/observer.ts";

/** A request that was rejected before it became a call. */
export interface RefusalRecord {
  kind: "refusal";
  /** Milliseconds since the epoch. */
  at: number;
  /** The JSON-RPC method, or the method and path of an HTTP request: `POST /mcp`. */
  what: string;
  /** The verified caller. Undefined if the request had no valid credentials. */
  principal: CallRecord["principal"];
  /** HTTP status. Undefined if the request did not come over HTTP. */
  status: number | undefined;
  /** JSON-RPC code of the response. Undefined if it has none. */
  code: number | undefined;
  /** The reason, as the client received it, with secrets redacted. */
  reason: string;
}

/** One entry of an audit log. */
export type AuditRecord = CallRecord | RefusalRecord;

/**
 * Makes an observer that writes an audit: one record for each finished call and each rejected request.
 *
 * Records contain names as callers sent them. Use `printableJson` to write them to a terminal or a log.
 *
 * @example
 * ```ts
 * import { printableJson } from "mcparley";
 * import { auditTo, createServer } from "mcparley/server";
 *
 * const server = createServer({
 *   name: "bank",
 *   version: "1.0.0",
 *   observers: [auditTo((record) => console.error(printableJson(record)))],
 * });
 * ```
 */
export function auditTo(write: (record: AuditRecord) => void): ServerObserver {
  return {
    started: (call) => ({
      ended({ outcome, code, durationMs }) {
        const { at, method, name, peer } = call;
        write({
          kind: "call",
          at,
          durationMs,
          method,
          name,
          principal: identityOf(call),
          client: peer.info && `${peer.info.name}/${peer.info.version}`,
          revision: peer.revision,
          outcome,
          code,
          arguments: call.arguments,
        });
      },
    }),
    refused: (refusal) => write({ kind: "refusal", ...refusal, principal: identityOf(refusal) }),
  };
}

function identityOf({ principal }: Pick<RejectedRequest, "principal">): CallRecord["principal"] {
  return principal && { issuer: principal.issuer, subject: principal.subject };
}
