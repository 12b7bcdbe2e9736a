import {
  type Attributes,
  type Context,
  type Meter,
  type MeterProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  context as active,
  metrics,
  propagation,
  trace,
} from "@opentelemetry/api";
import type { JsonObject } from "../rpc/messages.ts";
import { redact } from "../rpc/redact.ts";
import { Method } from "../mcp/methods.ts";
import type { CallEnd, CallRun } from "../mcp/observe.ts";
import type { ClientCall, ClientObserver } from "../client/options.ts";
import type { ServerCall, ServerObserver } from "../server/core/observer.ts";

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** Makes the spans. Default: the global provider. */
  tracerProvider?: TracerProvider;
  /** Makes the metrics. Default: the global provider. */
  meterProvider?: MeterProvider;
  /**
   * On a client: sends the active `baggage`. On a server: puts the client's `baggage` into the handler's context. Default:
   * false, because the other side may belong to someone else.
   */
  baggage?: boolean;
}

/**
 * Makes an observer that traces and measures calls, for clients and servers, by OpenTelemetry's semantic conventions for
 * MCP. Set up the providers before.
 *
 * A call has a span of kind CLIENT or SERVER, and is recorded in the histogram `mcp.client.operation.duration` or
 * `mcp.server.operation.duration`. Sessions of a server are recorded in `mcp.server.session.duration`.
 *
 * The client sends its trace context in `_meta`; the server's span becomes a child of the client's span, and handlers run
 * inside it. The span that is active when a request arrives, such as the one of the HTTP request, is linked; it is the
 * parent if `_meta` has no trace context. No span and no metric contains arguments, results or session ids.
 *
 * @example
 * ```ts
 * import { connect } from "mcparley/client";
 * import { telemetry } from "mcparley/otel";
 * import { createServer } from "mcparley/server";
 *
 * const server = createServer({ name: "hello", version: "1.0.0", observers: [telemetry()] });
 * const client = await connect("https://example.com/mcp", { observers: [telemetry()] });
 * ```
 */
export function telemetry(options: TelemetryOptions = {}): ServerObserver & ClientObserver {
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider(), baggage } = options;
  const tracer = tracerProvider.getTracer("mcparley");
  const meter = meterProvider.getMeter("mcparley");
  const durations = {
    client: histogram(meter, "mcp.client.operation.duration", "Duration of MCP requests, measured by the client."),
    server: histogram(meter, "mcp.server.operation.duration", "Duration of MCP requests, measured by the server."),
    session: histogram(meter, "mcp.server.session.duration", "Duration of MCP sessions, measured by the server."),
  };

  function startSpan(call: ClientCall | ServerCall): CallRun {
    const { spanName, attributes: common } = operationOf(call);
    const ambient = active.active();
    const remote = call.side === "server" ? contextOf(call.meta, baggage) : undefined;
    const link = remote && trace.getSpanContext(ambient);
    const parent = remote ?? ambient;
    const span = tracer.startSpan(
      spanName,
      {
        kind: call.side === "client" ? SpanKind.CLIENT : SpanKind.SERVER,
        attributes: { ...common, ...spanAttributes(call) },
        links: link ? [{ context: link }] : [],
      },
      parent,
    );
    const spanContext = trace.setSpan(parent, span);
    const record = durations[call.side];
    return {
      ...(call.side === "client" && { meta: metaOf(spanContext, baggage) }),
      within: (run) => active.with(spanContext, run),
      ended({ outcome, code, message, durationMs }) {
        const end = endAttributes({ outcome, code });
        span.setAttributes(end);
        if (isFailure(outcome)) {
          const status = { code: SpanStatusCode.ERROR };
          span.setStatus(message === undefined ? status : { ...status, message: redact(message) });
        }
        span.end();
        record(durationMs, { ...common, ...end });
      },
    };
  }

  return {
    started: startSpan,
    sessionEnded: ({ durationMs, revision }) => durations.session(durationMs, { "mcp.protocol.version": revision }),
  };
}

interface Operation {
  spanName: string;
  /** The attributes that the call's span and metrics share. */
  attributes: Attributes;
}

