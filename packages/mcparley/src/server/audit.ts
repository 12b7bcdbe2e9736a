import { ProtocolError } from "../jsonrpc/errors.ts";
import type { JsonObject, Prepared } from "../jsonrpc/messages.ts";
import type { Call } from "./call.ts";

/** How a call ended. */
export type Outcome = "ok" | "tool_error" | "input_required" | "refused" | "error" | "cancelled";

/** One answered or refused call: who did what, with what outcome. It holds the shape of arguments, never their content. */
export interface AuditRecord {
  /** Milliseconds since the epoch, when the call arrived. */
  at: number;
  durationMs: number;
  method: string;
  /** The tool, prompt or URI that was named. */
  name: string | undefined;
  principal: { issuer: string; subject: string } | undefined;
  client: string | undefined;
  revision: string;
  outcome: Outcome;
  /** The JSON-RPC code of an error that was answered. */
  code: number | undefined;
  /** The type of each argument: `{ query: "string", limit: "number" }`. */
  arguments: Record<string, string>;
}

export type Audit = (record: AuditRecord) => void;

export function auditRecord(
  call: Call,
  at: number,
  now: number,
  outcome: { kind: Outcome; code?: number },
): AuditRecord {
  const { principal, peer, method, params } = call;
  const named = params.name ?? params.uri;
  return {
    at,
    durationMs: now - at,
    method,
    name: typeof named === "string" ? named.slice(0, 500) : undefined,
    principal: principal && { issuer: principal.issuer, subject: principal.subject },
    client: peer.info && `${peer.info.name}/${peer.info.version}`,
    revision: peer.revision,
    outcome: outcome.kind,
    code: outcome.code,
    arguments: shapeOf(params.arguments),
  };
}

export function outcomeOf(result: JsonObject | Prepared): Outcome {
  const { isError, resultType } = result as JsonObject;
  if (isError === true) return "tool_error";
  return resultType === "input_required" ? "input_required" : "ok";
}

export function outcomeOfError(error: unknown): { kind: Outcome; code?: number } {
  if (!(error instanceof ProtocolError)) return { kind: "error" };
  const refused = error.status === 403 || error.status === 429;
  return { kind: refused ? "refused" : "error", code: error.code };
}

function shapeOf(args: unknown): Record<string, string> {
  if (typeof args !== "object" || args === null) return {};
  const entries = Object.entries(args).slice(0, 50);
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(0, 100), typeName(value)]));
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? `array(${value.length})` : typeof value;
}

/** Answers a call and records how it ended, exactly once. */
export async function audited<T extends JsonObject | Prepared>(
  call: Call,
  audit: Audit,
  answer: () => Promise<T>,
): Promise<T> {
  const at = call.core.clock.now();
  const record = (outcome: { kind: Outcome; code?: number }): void => {
    const ended = call.cancelled ? { kind: "cancelled" as const } : outcome;
    audit(auditRecord(call, at, call.core.clock.now(), ended));
  };
  try {
    const result = await answer();
    record({ kind: outcomeOf(result) });
    return result;
  } catch (error) {
    record(outcomeOfError(error));
    throw error;
  }
}
