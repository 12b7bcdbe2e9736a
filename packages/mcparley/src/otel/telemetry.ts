import {
  type Link,
  type MeterProvider,
  SpanKind,
  type TracerProvider,
  context as active,
  trace,
} from "@opentelemetry/api";
import { Method } from "../mcp/methods.ts";
import type { CallRun, ObservedCall, ServerObserver } from "../server/observe/observer.ts";
import { type Operation, endAttributes, operationAttributes, otherMethod, spanName } from "./attributes.ts";
import { endSpan, uriOf } from "./operation-span.ts";
import { durations } from "./operation-metrics.ts";
import { contextOf } from "./trace-context.ts";

export interface ServerTelemetryOptions {
  /** What makes the spans. The global provider unless given. */
  tracerProvider?: TracerProvider;
  /** What makes the metrics. The global provider unless given. */
  meterProvider?: MeterProvider;
  /** Takes the client's `baggage` over into the handler's context. False unless given: it is whatever the client says. */
  baggage?: boolean;
}

/**
 * Makes an observer that traces and measures what a server answers, by OpenTelemetry's conventions for MCP: a span of
 * kind SERVER for each call, and the histograms `mcp.server.operation.duration` and `mcp.server.session.duration`.
 *
 * A span's parent is what the request's `_meta` names, and it is linked to the span that is active where it arrives,
 * such as that of the HTTP request; without trace context in `_meta`, that one is the parent. Handlers run within the
 * span. Arguments, results, session ids and URIs are in no span and no metric but `mcp.resource.uri` of a span, and
 * what a client makes up becomes no name. The providers have to be set up before.
 */
export function serverTelemetry(options: ServerTelemetryOptions = {}): ServerObserver {
  const { tracerProvider = trace.getTracerProvider(), meterProvider, baggage = false } = options;
  const tracer = tracerProvider.getTracer("mcparley");
  const operation = durations("mcp.server.operation.duration", "Time to answer a request.", meterProvider);
  const session = durations("mcp.server.session.duration", "Time that a session lasted.", meterProvider);

  function begin(call: ObservedCall): CallRun {
    const of = operationOf(call);
    const remote = contextOf(call.meta, baggage);
    const ambient = trace.getSpanContext(active.active());
    const links: Link[] = remote && ambient ? [{ context: ambient }] : [];
    const attributes = { ...operationAttributes(of), "jsonrpc.request.id": String(call.id), ...uriOf(call) };
    const parent = remote ?? active.active();
    const span = tracer.startSpan(spanName(of), { kind: SpanKind.SERVER, attributes, links }, parent);
    const inside = trace.setSpan(parent, span);
    return {
      within: (answer) => active.with(inside, answer),
      ended(end) {
        endSpan(span, end);
        operation(end.durationMs, { ...operationAttributes(of), ...endAttributes(end) });
      },
    };
  }

  return {
    started: begin,
    sessionEnded: ({ durationMs, revision }) => session(durationMs, { "mcp.protocol.version": revision }),
  };
}

function operationOf({ method, name, known, peer, network }: ObservedCall): Operation {
  const hasTarget = known && (method === Method.callTool || method === Method.getPrompt);
  const isMethod = known || method === Method.callTool || method === Method.getPrompt;
  return {
    method: isMethod ? method : otherMethod,
    target: hasTarget ? name : undefined,
    revision: peer.revision,
    network,
  };
}