/**
 * Returns the name of a call's span, and the attributes that its span and metrics share, by OpenTelemetry's semantic
 * conventions for MCP.
 *
 * A method, tool or prompt that a client invented is left out, because there could be any number of such names.
 */
function operationOf(call: ClientCall | ServerCall): Operation {
  const { network } = call;
  const isKnown = call.side === "client" || call.known;
  const namesTarget = call.method === Method.callTool || call.method === Method.getPrompt;
  const method = isKnown || namesTarget ? call.method : "_OTHER";
  const target = isKnown && namesTarget ? call.name : undefined;
  const attributes: Attributes = { "mcp.method.name": method, "mcp.protocol.version": call.revision };
  if (method === Method.callTool) attributes["gen_ai.operation.name"] = "execute_tool";
  if (target !== undefined) attributes[method === Method.callTool ? "gen_ai.tool.name" : "gen_ai.prompt.name"] = target;
  if (network !== undefined) attributes["network.transport"] = network;
  if (network === "tcp") attributes["network.protocol.name"] = "http";
  if (network === "tcp" && call.side === "client") Object.assign(attributes, addressOf(call.target));
  return { spanName: target === undefined ? method : `${method} ${target}`, attributes };
}

function addressOf(target: string): Attributes {
  if (!URL.canParse(target)) return {};
  const { hostname, port, protocol } = new URL(target);
  return { "server.address": hostname, "server.port": Number(port) || (protocol === "https:" ? 443 : 80) };
}

/** Returns the attributes of a call's span alone: they can have any number of values. */
function spanAttributes(call: ClientCall | ServerCall): Attributes {
  const attributes: Attributes = call.side === "server" ? { "jsonrpc.request.id": String(call.id) } : {};
  const { method, name } = call;
  if (method.startsWith("resources/") && name !== undefined) attributes["mcp.resource.uri"] = redact(name);
  return attributes;
}

/** Returns the attributes of a call's outcome, for its span and its metrics. */
function endAttributes({ outcome, code }: Pick<CallEnd, "outcome" | "code">): Attributes {
  const attributes: Attributes = { "mcparley.outcome": outcome };
  if (typeof code === "number") attributes["rpc.response.status_code"] = String(code);
  if (isFailure(outcome)) attributes["error.type"] = code === undefined ? outcome : String(code);
  return attributes;
}

/** Whether the span of a call with this outcome has the status ERROR. */
function isFailure(outcome: CallEnd["outcome"]): boolean {
  return outcome !== "ok" && outcome !== "input_required";
}

/** Upper limits of the histograms' buckets in seconds, as the conventions advise. */
const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Returns a function that records durations in a histogram. */
function histogram(
  meter: Meter,
  name: string,
  description: string,
): (milliseconds: number, attributes: Attributes) => void {
  const advice = { explicitBucketBoundaries: boundaries };
  const histogram = meter.createHistogram(name, { description, unit: "s", advice });
  return (milliseconds, attributes) => histogram.record(milliseconds / 1000, attributes);
}

/**
 * Returns the context that a request's `_meta` carries (2026-07-28, basic, "OpenTelemetry trace context"), or undefined
 * if it carries no valid one.
 */
function contextOf(meta: Readonly<Record<string, unknown>>, withBaggage = false): Context | undefined {
  const keys = ["traceparent", "tracestate", ...(withBaggage ? ["baggage"] : [])];
  const carrier: Record<string, string> = {};
  for (const key of keys) if (typeof meta[key] === "string") carrier[key] = meta[key];
  if (carrier.traceparent === undefined) return undefined;
  const context = propagation.extract(ROOT_CONTEXT, carrier);
  return trace.getSpanContext(context) ? context : undefined;
}

/** Returns the `_meta` that carries a context, as the configured propagators write it. */
function metaOf(context: Context, withBaggage = false): JsonObject {
  const carrier: Record<string, string> = {};
  // Propagators write baggage under different names, so it is removed from the context.
  propagation.inject(withBaggage ? context : propagation.deleteBaggage(context), carrier);
  return carrier;
}
