import {
  type Attributes,
  type MeterProvider,
  SpanKind,
  type TracerProvider,
  context as active,
  trace,
} from "@opentelemetry/api";
import { Method } from "../mcp/methods.ts";
import type { ClientObserver, ObservedRequest, RequestRun } from "../client/observer.ts";
import { type Operation, endAttributes, operationAttributes, spanName } from "./attributes.ts";
import { endSpan, uriOf } from "./operation-span.ts";
import { durations } from "./operation-metrics.ts";
import { metaOf } from "./trace-context.ts";

/** Options of `clientTelemetry`. */
export interface ClientTelemetryOptions {
  /** What makes the spans. The global provider unless given. */
  tracerProvider?: TracerProvider;
  /** What makes the metrics. The global provider unless given. */
  meterProvider?: MeterProvider;
  /** Sends the active `baggage` along. False unless given: a server may belong to somebody else. */
  baggage?: boolean;
}

/**
 * Makes an observer that traces and measures the calls of a client, by OpenTelemetry's conventions for MCP: a span of
 * kind CLIENT for each call, through all its rounds and repeats, and the histogram `mcp.client.operation.duration`.
 *
 * The trace context goes along in `_meta`, so that a server's span becomes a child of the client's. Arguments and
 * results are in no span. What is answered from the cache is no call. The providers have to be set up before.
 */
export function clientTelemetry(options: ClientTelemetryOptions = {}): ClientObserver {
  const { tracerProvider = trace.getTracerProvider(), meterProvider, baggage = false } = options;
  const tracer = tracerProvider.getTracer("mcparley");
  const operation = durations("mcp.client.operation.duration", "Time to a request's answer.", meterProvider);

  function begin(request: ObservedRequest): RequestRun {
    const of = operationOf(request);
    const common = { ...operationAttributes(of), ...addressOf(request) };
    const parent = active.active();
    const span = tracer.startSpan(
      spanName(of),
      { kind: SpanKind.CLIENT, attributes: { ...common, ...uriOf(request) } },
      parent,
    );
    const inside = trace.setSpan(parent, span);
    return {
      meta: metaOf(inside, baggage),
      within: (send) => active.with(inside, send),
      ended(end) {
        endSpan(span, end);
        operation(end.durationMs, { ...common, ...endAttributes(end) });
      },
    };
  }

  return { started: begin };
}

function operationOf({ method, name, revision, network }: ObservedRequest): Operation {
  const hasTarget = method === Method.callTool || method === Method.getPrompt;
  return { method, target: hasTarget ? name : undefined, revision, network };
}

function addressOf({ target, network }: ObservedRequest): Attributes {
  if (network !== "tcp" || !URL.canParse(target)) return {};
  const { hostname, port, protocol } = new URL(target);
  return { "server.address": hostname, "server.port": Number(port) || (protocol === "https:" ? 443 : 80) };
}
