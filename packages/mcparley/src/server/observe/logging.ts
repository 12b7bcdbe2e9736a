import { redact } from "../../rpc/redact.ts";
import type { CallEnd, ObservedCall, ServerObserver } from "./observer.ts";
import type { StructuredLogger } from "./structured-logger.ts";

const maxCauses = 5;

/**
 * Logs each call (info; warn where it was refused), each refusal (warn), each session that is over (info), and each
 * error that is hidden from clients (error). A line names its request by the id, and by the trace that it belongs to.
 */
export function logging(logger: StructuredLogger): ServerObserver {
  return {
    started: (call) => ({
      ended: (end) => logger[end.outcome === "refused" ? "warn" : "info"](callFields(call, end), "call"),
    }),
    refused: ({ what, status, code, reason, principal }) =>
      logger.warn({ what, status, code, reason, issuer: principal?.issuer, subject: principal?.subject }, "refused"),
    sessionEnded: (end) => logger.info(end, "session ended"),
    failed: (error, call) =>
      logger.error({ method: call?.method, requestId: call?.id, err: errorFields(error) }, "error"),
  };
}

function callFields(call: ObservedCall, { outcome, durationMs, code, message }: CallEnd): object {
  const { id, method, name, peer, principal, meta } = call;
  return {
    method: method.slice(0, 200),
    name: name === undefined ? undefined : redact(name),
    outcome,
    durationMs,
    code,
    error: message === undefined ? undefined : redact(message),
    requestId: id,
    traceId: traceIdOf(meta.traceparent),
    client: peer.info && `${peer.info.name}/${peer.info.version}`,
    revision: peer.revision,
    issuer: principal?.issuer,
    subject: principal?.subject,
  };
}

/** The trace that a W3C `traceparent` names. */
function traceIdOf(traceparent: unknown): string | undefined {
  return typeof traceparent === "string" ? /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent)?.[1] : undefined;
}

/** An error with its causes, as plain fields: whatever the logger does with errors, secrets are out of these. */
function errorFields(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { message: redact(String(error)) };
  const { name, message, stack, cause } = error;
  const fields = { type: name, message: redact(message), stack: stack === undefined ? undefined : redact(stack) };
  return cause === undefined || depth >= maxCauses ? fields : { ...fields, cause: errorFields(cause, depth + 1) };
}
