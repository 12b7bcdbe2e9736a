import { type Context, ROOT_CONTEXT, propagation, trace } from "@opentelemetry/api";
import type { JsonObject } from "../rpc/messages.ts";

const traceKeys = ["traceparent", "tracestate"];

/**
 * The context that a request's `_meta` carries (2026-07-28, basic, "OpenTelemetry trace context"); undefined where it
 * carries none that can be read.
 */
export function contextOf(meta: Readonly<Record<string, unknown>>, withBaggage: boolean): Context | undefined {
  const keys = withBaggage ? [...traceKeys, "baggage"] : traceKeys;
  const carrier: Record<string, string> = {};
  for (const key of keys) if (typeof meta[key] === "string") carrier[key] = meta[key];
  if (carrier.traceparent === undefined) return undefined;
  const context = propagation.extract(ROOT_CONTEXT, carrier);
  return trace.getSpanContext(context) ? context : undefined;
}

/** The `_meta` that carries a context, as the propagators that are set up write it. */
export function metaOf(context: Context, withBaggage: boolean): JsonObject {
  const carrier: Record<string, string> = {};
  propagation.inject(context, carrier);
  if (!withBaggage) delete carrier.baggage;
  return carrier;
}
